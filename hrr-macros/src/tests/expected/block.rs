///What the declaration says of [`hipGraphAddEmptyNode`].
#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    reason = "generated from a C declaration"
)]
pub static API_hipGraphAddEmptyNode: ::hrr_runtime::__private::ApiDesc = {
    type __Fn = unsafe extern "C-unwind" fn(
        *mut hipGraphNode_t,
        hipGraph_t,
    ) -> hipError_t;
    #[repr(C)]
    struct __Args {
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
    }
    unsafe extern "C-unwind" fn __wrapper(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
    ) -> hipError_t {
        unsafe {
            let __call = ::hrr_runtime::__private::enter(&API_hipGraphAddEmptyNode);
            if __call.is_null() {
                return ::hrr_runtime::__private::real::<
                    __Fn,
                >(&API_hipGraphAddEmptyNode)(node, graph);
            }
            ::hrr_runtime::__private::args::<__Args>(__call)
                .write(__Args { node, graph });
            ::hrr_runtime::__private::commit(&API_hipGraphAddEmptyNode, __call);
            let __unwound = ::hrr_runtime::__private::Unwound(__call);
            let __ret = ::hrr_runtime::__private::real::<
                __Fn,
            >(&API_hipGraphAddEmptyNode)(node, graph);
            ::core::mem::forget(__unwound);
            ::hrr_runtime::__private::leave(&API_hipGraphAddEmptyNode, __call, &__ret);
            __ret
        }
    }
    unsafe fn __invoke(function: *const (), args: *const u8, ret: *mut u8) {
        unsafe {
            let function = ::core::mem::transmute::<*const (), __Fn>(function);
            let args = args.cast::<__Args>().read();
            ret.cast::<hipError_t>().write(function(args.node, args.graph));
        }
    }
    #[unsafe(naked)]
    unsafe extern "C" fn __bind() {
        ::core::arch::naked_asm!(
            "lea r11, [rip + {api}]", "jmp {bind}", api = sym API_hipGraphAddEmptyNode,
            bind = sym::hrr_runtime::__private::bind,
        )
    }
    const __PARAMS: &[::hrr_runtime::__private::ParamDesc] = &[
        ::hrr_runtime::__private::ParamDesc {
            name: "node",
            ty: "*mut hipGraphNode_t",
            offset: ::core::mem::offset_of!(__Args, node) as u32,
            bytes: ::core::mem::size_of::<*mut hipGraphNode_t>() as u32,
            role: ::hrr_runtime::__private::Role::OutHandle {
                handle: <hipGraphNode_t as ::hrr_runtime::__private::Handle>::HANDLE,
                count: ::core::option::Option::None,
            },
        },
        ::hrr_runtime::__private::ParamDesc {
            name: "graph",
            ty: "hipGraph_t",
            offset: ::core::mem::offset_of!(__Args, graph) as u32,
            bytes: ::core::mem::size_of::<hipGraph_t>() as u32,
            role: ::hrr_runtime::__private::Role::of_value(
                <hipGraph_t as ::hrr_runtime::__private::Payload>::PAYLOAD,
            ),
        },
    ];
    const __RET: ::hrr_runtime::__private::RetDesc = <hipError_t as ::hrr_runtime::__private::Ret>::RET
        .declared("hipError_t", false);
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
        name: c"hipGraphAddEmptyNode",
        aliases: &[c"_Z20hipGraphAddEmptyNode"],
        group: "graph",
        library: "",
        validated: false,
        docs: "Adds an empty node.",
        params: __PARAMS,
        ret: __RET,
        class: __CLASS,
        effects: __EFFECTS,
        capture: __CAPTURE,
        replay: ::core::option::Option::None,
        wrapper: ::hrr_runtime::__private::CodePtr(__wrapper as *const ()),
        bind: ::hrr_runtime::__private::CodePtr(__bind as *const ()),
        missing: <hipError_t as ::hrr_runtime::__private::Ret>::MISSING_FN,
        receive: ::hrr_runtime::__private::receiver!(
            API_hipGraphAddEmptyNode, __Args, (node : * mut hipGraphNode_t, graph :
            hipGraph_t) -> hipError_t
        ),
        invoke: __invoke,
    }
};
/// Adds an empty node.
#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    reason = "generated from a C declaration"
)]
#[unsafe(naked)]
pub unsafe extern "C" fn hipGraphAddEmptyNode(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
) -> hipError_t {
    ::core::arch::naked_asm!(
        "jmp qword ptr [rip + {api}]", api = sym API_hipGraphAddEmptyNode
    )
}
///The functions of the group `graph`.
pub static APIS: ::hrr_runtime::__private::Table = &[&API_hipGraphAddEmptyNode];
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
    ///Calls [`hipGraphAddEmptyNode`](super::hipGraphAddEmptyNode) of the live runtime, unrecorded.
    #[inline]
    pub unsafe fn hipGraphAddEmptyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
    ) -> hipError_t {
        unsafe {
            let __real = ::hrr_runtime::__private::real_bound::<
                unsafe extern "C-unwind" fn(
                    *mut hipGraphNode_t,
                    hipGraph_t,
                ) -> hipError_t,
            >(&super::API_hipGraphAddEmptyNode);
            __real(node, graph)
        }
    }
}
#[doc(hidden)]
#[macro_export]
macro_rules! __hrr_names_graph {
    ($callback:path, $($rest:tt)*) => {
        $callback ! { $($rest)*; hipGraphAddEmptyNode => API_hipGraphAddEmptyNode, alias
        "_Z20hipGraphAddEmptyNode" => API_hipGraphAddEmptyNode, }
    };
}
