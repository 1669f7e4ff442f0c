//! From the model to tokens. Nothing here can fail, and nothing here reads an attribute.
//!
//! An expansion has no logic: it is constant data, and calls of `::hrr_runtime::__private`.
//! Helpers live inside the initializer of the descriptor, so a declaration adds only the names
//! `API_name`, `name` and `raw::name` to its module.

mod asserts;
mod capture;
mod desc;
mod payload;
mod replay;

pub(crate) use payload::{expand_payload, expand_payload_fallback};

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{FnArg, ForeignItem, ItemForeignMod, Pat, Path, Token, Type};

use crate::model::{ApiFn, Block};

/// The lints that an expansion does not owe its module: names are the header's, and the contract of
/// each function is the vendor's.
fn allow_list() -> TokenStream {
    quote! {
        #[allow(
            clippy::missing_safety_doc,
            clippy::too_many_arguments,
            non_snake_case,
            non_upper_case_globals,
            unused_qualifications,
            reason = "generated from a C declaration"
        )]
    }
}

/// Everything that a block becomes.
pub(crate) fn expand_block(block: &Block) -> TokenStream {
    let functions = block.functions.iter().map(|function| expand_function(block, function));
    let rows = block.functions.iter().map(|function| {
        let cfgs = &function.cfgs;
        let api = api_ident(&function.ident);
        quote!(#(#cfgs)* &#api)
    });
    let raws = block.functions.iter().map(replay::expand_raw);
    let names = expand_names(block);
    let allow = allow_list();
    let table_doc = format!("The functions of the group `{}`.", block.group);
    quote! {
        #(#functions)*

        #[doc = #table_doc]
        pub static APIS: ::hrr_runtime::__private::Table = &[#(#rows),*];

        #[doc = "The functions of the live runtime, called without being recorded."]
        #allow
        pub mod raw {
            use super::*;
            #(#raws)*
        }

        #names
    }
}

// pub static API_hipFoo: ApiDesc = { /* desc, capture, replay, asserts */ };
// pub unsafe extern "C" fn hipFoo(a: A, b: B) -> R { jmp *[API_hipFoo] }
fn expand_function(block: &Block, function: &ApiFn) -> TokenStream {
    let descriptor = desc::expand_descriptor(block, function);
    let export = capture::expand_export(function);
    quote! { #descriptor #export }
}

/// The name of a function's descriptor.
fn api_ident(function: &Ident) -> Ident {
    format_ident!("API_{}", function, span = function.span())
}

/// The path of the descriptor of the function at a path.
fn api_path(path: &Path) -> Path {
    let mut path = path.clone();
    if let Some(last) = path.segments.last_mut() {
        last.ident = api_ident(&last.ident);
    }
    path
}

/// A C string literal.
fn c_str(text: &str) -> Literal {
    // A name has no NUL: identifiers cannot, and the table of words refuses it in symbols.
    let bytes: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
    Literal::c_string(&std::ffi::CString::new(bytes).unwrap_or_default())
}

/// `name: T` for each parameter.
fn signature_of(function: &ApiFn) -> TokenStream {
    let params = function.params.iter().map(|param| {
        let (ident, ty) = (&param.ident, &param.ty);
        quote!(#ident: #ty)
    });
    quote!(#(#params),*)
}

/// The type of a pointer to the function.
fn pointer_type(function: &ApiFn) -> TokenStream {
    let types = function.params.iter().map(|param| &param.ty);
    let ret = &function.ret;
    quote!(unsafe extern "C-unwind" fn(#(#types),*) -> #ret)
}

/// The type as it must be spelled one module further down.
fn one_module_down(ty: &Type) -> Type {
    struct Descend;
    impl VisitMut for Descend {
        fn visit_path_mut(&mut self, path: &mut Path) {
            visit_mut::visit_path_mut(self, path);
            let Some(first) = path.segments.first() else { return };
            let span = first.ident.span();
            if path.leading_colon.is_some() {
                return;
            }
            if first.ident == "self" {
                path.segments[0].ident = Ident::new("super", span);
            } else if first.ident == "super" {
                path.segments.insert(0, syn::PathSegment::from(Ident::new("super", span)));
            }
        }
    }
    let mut ty = ty.clone();
    Descend.visit_type_mut(&mut ty);
    ty
}

// #[macro_export] macro_rules! __hrr_names_graph {
//     ($callback:path, $($rest:tt)*) => {
//         $callback! { $($rest)*; hipFoo => API_hipFoo, alias "_Z3foo" => API_hipFoo, }
//     };
// }
/// The names of the block, for the libraries that export them. A function with a `cfg` is handed to
/// the callback on its own, because only this crate can tell whether it is there.
fn expand_names(block: &Block) -> TokenStream {
    let group = &block.group;
    let macro_name = format_ident!("__hrr_names_{group}");
    let always = block.functions.iter().filter(|function| function.cfgs.is_empty()).map(entries_of);
    let conditional: Vec<(Ident, &ApiFn)> = block
        .functions
        .iter()
        .enumerate()
        .filter(|(_, function)| !function.cfgs.is_empty())
        .map(|(i, function)| (format_ident!("__hrr_names_{group}_{i}"), function))
        .collect();
    let helpers = conditional.iter().map(|(name, function)| {
        let entries = entries_of(function);
        let predicates: Vec<TokenStream> = function
            .cfgs
            .iter()
            .filter_map(|cfg| cfg.meta.require_list().ok())
            .map(|list| list.tokens.clone())
            .collect();
        quote! {
            #[cfg(all(#(#predicates),*))]
            #[doc(hidden)]
            #[macro_export]
            macro_rules! #name {
                ($callback:path, $($rest:tt)*) => { $callback! { $($rest)*; #entries } };
            }
            #[cfg(not(all(#(#predicates),*)))]
            #[doc(hidden)]
            #[macro_export]
            macro_rules! #name {
                ($callback:path, $($rest:tt)*) => {};
            }
        }
    });
    let calls = conditional.iter().map(|(name, _)| quote!($crate::#name! { $callback, $($rest)* }));
    quote! {
        #(#helpers)*
        #[doc(hidden)]
        #[macro_export]
        macro_rules! #macro_name {
            ($callback:path, $($rest:tt)*) => {
                $callback! { $($rest)*; #(#always)* }
                #(#calls)*
            };
        }
    }
}

fn entries_of(function: &ApiFn) -> TokenStream {
    let (name, api, aliases) = (&function.ident, api_ident(&function.ident), &function.aliases);
    quote!(#name => #api, #(alias #aliases => #api,)*)
}

/// What stands beside the errors: the declarations themselves, so that callers see no second wave
/// of errors.
pub(crate) fn expand_block_fallback(item: &ItemForeignMod) -> TokenStream {
    let allow = allow_list();
    let mut plain = Vec::new();
    let mut raws = Vec::new();
    let mut descriptors = Vec::new();
    for (i, function) in item.items.iter().enumerate() {
        let ForeignItem::Fn(function) = function else { continue };
        if !function.sig.generics.params.is_empty() || function.sig.receiver().is_some() {
            continue;
        }
        let mut function = function.clone();
        let again = function.attrs.iter().all(|attribute| !attribute.path().is_ident("cfg"))
            && item.items[..i].iter().any(|earlier| {
                matches!(earlier, ForeignItem::Fn(earlier) if earlier.sig.ident == function.sig.ident)
            });
        if again {
            continue;
        }
        function.attrs.retain(|attribute| attribute.path().is_ident("cfg"));
        function.sig.safety = syn::Safety::Default;
        function.vis = syn::parse_quote!(pub);
        let inputs: Punctuated<FnArg, Token![,]> =
            std::mem::take(&mut function.sig.inputs).into_iter().map(plain_input).collect();
        function.sig.inputs = inputs;
        let (cfgs, ident) = (&function.attrs, &function.sig.ident);
        raws.push(quote!(#(#cfgs)* pub use super::#ident;));
        let descriptor = desc::expand_empty_descriptor(ident);
        descriptors.push(quote!(#(#cfgs)* #allow #descriptor));
        plain.push(function.to_token_stream());
    }
    quote! {
        #allow
        #[allow(missing_docs, reason = "the declaration has errors")]
        unsafe extern "C" { #(#plain)* }
        #(#descriptors)*
        #[allow(missing_docs, reason = "the declaration has errors")]
        pub static APIS: ::hrr_runtime::__private::Table = &[];
        #[allow(missing_docs, reason = "the declaration has errors")]
        pub mod raw { #(#raws)* }
    }
}

/// A parameter without attributes, under a plain name or none.
fn plain_input(mut input: FnArg) -> FnArg {
    match &mut input {
        FnArg::Receiver(receiver) => receiver.attrs.clear(),
        FnArg::Typed(input) => {
            input.attrs.clear();
            *input.pat = match &*input.pat {
                Pat::Ident(pat) => {
                    let ident = &pat.ident;
                    syn::parse_quote!(#ident)
                }
                _ => syn::parse_quote!(_),
            };
        }
    }
    input
}
