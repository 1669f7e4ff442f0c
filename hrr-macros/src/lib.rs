//! The compiler for annotated HIP declarations: `#[api]` on a block of C functions, and
//! `#[derive(Payload)]` on the structs that cross.
//!
//! Stages: `parse` makes the model, by the table of words in `attr` and the parser that it drives in
//! `args`; `check` holds facts of the
//! model against each other; `expand` turns the model into tokens and cannot fail. Errors of a
//! whole block are collected, and the plain declarations stand beside them, so that one compile
//! tells everything and nothing else.
//!
//! # A block
//!
//! One block in a module, at module level. Next to each function stands its descriptor
//! `API_name`; next to all of them `APIS` (the table) and `raw` (calls of the live runtime that no
//! recording sees). The crate calls the crate with the engine `hrr_runtime`.
//!
//! ```
//! use core::ffi::{c_char, c_uint, c_void};
//! use hrr_macros::{Payload, api};
//! # hrr_runtime::handle! { pub struct hipGraph_t; pub struct hipGraphNode_t; pub struct hipStream_t; }
//! # hrr_runtime::c_enum! { pub enum hipError_t: u32 { hipSuccess = 0, } }
//! # hrr_runtime::c_enum! { pub enum hipMemcpyKind: u32 { hipMemcpyDefault = 4, } }
//! # unsafe impl hrr_runtime::arg::Ret for hipError_t {
//! #     const RET: hrr_runtime::desc::RetDesc = <() as hrr_runtime::arg::Ret>::RET;
//! #     const MISSING: Self = hipError_t(801);
//! # }
//! # unsafe impl hrr_runtime::arg::CopyKind for hipMemcpyKind {
//! #     const KINDS: &'static hrr_runtime::desc::CopyKinds = &hrr_runtime::desc::CopyKinds { rows: &[] };
//! # }
//!
//! /// A struct that crosses: pointers and handles in it have roles like parameters.
//! #[repr(C)]
//! #[derive(Clone, Copy, Payload)]
//! pub struct hipMemsetParams {
//!     #[device_ptr]
//!     dst: *mut c_void,
//!     value: c_uint,
//!     width: usize,
//! }
//!
//! #[api(group = "example")]
//! unsafe extern "C" {
//!     /// A plain parameter says what it is by its type; a raw pointer needs a word.
//!     pub fn hipGraphAddMemsetNode(
//!         #[out_handle] pGraphNode: *mut hipGraphNode_t,
//!         graph: hipGraph_t,
//!         #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
//!         numDependencies: usize,
//!         #[deref] pMemsetParams: *const hipMemsetParams,
//!     ) -> hipError_t;
//!
//!     /// The two sides of a copy; which is which follows from `*mut` and `*const`.
//!     #[effect(enqueues = stream)]
//!     pub fn hipMemcpyAsync(
//!         #[operand(kind = kind, bytes = sizeBytes)] dst: *mut c_void,
//!         #[operand(kind = kind, bytes = sizeBytes)] src: *const c_void,
//!         sizeBytes: usize,
//!         kind: hipMemcpyKind,
//!         stream: hipStream_t,
//!     ) -> hipError_t;
//!
//!     /// Writes exactly 8 bytes; an array of another size would not compile.
//!     pub fn hipDeviceGetLuid(
//!         #[out_buffer(bytes = 8)] luid: *mut [c_char; 8],
//!         #[out] deviceNodeMask: *mut c_uint,
//!         #[device] device: c_uint,
//!     ) -> hipError_t;
//!
//!     /// Asked for its state, replay waits where the recording saw the end.
//!     #[query(wait = hipStreamSynchronize)]
//!     pub fn hipStreamQuery(stream: hipStream_t) -> hipError_t;
//!
//!     /// Waits.
//!     #[effect(completes_stream = stream)]
//!     pub fn hipStreamSynchronize(stream: hipStream_t) -> hipError_t;
//!
//!     /// Refused by name.
//!     #[unreplayable(reason = "the handle belongs to the process that exported it")]
//!     #[alias("_Z10hipIpcOpenPv")]
//!     pub fn hipIpcOpen(#[os_handle(bytes = 64)] handle: *const c_void) -> hipError_t;
//! }
//! # fn main() { assert_eq!(APIS.len(), 6); }
//! ```
//!
//! # Lengths
//!
//! `LENGTH` is a literal, the name of an integer parameter or field, `before(p)` or `after(p)` (the
//! integer behind the pointer `p`, as the call finds or leaves it), a product `a * b`, a minimum
//! `min(a, b)`, or the path of a function `fn(&Scope) -> Option<u64>`. **A path with `::` is a
//! function, a single word is a name**: a function of the same module is `self::name`. Every value may
//! also stand in a string; the bare form has the better error, because the error then underlines
//! the word.
//!
//! ```text
//! #[out(count = min(before(numResults), after(numResults)), machine)] results: *mut u32
//! #[host_in(bytes = "width * height")] pixels: *const c_void
//! #[host_out(bytes = crate::families::image::log_bytes)] log: *mut c_void
//! ```
//!
//! # Conditions
//!
//! `#[cfg(..)]` on a function is copied to everything made for it. On a parameter it is refused: a
//! function has one signature.
//!
//! # The words
//!
#![doc = include_str!("words.md")]

mod args;
mod attr;
mod check;
mod errors;
mod expand;
mod length;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

use errors::Errors;

/// Compiles a block of annotated declarations; see the documentation of the crate.
///
/// `group` names the group of the header, and so the macro `__hrr_names_group` by which libraries
/// export the names; `library` says which library has the functions, where it is not the main one.
#[proc_macro_attribute]
pub fn api(args: TokenStream, item: TokenStream) -> TokenStream {
    api_tokens(args.into(), item.into()).into()
}

/// Describes a `#[repr(C)]` struct that crosses the ABI; see the documentation of the crate.
#[proc_macro_derive(
    Payload,
    attributes(
        out_handle,
        deref,
        inout,
        out,
        string,
        out_str,
        device_ptr,
        out_device_ptr,
        out_alloc,
        host_in,
        host_out,
        out_buffer,
        operand,
        kernel_args,
        host_symbol,
        code_image,
        tagged,
        jit_options,
        callback,
        user_data,
        os_handle,
        opaque,
        device
    )
)]
pub fn payload(item: TokenStream) -> TokenStream {
    payload_tokens(item.into()).into()
}

fn api_tokens(
    args: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    let item: syn::ItemForeignMod = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = error.to_compile_error();
            return quote::quote!(#error #item);
        }
    };
    let mut errors = Errors::new();
    let block = parse::parse_block(args, &item, &mut errors);
    check::check_block(&block, &mut errors);
    match errors.finish() {
        Ok(()) => expand::expand_block(&block),
        Err(mut tokens) => {
            tokens.extend(expand::expand_block_fallback(&item));
            tokens
        }
    }
}

fn payload_tokens(item: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let input: syn::DeriveInput = match syn::parse2(item) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::new();
    let payload = parse::parse_payload(&input, &mut errors);
    check::check_payload(&payload, &mut errors);
    match errors.finish() {
        Ok(()) => expand::expand_payload(&payload),
        Err(mut tokens) => {
            // An implementation without the generics would only bring errors of its own.
            if input.generics.params.is_empty() {
                tokens.extend(expand::expand_payload_fallback(&payload));
            }
            tokens
        }
    }
}
