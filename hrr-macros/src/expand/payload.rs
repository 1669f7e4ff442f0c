//! `#[derive(Payload)]`: the description of a struct.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;

use super::allow_list;
use super::asserts::expand_param_asserts;
use super::desc::expand_param;
use crate::model::Payload;

// unsafe impl Payload for T {
//     const PAYLOAD: &'static PayloadDesc = &PayloadDesc {
//         name: "T", bytes: .., align: ..,
//         shape: Shape::Struct(&[ParamDesc { name: "field", .. }, ..]),
//     };
// }
/// The implementation of the trait.
pub(crate) fn expand_payload(payload: &Payload) -> TokenStream {
    let owner = &payload.ident;
    let fields = payload
        .fields
        .iter()
        .map(|field| expand_param(field, &payload.fields, &quote!(#owner), field.machine));
    let asserts = expand_param_asserts(&payload.fields);
    expand_impl(payload, quote!(#(#fields),*), asserts)
}

/// What stands beside the errors: a description without fields.
pub(crate) fn expand_payload_fallback(payload: &Payload) -> TokenStream {
    expand_impl(payload, TokenStream::new(), TokenStream::new())
}

fn expand_impl(payload: &Payload, fields: TokenStream, asserts: TokenStream) -> TokenStream {
    let owner = &payload.ident;
    let name = owner.unraw().to_string();
    let allow = allow_list();
    quote! {
        #allow
        const _: () = {
            #asserts
            unsafe impl ::hrr_runtime::__private::Payload for #owner {
                const PAYLOAD: &'static ::hrr_runtime::__private::PayloadDesc =
                    &::hrr_runtime::__private::PayloadDesc {
                        name: #name,
                        bytes: ::core::mem::size_of::<#owner>() as u32,
                        align: ::core::mem::align_of::<#owner>() as u32,
                        shape: ::hrr_runtime::__private::Shape::Struct(&[#fields]),
                    };
            }
        };
    }
}
