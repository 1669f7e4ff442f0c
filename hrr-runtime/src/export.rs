//! The macro by which a library puts the recorded functions under their C names. Only leaves of the
//! workspace may use it: two libraries with the same C names in one program link without an error,
//! and one of them wins in silence.

/// Exports each name of a group as a jump to where the function's calls go:
/// `hrr_runtime::for_each_api_group! { hrr_runtime::export_names, }`.
#[doc(hidden)]
#[macro_export]
macro_rules! export_names {
    ($group:path,; $($name:ident $($symbol:literal)? => $api:ident,)*) => {
        const _: () = {
            use $group as group;
            $($crate::export_names! { @one $name $($symbol)? => $api })*
        };
    };
    (@one alias $symbol:literal => $api:ident) => {
        const _: () = {
            #[unsafe(naked)]
            #[unsafe(export_name = $symbol)]
            unsafe extern "C" fn export() {
                ::core::arch::naked_asm!("jmp qword ptr [rip + {api}]", api = sym group::$api)
            }
        };
    };
    (@one $name:ident => $api:ident) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "HIP's names keep HIP's spelling")]
        unsafe extern "C" fn $name() {
            ::core::arch::naked_asm!("jmp qword ptr [rip + {api}]", api = sym group::$api)
        }
    };
}
