#[cfg(feature = "new")]
///What the declaration says of [`hipNew`].
#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    reason = "generated from a C declaration"
)]
pub static API_hipNew: ::hrr_runtime::__private::ApiDesc = {
    type __Fn = unsafe extern "C-unwind" fn() -> ();
    #[repr(C)]
    struct __Args {}
    unsafe extern "C-unwind" fn __wrapper() -> () {
        unsafe {
            let __call = ::hrr_runtime::__private::enter(&API_hipNew);
            if __call.is_null() {
                return ::hrr_runtime::__private::real::<__Fn>(&API_hipNew)();
            }
            ::hrr_runtime::__private::args::<__Args>(__call).write(__Args {});
            ::hrr_runtime::__private::commit(&API_hipNew, __call);
            let __unwound = ::hrr_runtime::__private::Unwound(__call);
            let __ret = ::hrr_runtime::__private::real::<__Fn>(&API_hipNew)();
            ::core::mem::forget(__unwound);
            ::hrr_runtime::__private::leave(&API_hipNew, __call, &__ret);
            __ret
        }
    }
    unsafe fn __invoke(function: *const (), args: *const u8, ret: *mut u8) {
        unsafe {
            let function = ::core::mem::transmute::<*const (), __Fn>(function);
            let args = args.cast::<__Args>().read();
            ret.cast::<()>().write(function());
        }
    }
    #[unsafe(naked)]
    unsafe extern "C" fn __bind() {
        ::core::arch::naked_asm!(
            "lea r11, [rip + {api}]", "jmp {bind}", api = sym API_hipNew, bind =
            sym::hrr_runtime::__private::bind,
        )
    }
    const __PARAMS: &[::hrr_runtime::__private::ParamDesc] = &[];
    const __RET: ::hrr_runtime::__private::RetDesc = <() as ::hrr_runtime::__private::Ret>::RET
        .declared("()", false);
    const __CLASS: ::hrr_runtime::__private::Class = ::hrr_runtime::__private::Class::Replayed;
    const __EFFECTS: &[::hrr_runtime::__private::Effect] = &[];
    const __CAPTURE: ::core::option::Option<::hrr_runtime::__private::CaptureFn> = ::core::option::Option::None;
    ::hrr_runtime::__private::ApiDesc {
        slot: ::hrr_runtime::__private::AtomicPtr::new(__bind as *const () as *mut ()),
        real: ::hrr_runtime::__private::AtomicPtr::new(::core::ptr::null_mut()),
        header: ::hrr_runtime::__private::AtomicU64::new(0),
        state: ::hrr_runtime::__private::AtomicU32::new(0),
        args_bytes: ::core::mem::size_of::<__Args>() as u32,
        outs_bytes: ::hrr_runtime::__private::outs_bytes_of(__PARAMS, &__RET),
        flags: ::hrr_runtime::__private::flags_of(
            __PARAMS,
            &__RET,
            __EFFECTS,
            &__CLASS,
            &__CAPTURE,
        ),
        name: c"hipNew",
        aliases: &[],
        group: "graph",
        library: "",
        validated: false,
        docs: "",
        params: __PARAMS,
        ret: __RET,
        class: __CLASS,
        effects: __EFFECTS,
        capture: __CAPTURE,
        replay: ::core::option::Option::None,
        wrapper: ::hrr_runtime::__private::CodePtr(__wrapper as *const ()),
        bind: ::hrr_runtime::__private::CodePtr(__bind as *const ()),
        missing: <() as ::hrr_runtime::__private::Ret>::MISSING_FN,
        receive: ::hrr_runtime::__private::receiver!(API_hipNew, __Args, () -> ()),
        invoke: __invoke,
    }
};
#[cfg(feature = "new")]
#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    reason = "generated from a C declaration"
)]
#[unsafe(naked)]
pub unsafe extern "C" fn hipNew() -> () {
    ::core::arch::naked_asm!("jmp qword ptr [rip + {api}]", api = sym API_hipNew)
}
///What the declaration says of [`hipOld`].
#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    reason = "generated from a C declaration"
)]
pub static API_hipOld: ::hrr_runtime::__private::ApiDesc = {
    type __Fn = unsafe extern "C-unwind" fn() -> ();
    #[repr(C)]
    struct __Args {}
    unsafe extern "C-unwind" fn __wrapper() -> () {
        unsafe {
            let __call = ::hrr_runtime::__private::enter(&API_hipOld);
            if __call.is_null() {
                return ::hrr_runtime::__private::real::<__Fn>(&API_hipOld)();
            }
            ::hrr_runtime::__private::args::<__Args>(__call).write(__Args {});
            ::hrr_runtime::__private::commit(&API_hipOld, __call);
            let __unwound = ::hrr_runtime::__private::Unwound(__call);
            let __ret = ::hrr_runtime::__private::real::<__Fn>(&API_hipOld)();
            ::core::mem::forget(__unwound);
            ::hrr_runtime::__private::leave(&API_hipOld, __call, &__ret);
            __ret
        }
    }
    unsafe fn __invoke(function: *const (), args: *const u8, ret: *mut u8) {
        unsafe {
            let function = ::core::mem::transmute::<*const (), __Fn>(function);
            let args = args.cast::<__Args>().read();
            ret.cast::<()>().write(function());
        }
    }
    #[unsafe(naked)]
    unsafe extern "C" fn __bind() {
        ::core::arch::naked_asm!(
            "lea r11, [rip + {api}]", "jmp {bind}", api = sym API_hipOld, bind =
            sym::hrr_runtime::__private::bind,
        )
    }
    const __PARAMS: &[::hrr_runtime::__private::ParamDesc] = &[];
    const __RET: ::hrr_runtime::__private::RetDesc = <() as ::hrr_runtime::__private::Ret>::RET
        .declared("()", false);
    const __CLASS: ::hrr_runtime::__private::Class = ::hrr_runtime::__private::Class::Replayed;
    const __EFFECTS: &[::hrr_runtime::__private::Effect] = &[];
    const __CAPTURE: ::core::option::Option<::hrr_runtime::__private::CaptureFn> = ::core::option::Option::None;
    ::hrr_runtime::__private::ApiDesc {
        slot: ::hrr_runtime::__private::AtomicPtr::new(__bind as *const () as *mut ()),
        real: ::hrr_runtime::__private::AtomicPtr::new(::core::ptr::null_mut()),
        header: ::hrr_runtime::__private::AtomicU64::new(0),
        state: ::hrr_runtime::__private::AtomicU32::new(0),
        args_bytes: ::core::mem::size_of::<__Args>() as u32,
        outs_bytes: ::hrr_runtime::__private::outs_bytes_of(__PARAMS, &__RET),
        flags: ::hrr_runtime::__private::flags_of(
            __PARAMS,
            &__RET,
            __EFFECTS,
            &__CLASS,
            &__CAPTURE,
        ),
        name: c"hipOld",
        aliases: &[],
        group: "graph",
        library: "",
        validated: false,
        docs: "",
        params: __PARAMS,
        ret: __RET,
        class: __CLASS,
        effects: __EFFECTS,
        capture: __CAPTURE,
        replay: ::core::option::Option::None,
        wrapper: ::hrr_runtime::__private::CodePtr(__wrapper as *const ()),
        bind: ::hrr_runtime::__private::CodePtr(__bind as *const ()),
        missing: <() as ::hrr_runtime::__private::Ret>::MISSING_FN,
        receive: ::hrr_runtime::__private::receiver!(API_hipOld, __Args, () -> ()),
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
#[unsafe(naked)]
pub unsafe extern "C" fn hipOld() -> () {
    ::core::arch::naked_asm!("jmp qword ptr [rip + {api}]", api = sym API_hipOld)
}
///The functions of the group `graph`.
pub static APIS: ::hrr_runtime::__private::Table = &[
    #[cfg(feature = "new")]
    &API_hipNew,
    &API_hipOld,
];
///The functions of the live runtime, called without being recorded.
#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    reason = "generated from a C declaration"
)]
pub mod raw {
    use super::*;
    #[cfg(feature = "new")]
    ///Calls [`hipNew`](super::hipNew) of the live runtime, unrecorded.
    #[inline]
    pub unsafe fn hipNew() -> () {
        unsafe {
            let __real = ::hrr_runtime::__private::real_bound::<
                unsafe extern "C-unwind" fn() -> (),
            >(&super::API_hipNew);
            __real()
        }
    }
    ///Calls [`hipOld`](super::hipOld) of the live runtime, unrecorded.
    #[inline]
    pub unsafe fn hipOld() -> () {
        unsafe {
            let __real = ::hrr_runtime::__private::real_bound::<
                unsafe extern "C-unwind" fn() -> (),
            >(&super::API_hipOld);
            __real()
        }
    }
}
#[cfg(all(feature = "new"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __hrr_names_graph_0 {
    ($callback:path, $($rest:tt)*) => {
        $callback ! { $($rest)*; hipNew => API_hipNew, }
    };
}
#[cfg(not(all(feature = "new")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __hrr_names_graph_0 {
    ($callback:path, $($rest:tt)*) => {};
}
#[doc(hidden)]
#[macro_export]
macro_rules! __hrr_names_graph {
    ($callback:path, $($rest:tt)*) => {
        $callback ! { $($rest)*; hipOld => API_hipOld, } $crate::__hrr_names_graph_0! {
        $callback, $($rest)* }
    };
}
