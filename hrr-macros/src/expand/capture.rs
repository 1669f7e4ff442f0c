//! The typed half of recording: the exported name, the recorded wrapper and the binder.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::{allow_list, api_ident, signature_of};
use crate::model::{ApiFn, Direction, Param, Role};

// #[unsafe(naked)]
// pub unsafe extern "C" fn hipFoo(a: A, b: B) -> R {
//     naked_asm!("jmp qword ptr [rip + {api}]", api = sym API_hipFoo)
// }
/// The name as Rust code calls it: the slot is the first field of the descriptor.
pub(super) fn expand_export(function: &ApiFn) -> TokenStream {
    let (cfgs, outer, ident, ret) =
        (&function.cfgs, &function.outer, &function.ident, &function.ret);
    let signature = signature_of(function);
    let api = api_ident(ident);
    let allow = allow_list();
    // A lint about the function, such as a missing comment, points at its name.
    let head = quote_spanned!(ident.span()=> pub unsafe extern "C" fn);
    let body = quote!(::core::arch::naked_asm!("jmp qword ptr [rip + {api}]", api = sym #api));
    let mut body = Group::new(Delimiter::Brace, body);
    body.set_span(ident.span());
    quote! {
        #(#cfgs)*
        #(#outer)*
        #allow
        #[unsafe(naked)]
        #head #ident(#signature) -> #ret #body
    }
}

// unsafe extern "C-unwind" fn __wrapper(a: A, b: B) -> R { unsafe {
//     let __call = enter(&API_hipFoo);
//     if __call.is_null() { return real::<__Fn>(&API_hipFoo)(a, b); }
//     args::<__Args>(__call).write(__Args { a, b });
//     commit(&API_hipFoo, __call);
//     let __unwound = Unwound(__call);
//     let __ret = real::<__Fn>(&API_hipFoo)(a, b);
//     forget(__unwound);
//     leave(&API_hipFoo, __call, &__ret);
//     __ret
// } }
/// The recorded wrapper.
pub(super) fn expand_wrapper(function: &ApiFn) -> TokenStream {
    let api = api_ident(&function.ident);
    let ret = &function.ret;
    let signature = signature_of(function);
    let idents: Vec<&Ident> = function.params.iter().map(|param| &param.ident).collect();
    let swap = expand_swap(function);
    let call = Ident::new("__call", Span::mixed_site());
    let unwound = Ident::new("__unwound", Span::mixed_site());
    let returned = Ident::new("__ret", Span::mixed_site());
    quote! {
        unsafe extern "C-unwind" fn __wrapper(#signature) -> #ret {
            unsafe {
                let #call = ::hrr_runtime::__private::enter(&#api);
                if #call.is_null() {
                    return ::hrr_runtime::__private::real::<__Fn>(&#api)(#(#idents),*);
                }
                ::hrr_runtime::__private::args::<__Args>(#call).write(__Args { #(#idents),* });
                ::hrr_runtime::__private::commit(&#api, #call);
                #swap
                let #unwound = ::hrr_runtime::__private::Unwound(#call);
                let #returned = ::hrr_runtime::__private::real::<__Fn>(&#api)(#(#idents),*);
                ::core::mem::forget(#unwound);
                ::hrr_runtime::__private::leave(&#api, #call, &#returned);
                #returned
            }
        }
    }
}

// let mut callback = callback;
// let mut userData = userData;
// swap_callback(&API_hipFoo, __call, (&raw mut callback).cast(), (&raw mut userData).cast());
// let mut __copy = MaybeUninit::uninit();
// let params = swap_pointee(&API_hipFoo, __call, 2usize, params, &mut __copy);
/// Puts the recorder's trampoline in the place of the program's callback, whether it is a parameter
/// or stands in a struct that the call reads.
fn expand_swap(function: &ApiFn) -> TokenStream {
    let find = |fits: fn(&Param) -> bool| {
        function.params.iter().find(|param| fits(param)).map(|param| &param.ident)
    };
    let api = api_ident(&function.ident);
    let call = Ident::new("__call", Span::mixed_site());
    let mut swaps = TokenStream::new();
    let callback = find(|param| matches!(param.role, Role::Callback));
    let user_data = find(|param| matches!(param.role, Role::UserData));
    if callback.is_some() || user_data.is_some() {
        let locals = callback.iter().chain(&user_data);
        let pointer_to = |local: Option<&Ident>| match local {
            Some(local) => quote!((&raw mut #local).cast()),
            None => quote!(::core::ptr::null_mut()),
        };
        let (callback, user_data) = (pointer_to(callback), pointer_to(user_data));
        swaps.extend(quote! {
            #(let mut #locals = #locals;)*
            ::hrr_runtime::__private::swap_callback(&#api, #call, #callback, #user_data);
        });
    }
    let read = function.params.iter().enumerate().filter(|(_, param)| {
        matches!(param.role, Role::Pointee { direction: Direction::In, count: None })
    });
    for (at, param) in read {
        let (ident, copy) = (&param.ident, format_ident!("__copy_{at}", span = Span::mixed_site()));
        swaps.extend(quote! {
            let mut #copy = ::core::mem::MaybeUninit::uninit();
            let #ident = ::hrr_runtime::__private::swap_pointee(&#api, #call, #at, #ident, &mut #copy);
        });
    }
    swaps
}

// #[unsafe(naked)] unsafe extern "C" fn __bind() {
//     naked_asm!("lea r11, [rip + {api}]", "jmp {bind}", api = sym API_hipFoo, bind = sym bind)
// }
/// Where the slot leads until the first call.
pub(super) fn expand_bind(function: &ApiFn) -> TokenStream {
    let api = api_ident(&function.ident);
    quote! {
        #[unsafe(naked)]
        unsafe extern "C" fn __bind() {
            ::core::arch::naked_asm!(
                "lea r11, [rip + {api}]",
                "jmp {bind}",
                api = sym #api,
                bind = sym ::hrr_runtime::__private::bind,
            )
        }
    }
}
