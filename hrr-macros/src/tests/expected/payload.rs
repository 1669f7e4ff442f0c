#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    reason = "generated from a C declaration"
)]
const _: () = {
    const _: () = <u32 as ::hrr_runtime::__private::Count>::COUNTS;
    unsafe impl ::hrr_runtime::__private::Payload for hipLaunchConfig {
        const PAYLOAD: &'static ::hrr_runtime::__private::PayloadDesc = &::hrr_runtime::__private::PayloadDesc {
            name: "hipLaunchConfig",
            bytes: ::core::mem::size_of::<hipLaunchConfig>() as u32,
            align: ::core::mem::align_of::<hipLaunchConfig>() as u32,
            shape: ::hrr_runtime::__private::Shape::Struct(
                &[
                    ::hrr_runtime::__private::ParamDesc {
                        name: "gridDim",
                        ty: "dim3",
                        offset: ::core::mem::offset_of!(hipLaunchConfig, gridDim) as u32,
                        bytes: ::core::mem::size_of::<dim3>() as u32,
                        role: ::hrr_runtime::__private::Role::of_value(
                            <dim3 as ::hrr_runtime::__private::Payload>::PAYLOAD,
                        ),
                    },
                    ::hrr_runtime::__private::ParamDesc {
                        name: "attrs",
                        ty: "*const hipLaunchAttribute",
                        offset: ::core::mem::offset_of!(hipLaunchConfig, attrs) as u32,
                        bytes: ::core::mem::size_of::<*const hipLaunchAttribute>()
                            as u32,
                        role: ::hrr_runtime::__private::Role::Array {
                            direction: ::hrr_runtime::__private::Direction::In,
                            payload: <hipLaunchAttribute as ::hrr_runtime::__private::Payload>::PAYLOAD,
                            compare: ::hrr_runtime::__private::Compare::Exact,
                            count: ::hrr_runtime::__private::Len::Param(2u16),
                        },
                    },
                    ::hrr_runtime::__private::ParamDesc {
                        name: "numAttrs",
                        ty: "u32",
                        offset: ::core::mem::offset_of!(hipLaunchConfig, numAttrs)
                            as u32,
                        bytes: ::core::mem::size_of::<u32>() as u32,
                        role: ::hrr_runtime::__private::Role::of_value(
                            <u32 as ::hrr_runtime::__private::Payload>::PAYLOAD,
                        ),
                    },
                ],
            ),
        };
    }
};
