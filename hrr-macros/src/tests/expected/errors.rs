::core::compile_error! {
    "no parameter named `m` in `hipWrong`"
}
::core::compile_error! {
    "the pointer `p` needs a role, such as `#[deref]`, `#[string]`, `#[device_ptr]` or `#[host_in(bytes = ..)]`"
}
#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    reason = "generated from a C declaration"
)]
#[allow(missing_docs, reason = "the declaration has errors")]
unsafe extern "C" {
    #[cfg(unix)]
    pub fn hipWrong(p: *const u32, q: *const u32, n: usize) -> u32;
    pub fn hipRight(p: *mut u32) -> u32;
}
#[cfg(unix)]
#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    reason = "generated from a C declaration"
)]
#[allow(missing_docs, reason = "the declaration has errors")]
pub static API_hipWrong: ::hrr_runtime::__private::ApiDesc = {
    unsafe fn __invoke(_: *const (), _: *const u8, _: *mut u8) {}
    const __NONE: ::hrr_runtime::__private::CodePtr = ::hrr_runtime::__private::CodePtr(
        ::core::ptr::null(),
    );
    ::hrr_runtime::__private::ApiDesc {
        slot: ::hrr_runtime::__private::AtomicPtr::new(::core::ptr::null_mut()),
        real: ::hrr_runtime::__private::AtomicPtr::new(::core::ptr::null_mut()),
        header: ::hrr_runtime::__private::AtomicU64::new(0),
        state: ::hrr_runtime::__private::AtomicU32::new(0),
        args_bytes: 0,
        outs_bytes: 0,
        flags: 0,
        name: c"hipWrong",
        aliases: &[],
        group: "",
        library: "",
        validated: false,
        docs: "",
        params: &[],
        ret: <() as ::hrr_runtime::__private::Ret>::RET,
        class: ::hrr_runtime::__private::Class::Replayed,
        effects: &[],
        capture: ::core::option::Option::None,
        replay: ::core::option::Option::None,
        wrapper: __NONE,
        bind: __NONE,
        missing: __NONE,
        receive: __NONE,
        invoke: __invoke,
    }
};
#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    reason = "generated from a C declaration"
)]
#[allow(missing_docs, reason = "the declaration has errors")]
pub static API_hipRight: ::hrr_runtime::__private::ApiDesc = {
    unsafe fn __invoke(_: *const (), _: *const u8, _: *mut u8) {}
    const __NONE: ::hrr_runtime::__private::CodePtr = ::hrr_runtime::__private::CodePtr(
        ::core::ptr::null(),
    );
    ::hrr_runtime::__private::ApiDesc {
        slot: ::hrr_runtime::__private::AtomicPtr::new(::core::ptr::null_mut()),
        real: ::hrr_runtime::__private::AtomicPtr::new(::core::ptr::null_mut()),
        header: ::hrr_runtime::__private::AtomicU64::new(0),
        state: ::hrr_runtime::__private::AtomicU32::new(0),
        args_bytes: 0,
        outs_bytes: 0,
        flags: 0,
        name: c"hipRight",
        aliases: &[],
        group: "",
        library: "",
        validated: false,
        docs: "",
        params: &[],
        ret: <() as ::hrr_runtime::__private::Ret>::RET,
        class: ::hrr_runtime::__private::Class::Replayed,
        effects: &[],
        capture: ::core::option::Option::None,
        replay: ::core::option::Option::None,
        wrapper: __NONE,
        bind: __NONE,
        missing: __NONE,
        receive: __NONE,
        invoke: __invoke,
    }
};
#[allow(missing_docs, reason = "the declaration has errors")]
pub static APIS: ::hrr_runtime::__private::Table = &[];
#[allow(missing_docs, reason = "the declaration has errors")]
pub mod raw {
    #[cfg(unix)]
    pub use super::hipWrong;
    pub use super::hipRight;
}
