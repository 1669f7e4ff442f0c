//! The compiler for annotated HIP declarations.

mod attr;
mod check;
mod errors;
mod expand;
mod model;
mod parse;

use proc_macro::TokenStream;

use errors::Errors;

/// Compiles a block of annotated declarations.
#[proc_macro_attribute]
pub fn api(args: TokenStream, item: TokenStream) -> TokenStream {
    api_tokens(args.into(), item.into()).into()
}

/// Describes a `#[repr(C)]` struct that crosses the ABI.
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
            tokens.extend(expand::expand_payload_fallback(&payload));
            tokens
        }
    }
}
