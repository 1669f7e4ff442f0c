//! The typed half of replay: calls of the real function, from an argument block or directly.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Type;

use super::{api_ident, one_module_down};
use crate::model::ApiFn;

// unsafe fn __invoke(function: *const (), args: *const u8, ret: *mut u8) { unsafe {
//     let function = transmute::<*const (), __Fn>(function);
//     let args = args.cast::<__Args>().read();
//     ret.cast::<R>().write(function(args.a, args.b));
// } }
/// Calls a function of this signature with an argument block.
pub(super) fn expand_invoke(function: &ApiFn) -> TokenStream {
    let ret = &function.ret;
    let idents = function.params.iter().map(|param| &param.ident);
    quote! {
        unsafe fn __invoke(function: *const (), args: *const u8, ret: *mut u8) {
            unsafe {
                let function = ::core::mem::transmute::<*const (), __Fn>(function);
                let args = args.cast::<__Args>().read();
                ret.cast::<#ret>().write(function(#(args.#idents),*));
            }
        }
    }
}

// pub unsafe fn hipFoo(a: A, b: B) -> R { unsafe { real_bound::<fn(A, B) -> R>(&API_hipFoo)(a, b) } }
/// The call of the live runtime that no recording sees.
pub(super) fn expand_raw(function: &ApiFn) -> TokenStream {
    let (cfgs, ident) = (&function.cfgs, &function.ident);
    let idents: Vec<&Ident> = function.params.iter().map(|param| &param.ident).collect();
    let types: Vec<Type> = function.params.iter().map(|param| one_module_down(&param.ty)).collect();
    let ret = one_module_down(&function.ret);
    let api = api_ident(ident);
    let doc = format!("Calls [`{ident}`](super::{ident}) of the live runtime, unrecorded.");
    let callee = Ident::new("__real", Span::mixed_site());
    quote! {
        #(#cfgs)*
        #[doc = #doc]
        #[inline]
        pub unsafe fn #ident(#(#idents: #types),*) -> #ret {
            unsafe {
                let #callee = ::hrr_runtime::__private::real_bound::<
                    unsafe extern "C-unwind" fn(#(#types),*) -> #ret
                >(&super::#api);
                #callee(#(#idents),*)
            }
        }
    }
}
