// The types that the cases declare functions with.
#![allow(dead_code, non_upper_case_globals, unused_imports)]

pub use core::ffi::{c_char, c_int, c_uint, c_void};
pub use hrr_macros::{Payload, api};

hrr_runtime::handle! {
    pub struct Stream;
    pub struct Event;
    pub struct Graph;
    pub struct GraphExec;
    pub struct Kernel;
    pub struct Module;
}
hrr_runtime::c_enum! {
    pub enum Status: u32 { OK = 0, }
    pub enum Kind: c_int { DEFAULT = 4, }
    pub enum Attr: c_int { ONE = 1, }
}

unsafe impl hrr_runtime::arg::Ret for Status {
    const RET: hrr_runtime::desc::RetDesc = <() as hrr_runtime::arg::Ret>::RET;
    const MISSING: Status = OK;
}

unsafe impl hrr_runtime::arg::CopyKind for Kind {
    const KINDS: &'static hrr_runtime::desc::CopyKinds =
        &hrr_runtime::desc::CopyKinds { rows: &[] };
}

pub static TABLE: &[hrr_runtime::desc::TagDesc] = &[];

#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Params {
    pub width: usize,
}

/// A struct that was not described.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Plain {
    pub width: usize,
}
