//! What only the compiler can know of a declaration, asked on the tokens that it is about.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use super::desc::spell;
use crate::attr::{ROWS, SlotKind, Takes};
use crate::check::is_scalar;
use crate::model::{
    ApiFn, Class, Len, Name, Param, Pointer, Role, last_word, pointee_of, pointer_of,
};

/// The questions about a function.
pub(super) fn expand_asserts(function: &ApiFn) -> TokenStream {
    let params = expand_param_asserts(&function.params);
    let effects = function.effects.iter().flat_map(|effect| {
        let handles =
            effect.names.iter().zip(effect.row.slots).filter_map(|(name, slot)| match slot.kind {
                SlotKind::Handle => Some(expect_handle(name, &function.params)),
                SlotKind::OutHandle | SlotKind::String | SlotKind::Integer => None,
            });
        handles.collect::<Vec<_>>()
    });
    let wait = match &function.class {
        Class::Query { wait: Some(path) } => {
            let types = function.params.iter().map(|param| &param.ty);
            let ret = &function.ret;
            quote!(const _: unsafe extern "C" fn(#(#types),*) -> #ret = #path;)
        }
        Class::Query { wait: None }
        | Class::Replayed
        | Class::Ordering
        | Class::Host { .. }
        | Class::Unreplayable { .. } => TokenStream::new(),
    };
    quote!(#params #(#effects)* #wait)
}

/// The questions about parameters or fields.
pub(super) fn expand_param_asserts(params: &[Param]) -> TokenStream {
    let mut tokens = TokenStream::new();
    for param in params {
        for length in param.role.lengths() {
            expect_counts(length, params, &mut tokens);
        }
        tokens.extend(expect_address(param));
        tokens.extend(expect_exact_size(param));
        tokens.extend(expect_named(param, params));
    }
    tokens
}

// #[deref(count = n)]  =>  const _: () = <typeof n as Count>::COUNTS;
/// A named length is an integer, or leads to one.
fn expect_counts(length: &Len, params: &[Param], tokens: &mut TokenStream) {
    let (name, behind) = match length {
        Len::Literal { .. } | Len::Call(_) => return,
        Len::Product(lengths) | Len::Min(lengths) => {
            for length in lengths {
                expect_counts(length, params, tokens);
            }
            return;
        }
        Len::Param(name) => (name, false),
        Len::Before(name) | Len::After(name) => (name, true),
    };
    let ty = params.get(name.index).map(|param| &param.ty);
    let ty = if behind { ty.and_then(pointee_of) } else { ty };
    let ty = ty.map(|ty| respan(ty, name.ident.span()));
    tokens.extend(quote!(const _: () = <#ty as ::hrr_runtime::__private::Count>::COUNTS;));
}

// #[device_ptr] p: hipDeviceptr_t  =>  const _: () = assert!(size_of::<hipDeviceptr_t>() == 8);
/// An alias in the place of a pointer is as large as one.
fn expect_address(param: &Param) -> Option<TokenStream> {
    let word = param.word.as_ref()?;
    let row = ROWS.iter().find(|row| word == row.name)?;
    let ty = match row.takes {
        Takes::Address | Takes::Function => match pointer_of(&param.ty) {
            Pointer::No => &param.ty,
            Pointer::Const(_) | Pointer::Mut(_) | Pointer::Function => return None,
        },
        Takes::MutPointer | Takes::Pointer => match &param.role {
            Role::OutDevicePointer { .. }
            | Role::OutAlloc { .. }
            | Role::EntryPoint { .. }
            | Role::DevicePointerArray { .. } => {
                let pointee = pointee_of(&param.ty)?;
                match pointer_of(pointee) {
                    Pointer::No => pointee,
                    Pointer::Const(_) | Pointer::Mut(_) | Pointer::Function => return None,
                }
            }
            _ => return None,
        },
        Takes::Value if matches!(param.role, Role::Device) => {
            let text = "`#[device]` takes an integer";
            return Some(expect_scalar(&param.ty, param.ty.span(), text));
        }
        Takes::Value | Takes::Nothing | Takes::Anything => return None,
    };
    let text = format!("`#[{word}]` takes a pointer: `{}` has another size", spell(ty));
    Some(quote_spanned! {ty.span()=>
        const _: () = ::core::assert!(
            ::core::mem::size_of::<#ty>() == ::core::mem::size_of::<*const ()>(), #text
        );
    })
}

// #[out_buffer(bytes = 8)] p: *mut [T; N]  =>  const _: () = assert!(size_of::<[T; N]>() == 8);
/// A literal number of bytes is the size of the array or struct that it is about.
fn expect_exact_size(param: &Param) -> Option<TokenStream> {
    let Role::HostOut { bytes: Len::Literal { value, token }, exact: true } = &param.role else {
        return None;
    };
    let pointee = pointee_of(&param.ty)?;
    // A scalar or `void` is an element of the buffer, not the buffer.
    if last_word(pointee).is_some_and(|word| is_scalar(&word)) {
        return None;
    }
    let text = format!(
        "`#[out_buffer(bytes = {value})]`: `{}` does not have {value} bytes",
        spell(pointee)
    );
    let value = u64_literal(*value);
    Some(quote_spanned! {token.span()=>
        const _: () = ::core::assert!(::core::mem::size_of::<#pointee>() as u64 == #value, #text);
    })
}

fn u64_literal(value: u64) -> proc_macro2::Literal {
    proc_macro2::Literal::u64_suffixed(value)
}

/// A name that a role gives means something of the right kind.
fn expect_named(param: &Param, params: &[Param]) -> Option<TokenStream> {
    match &param.role {
        Role::Tagged { by, .. } => {
            let ty = &params.get(by.index)?.ty;
            let text = format!("the tag `{}` is not an integer", by.ident);
            Some(expect_scalar(&respan(ty, by.ident.span()), by.ident.span(), &text))
        }
        Role::KernelArgs { of, .. } => match params.get(of.index)?.role {
            Role::Value => Some(expect_handle(of, params)),
            _ => None,
        },
        Role::DefinesHostSymbol { image, .. } => Some(expect_handle(image, params)),
        _ => None,
    }
}

fn expect_scalar(ty: &impl ToTokens, span: Span, text: &str) -> TokenStream {
    quote_spanned! {span=>
        const _: () = ::core::assert!(
            ::core::matches!(
                <#ty as ::hrr_runtime::__private::Payload>::PAYLOAD.shape,
                ::hrr_runtime::__private::Shape::Scalar(_)
            ),
            #text
        );
    }
}

fn expect_handle(name: &Name, params: &[Param]) -> TokenStream {
    let ty = params.get(name.index).map(|param| respan(&param.ty, name.ident.span()));
    quote! {
        const _: &::hrr_runtime::__private::HandleDesc =
            <#ty as ::hrr_runtime::__private::Handle>::HANDLE;
    }
}

/// The tokens of a type, as if they stood at `span`: the error about a named parameter's type
/// belongs to the word that names it.
pub(super) fn respan(ty: &Type, span: Span) -> TokenStream {
    fn walk(tokens: TokenStream, span: Span) -> TokenStream {
        tokens
            .into_iter()
            .map(|mut token| {
                if let TokenTree::Group(group) = &token {
                    token = Group::new(group.delimiter(), walk(group.stream(), span)).into();
                }
                token.set_span(token.span().located_at(span));
                token
            })
            .collect()
    }
    walk(ty.to_token_stream(), span)
}
