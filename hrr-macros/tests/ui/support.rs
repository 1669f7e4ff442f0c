// The types that the cases declare functions with.
#![allow(dead_code, non_camel_case_types, non_upper_case_globals, unused_imports)]

pub use core::ffi::{c_char, c_int, c_uint, c_void};
pub use hrr_macros::{Payload, api};

hrr_runtime::handle! {
    pub struct hipStream_t;
    pub struct hipEvent_t;
    pub struct hipGraph_t;
    pub struct hipGraphExec_t;
    pub struct hipFunction_t;
    pub struct hipModule_t;
}
hrr_runtime::c_enum! {
    pub enum hipError_t: u32 { OK = 0, }
    pub enum hipMemcpyKind: c_int { DEFAULT = 4, }
    pub enum hipAttribute: c_int { ONE = 1, }
}

unsafe impl hrr_runtime::arg::Ret for hipError_t {
    const RET: hrr_runtime::desc::RetDesc = <() as hrr_runtime::arg::Ret>::RET;
    const MISSING: hipError_t = OK;
}

unsafe impl hrr_runtime::arg::CopyKind for hipMemcpyKind {
    const KINDS: &'static hrr_runtime::desc::CopyKinds =
        &hrr_runtime::desc::CopyKinds { rows: &[] };
}

pub static TABLE: &[hrr_runtime::desc::TagDesc] = &[];

#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipParams {
    pub width: usize,
}

/// A struct that was not described.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipPlain {
    pub width: usize,
}
