///What the declaration says of [`hipEverything`].
#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    reason = "generated from a C declaration"
)]
pub static API_hipEverything: ::hrr_runtime::__private::ApiDesc = {
    type __Fn = unsafe extern "C-unwind" fn(
        super::types::hipStream_t,
        *mut self::Local,
        hipHostFn_t,
        *mut c_void,
    ) -> *const c_char;
    #[repr(C)]
    struct __Args {
        r#type: super::types::hipStream_t,
        _out: *mut self::Local,
        func: hipHostFn_t,
        userData: *mut c_void,
    }
    unsafe extern "C-unwind" fn __wrapper(
        r#type: super::types::hipStream_t,
        _out: *mut self::Local,
        func: hipHostFn_t,
        userData: *mut c_void,
    ) -> *const c_char {
        unsafe {
            let __call = ::hrr_runtime::__private::enter(&API_hipEverything);
            if __call.is_null() {
                return ::hrr_runtime::__private::real::<
                    __Fn,
                >(&API_hipEverything)(r#type, _out, func, userData);
            }
            ::hrr_runtime::__private::args::<__Args>(__call)
                .write(__Args {
                    r#type,
                    _out,
                    func,
                    userData,
                });
            ::hrr_runtime::__private::commit(&API_hipEverything, __call);
            let mut func = func;
            let mut userData = userData;
            ::hrr_runtime::__private::swap_callback(
                &API_hipEverything,
                __call,
                (&raw mut func).cast(),
                (&raw mut userData).cast(),
            );
            let __unwound = ::hrr_runtime::__private::Unwound(__call);
            let __ret = ::hrr_runtime::__private::real::<
                __Fn,
            >(&API_hipEverything)(r#type, _out, func, userData);
            ::core::mem::forget(__unwound);
            ::hrr_runtime::__private::leave(&API_hipEverything, __call, &__ret);
            __ret
        }
    }
    unsafe fn __invoke(function: *const (), args: *const u8, ret: *mut u8) {
        unsafe {
            let function = ::core::mem::transmute::<*const (), __Fn>(function);
            let args = args.cast::<__Args>().read();
            ret.cast::<*const c_char>()
                .write(function(args.r#type, args._out, args.func, args.userData));
        }
    }
    #[unsafe(naked)]
    unsafe extern "C" fn __bind() {
        ::core::arch::naked_asm!(
            "lea r11, [rip + {api}]", "jmp {bind}", api = sym API_hipEverything, bind =
            sym::hrr_runtime::__private::bind,
        )
    }
    const __PARAMS: &[::hrr_runtime::__private::ParamDesc] = &[
        ::hrr_runtime::__private::ParamDesc {
            name: "type",
            ty: "super::types::hipStream_t",
            offset: ::core::mem::offset_of!(__Args, r#type) as u32,
            bytes: ::core::mem::size_of::<super::types::hipStream_t>() as u32,
            role: ::hrr_runtime::__private::Role::of_value(
                <super::types::hipStream_t as ::hrr_runtime::__private::Payload>::PAYLOAD,
            ),
        },
        ::hrr_runtime::__private::ParamDesc {
            name: "_out",
            ty: "*mut self::Local",
            offset: ::core::mem::offset_of!(__Args, _out) as u32,
            bytes: ::core::mem::size_of::<*mut self::Local>() as u32,
            role: ::hrr_runtime::__private::Role::Pointee {
                direction: ::hrr_runtime::__private::Direction::Out,
                payload: <self::Local as ::hrr_runtime::__private::Payload>::PAYLOAD,
                compare: ::hrr_runtime::__private::Compare::Machine,
            },
        },
        ::hrr_runtime::__private::ParamDesc {
            name: "func",
            ty: "hipHostFn_t",
            offset: ::core::mem::offset_of!(__Args, func) as u32,
            bytes: ::core::mem::size_of::<hipHostFn_t>() as u32,
            role: ::hrr_runtime::__private::Role::Callback,
        },
        ::hrr_runtime::__private::ParamDesc {
            name: "userData",
            ty: "*mut c_void",
            offset: ::core::mem::offset_of!(__Args, userData) as u32,
            bytes: ::core::mem::size_of::<*mut c_void>() as u32,
            role: ::hrr_runtime::__private::Role::UserData,
        },
    ];
    const __RET: ::hrr_runtime::__private::RetDesc = <*const c_char as ::hrr_runtime::__private::Ret>::RET
        .declared("*const c_char", true);
    const __CLASS: ::hrr_runtime::__private::Class = ::hrr_runtime::__private::Class::Replayed;
    const __EFFECTS: &[::hrr_runtime::__private::Effect] = &[
        ::hrr_runtime::__private::Effect::Enqueues {
            stream: 0u16,
        },
    ];
    const __CAPTURE: ::core::option::Option<::hrr_runtime::__private::CaptureFn> = ::core::option::Option::Some({
        const __HALF: ::hrr_runtime::__private::CaptureFn = families::capture_everything;
        __HALF
    });
    const _: () = ::core::assert!(
        ::core::mem::size_of:: < hipHostFn_t > () == ::core::mem::size_of:: < * const ()
        > (), "`#[callback]` takes a pointer: `hipHostFn_t` has another size"
    );
    const _: &::hrr_runtime::__private::HandleDesc = <super::types::hipStream_t as ::hrr_runtime::__private::Handle>::HANDLE;
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
        name: c"hipEverything",
        aliases: &[c"_Z3everyP", c"_Z3everyPm"],
        group: "graph",
        library: "",
        validated: true,
        docs: "Does everything.\n\nAnd says so.",
        params: __PARAMS,
        ret: __RET,
        class: __CLASS,
        effects: __EFFECTS,
        capture: __CAPTURE,
        replay: ::core::option::Option::Some({
            const __HALF: ::hrr_runtime::__private::ReplayFn = families::replay_everything;
            __HALF
        }),
        wrapper: ::hrr_runtime::__private::CodePtr(__wrapper as *const ()),
        bind: ::hrr_runtime::__private::CodePtr(__bind as *const ()),
        missing: <*const c_char as ::hrr_runtime::__private::Ret>::MISSING_FN,
        receive: ::hrr_runtime::__private::receiver!(
            API_hipEverything, __Args, (r#type : super::types::hipStream_t, _out : * mut
            self::Local, func : hipHostFn_t, userData : * mut c_void) -> * const c_char
        ),
        invoke: __invoke,
    }
};
/// Does everything.
///
/// And says so.
#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    reason = "generated from a C declaration"
)]
#[unsafe(naked)]
pub unsafe extern "C" fn hipEverything(
    r#type: super::types::hipStream_t,
    _out: *mut self::Local,
    func: hipHostFn_t,
    userData: *mut c_void,
) -> *const c_char {
    ::core::arch::naked_asm!("jmp qword ptr [rip + {api}]", api = sym API_hipEverything)
}
///The functions of the group `graph`.
pub static APIS: ::hrr_runtime::__private::Table = &[&API_hipEverything];
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
    ///Calls [`hipEverything`](super::hipEverything) of the live runtime, unrecorded.
    #[inline]
    pub unsafe fn hipEverything(
        r#type: super::super::types::hipStream_t,
        _out: *mut super::Local,
        func: hipHostFn_t,
        userData: *mut c_void,
    ) -> *const c_char {
        unsafe {
            let __real = ::hrr_runtime::__private::real_bound::<
                unsafe extern "C-unwind" fn(
                    super::super::types::hipStream_t,
                    *mut super::Local,
                    hipHostFn_t,
                    *mut c_void,
                ) -> *const c_char,
            >(&super::API_hipEverything);
            __real(r#type, _out, func, userData)
        }
    }
}
#[doc(hidden)]
#[macro_export]
macro_rules! __hrr_names_graph {
    ($callback:path, $($rest:tt)*) => {
        $callback ! { $($rest)*; hipEverything => API_hipEverything, alias "_Z3everyP" =>
        API_hipEverything, alias "_Z3everyPm" => API_hipEverything, }
    };
}
