//! The descriptor: constant data that says what the declaration says.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{ExprPath, Type};

use super::asserts::{expand_asserts, respan};
use super::capture::{expand_bind, expand_wrapper};
use super::replay::expand_invoke;
use super::{allow_list, api_ident, api_path, c_str, pointer_type, signature_of};
use crate::model::{
    ApiFn, Block, Class, Direction, Effect, Extent, Len, Name, OperandPlace, Param, Pointer, Role,
    SpaceOf, pointee_of, pointer_of,
};

// pub static API_hipFoo: ApiDesc = {
//     type __Fn = unsafe extern "C-unwind" fn(A, B) -> R;
//     #[repr(C)] struct __Args { a: A, b: B }
//     unsafe extern "C-unwind" fn __wrapper(a: A, b: B) -> R { .. }
//     unsafe fn __invoke(function: *const (), args: *const u8, ret: *mut u8) { .. }
//     #[unsafe(naked)] unsafe extern "C" fn __bind() { .. }
//     const __PARAMS: &[ParamDesc] = &[ParamDesc { name: "a", .. }, ..];
//     const _: () = assert!(..);
//     ApiDesc { slot: AtomicPtr::new(__bind as *mut ()), .., params: __PARAMS, .. }
// };
/// The descriptor and the helpers that it points at.
pub(super) fn expand_descriptor(block: &Block, function: &ApiFn) -> TokenStream {
    let (cfgs, ident) = (&function.cfgs, &function.ident);
    let api = api_ident(ident);
    let doc = format!("What the declaration says of [`{ident}`].");
    let allow = allow_list();
    let pointer = pointer_type(function);
    let signature = signature_of(function);
    let wrapper = expand_wrapper(function);
    let invoke = expand_invoke(function);
    let bind = expand_bind(function);
    let constants = expand_constants(function);
    let asserts = expand_asserts(function);
    let name = c_str(&ident.unraw().to_string());
    let aliases = function.aliases.iter().map(|alias| c_str(&alias.value()));
    let (group, library, docs) = (&block.group, &block.library, &function.docs);
    let validated = function.validated;
    let replay = function.replay.as_ref().map(|hook| &hook.path);
    let replay = expand_option(replay.map(|path| expand_half(path, "ReplayFn")));
    let ret = &function.ret;
    quote! {
        #(#cfgs)*
        #[doc = #doc]
        #allow
        pub static #api: ::hrr_runtime::__private::ApiDesc = {
            type __Fn = #pointer;
            #[repr(C)]
            struct __Args { #signature }
            #wrapper
            #invoke
            #bind
            #constants
            #asserts
            ::hrr_runtime::__private::ApiDesc {
                slot: ::hrr_runtime::__private::AtomicPtr::new(__bind as *const () as *mut ()),
                real: ::hrr_runtime::__private::AtomicPtr::new(::core::ptr::null_mut()),
                header: ::hrr_runtime::__private::AtomicU64::new(0),
                state: ::hrr_runtime::__private::AtomicU32::new(0),
                args_bytes: ::core::mem::size_of::<__Args>() as u32,
                outs_bytes: ::hrr_runtime::__private::outs_bytes_of(__PARAMS, &__RET),
                flags: ::hrr_runtime::__private::flags_of(
                    __PARAMS, &__RET, __EFFECTS, &__CLASS, &__CAPTURE
                ),
                name: #name,
                aliases: &[#(#aliases),*],
                group: #group,
                library: #library,
                validated: #validated,
                docs: #docs,
                params: __PARAMS,
                ret: __RET,
                class: __CLASS,
                effects: __EFFECTS,
                capture: __CAPTURE,
                replay: #replay,
                wrapper: ::hrr_runtime::__private::CodePtr(__wrapper as *const ()),
                bind: ::hrr_runtime::__private::CodePtr(__bind as *const ()),
                missing: <#ret as ::hrr_runtime::__private::Ret>::MISSING_FN,
                receive: ::hrr_runtime::__private::receiver!(#api, __Args, (#signature) -> #ret),
                invoke: __invoke,
            }
        };
    }
}

/// The parts of the descriptor that others are computed from.
fn expand_constants(function: &ApiFn) -> TokenStream {
    let params = function.params.iter().map(|param| {
        let machine = param.machine || function.machine.is_some();
        expand_param(param, &function.params, &quote!(__Args), machine)
    });
    let ret = &function.ret;
    let spelled = spell(ret);
    let machine = function.machine.is_some();
    let class = expand_class(function);
    let effects = function.effects.iter().map(expand_effect);
    let capture = function.capture.as_ref();
    let capture = expand_option(capture.map(|path| expand_half(path, "CaptureFn")));
    quote! {
        const __PARAMS: &[::hrr_runtime::__private::ParamDesc] = &[#(#params),*];
        const __RET: ::hrr_runtime::__private::RetDesc =
            <#ret as ::hrr_runtime::__private::Ret>::RET.declared(#spelled, #machine);
        const __CLASS: ::hrr_runtime::__private::Class = #class;
        const __EFFECTS: &[::hrr_runtime::__private::Effect] = &[#(#effects),*];
        const __CAPTURE: ::core::option::Option<::hrr_runtime::__private::CaptureFn> = #capture;
    }
}

fn expand_option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// A hand-written half. The constant has the type, so that an error about the signature is about
/// the path and nothing else.
fn expand_half(path: &ExprPath, ty: &str) -> TokenStream {
    let ty = ident(ty);
    quote!({ const __HALF: ::hrr_runtime::__private::#ty = #path; __HALF })
}

fn expand_class(function: &ApiFn) -> TokenStream {
    let class = match &function.class {
        Class::Replayed => quote!(Replayed),
        Class::Query { wait: None } => quote!(Query { wait: ::core::option::Option::None }),
        Class::Query { wait: Some(wait) } => {
            let api = api_path(&wait.path);
            quote!(Query { wait: ::core::option::Option::Some(&#api) })
        }
        Class::Ordering => quote!(Ordering),
        Class::Host { reason } => quote!(Host { reason: #reason }),
        Class::Unreplayable { reason } => quote!(Refused { reason: #reason }),
    };
    quote!(::hrr_runtime::__private::Class::#class)
}

fn expand_effect(effect: &Effect) -> TokenStream {
    let variant = ident(effect.row.variant);
    if effect.row.slots.is_empty() {
        return quote!(::hrr_runtime::__private::Effect::#variant);
    }
    let slots = effect.row.slots.iter().enumerate().map(|(i, slot)| {
        let field = ident(slot.field);
        let index = effect.names.get(i).map(expand_index);
        if slot.optional {
            let index = expand_option(index);
            quote!(#field: #index)
        } else {
            quote!(#field: #index)
        }
    });
    quote!(::hrr_runtime::__private::Effect::#variant { #(#slots),* })
}

/// One row of a list of parameters or fields; `owner` is the struct whose layout holds it.
pub(super) fn expand_param(
    param: &Param,
    params: &[Param],
    owner: &TokenStream,
    machine: bool,
) -> TokenStream {
    let (field, ty) = (&param.ident, &param.ty);
    let (name, spelled) = (field.unraw().to_string(), spell(ty));
    let role = expand_role(param, params, machine);
    quote! {
        ::hrr_runtime::__private::ParamDesc {
            name: #name,
            ty: #spelled,
            offset: ::core::mem::offset_of!(#owner, #field) as u32,
            bytes: ::core::mem::size_of::<#ty>() as u32,
            role: #role,
        }
    }
}

fn expand_role(param: &Param, params: &[Param], machine: bool) -> TokenStream {
    let ty = &param.ty;
    // `check` made sure of a pointer where a role has a pointee.
    let pointee = pointee_of(ty).unwrap_or(ty);
    let compare = if machine { quote!(Machine) } else { quote!(Exact) };
    let compare = quote!(::hrr_runtime::__private::Compare::#compare);
    let role = match &param.role {
        Role::Value => {
            let payload = expand_payload_of(ty);
            return quote!(::hrr_runtime::__private::Role::of_value(#payload));
        }
        Role::OutHandle { count } => {
            let (handle, count) = (expand_handle_of(pointee), expand_maybe_len(count));
            quote!(OutHandle { handle: #handle, count: #count })
        }
        Role::Destroys => {
            let handle = expand_handle_of(ty);
            quote!(InHandle { handle: #handle, destroys: true })
        }
        Role::Pointee { direction, count } => {
            let (payload, direction) = (expand_payload_of(pointee), expand_direction(*direction));
            let fields = quote!(direction: #direction, payload: #payload, compare: #compare);
            match count {
                None => quote!(Pointee { #fields }),
                Some(count) => {
                    let count = expand_len(count);
                    quote!(Array { #fields, count: #count })
                }
            }
        }
        Role::DevicePointerArray { count } => {
            let count = expand_len(count);
            quote!(DevicePointerArray { count: #count })
        }
        Role::String => quote!(String),
        Role::OutString { bytes } => {
            let bytes = expand_len(bytes);
            quote!(OutString { bytes: #bytes, compare: #compare })
        }
        Role::DevicePointer { frees } => quote!(DevicePointer { frees: #frees }),
        Role::OutDevicePointer { bytes } => {
            let bytes = expand_maybe_len(bytes);
            quote!(OutDevicePointer { bytes: #bytes, allocates: ::core::option::Option::None })
        }
        Role::OutAlloc { bytes, space } => {
            let bytes = expand_len(bytes);
            let space = match space {
                SpaceOf::Fixed(space) => {
                    let space = ident(space);
                    quote!(Fixed(::hrr_runtime::__private::Space::#space))
                }
                SpaceOf::Call(path) => quote!(Call(#path)),
            };
            quote!(OutDevicePointer {
                bytes: ::core::option::Option::Some(#bytes),
                allocates: ::core::option::Option::Some(::hrr_runtime::__private::SpaceOf::#space)
            })
        }
        Role::RegistersHost { bytes } => {
            let bytes = expand_len(bytes);
            quote!(RegistersHost { bytes: #bytes })
        }
        Role::UnregistersHost => quote!(UnregistersHost),
        Role::HostIn { bytes } => {
            let bytes = expand_len(bytes);
            quote!(HostIn { bytes: #bytes })
        }
        Role::HostOut { bytes, exact: _ } => {
            let bytes = expand_len(bytes);
            quote!(HostOut { bytes: #bytes, compare: #compare })
        }
        Role::Operand { side, place, extent } => {
            let side = expand_side(*side, ty);
            let place = expand_place(place, params);
            let extent = expand_extent(extent);
            quote!(Operand { side: #side, place: #place, extent: #extent })
        }
        Role::KernelArgs { of, form } => {
            let (of, form) = (expand_index(of), ident(form));
            quote!(KernelArgs {
                function: #of,
                form: ::hrr_runtime::__private::KernelArgsForm::#form
            })
        }
        Role::HostSymbol => quote!(HostSymbol),
        Role::DefinesHostSymbol { image, name } => {
            let (image, name) = (expand_index(image), expand_index(name));
            quote!(DefinesHostSymbol { image: #image, name: #name })
        }
        Role::Image(form) => {
            let form = ident(form);
            quote!(Image(::hrr_runtime::__private::ImageForm::#form))
        }
        Role::Tagged { by, table, direction } => {
            let by = expand_index(by);
            let behind = match pointee_of(ty) {
                None => quote!(::core::option::Option::None),
                Some(_) => {
                    let direction = expand_direction(*direction);
                    quote!(::core::option::Option::Some(#direction))
                }
            };
            quote!(Tagged { by: #by, table: #table, behind: #behind })
        }
        Role::JitOptions { keys, count } => expand_jit_options(keys, count, params),
        Role::Callback => quote!(Callback),
        Role::UserData => quote!(UserData),
        Role::EntryPoint { name } => {
            let name = expand_index(name);
            quote!(EntryPoint { name: #name })
        }
        Role::OsHandle { bytes } => {
            let bytes = expand_maybe_len(bytes);
            quote!(OsHandle { bytes: #bytes })
        }
        Role::Opaque { reason } => quote!(Opaque { reason: #reason }),
        Role::Device => quote!(Device),
    };
    quote!(::hrr_runtime::__private::Role::#role)
}

fn expand_payload_of(ty: &Type) -> TokenStream {
    quote!(<#ty as ::hrr_runtime::__private::Payload>::PAYLOAD)
}

fn expand_handle_of(ty: &Type) -> TokenStream {
    quote!(<#ty as ::hrr_runtime::__private::Handle>::HANDLE)
}

fn expand_jit_options(keys: &Name, count: &Len, params: &[Param]) -> TokenStream {
    let count = expand_len(count);
    let index = expand_index(keys);
    // The error about the enum belongs to the word that names it.
    let option = params.get(keys.index).and_then(|param| pointee_of(&param.ty));
    let option = option.map(|ty| respan(ty, keys.ident.span()));
    quote!(JitOptions {
        keys: #index,
        count: #count,
        table: <#option as ::hrr_runtime::__private::JitOption>::OPTIONS
    })
}

fn expand_place(place: &OperandPlace, params: &[Param]) -> TokenStream {
    let place = match place {
        OperandPlace::Fixed(place) => {
            let place = ident(place);
            quote!(Fixed(::hrr_runtime::__private::Place::#place))
        }
        OperandPlace::Kind(kind) => {
            let index = expand_index(kind);
            let ty = params.get(kind.index).map(|param| respan(&param.ty, kind.ident.span()));
            quote!(Kind(#index, <#ty as ::hrr_runtime::__private::CopyKind>::KINDS))
        }
        OperandPlace::Call(path) => quote!(Call(#path)),
    };
    quote!(::hrr_runtime::__private::OperandPlace::#place)
}

fn expand_extent(extent: &Extent) -> TokenStream {
    let extent = match extent {
        Extent::Bytes(bytes) => {
            let bytes = expand_len(bytes);
            quote!(Bytes(#bytes))
        }
        Extent::Rows { pitch, width, height } => {
            let (pitch, width, height) = (expand_len(pitch), expand_len(width), expand_len(height));
            quote!(Rows { pitch: #pitch, width: #width, height: #height })
        }
        Extent::Call(path) => quote!(Call(#path)),
    };
    quote!(::hrr_runtime::__private::Extent::#extent)
}

fn expand_side(side: Option<&str>, ty: &Type) -> TokenStream {
    let side = ident(side.unwrap_or(match pointer_of(ty) {
        Pointer::Const(_) => "Source",
        Pointer::Mut(_) | Pointer::Function | Pointer::No => "Destination",
    }));
    quote!(::hrr_runtime::__private::Side::#side)
}

fn expand_direction(direction: Direction) -> TokenStream {
    let direction = match direction {
        Direction::In => quote!(In),
        Direction::Out => quote!(Out),
        Direction::InOut => quote!(InOut),
    };
    quote!(::hrr_runtime::__private::Direction::#direction)
}

fn expand_maybe_len(length: &Option<Len>) -> TokenStream {
    expand_option(length.as_ref().map(expand_len))
}

fn expand_len(length: &Len) -> TokenStream {
    let length = match length {
        Len::Literal { value, .. } => quote!(Const(#value)),
        Len::Param(name) => {
            let index = expand_index(name);
            quote!(Param(#index))
        }
        Len::Before(name) => {
            let index = expand_index(name);
            quote!(Before(#index))
        }
        Len::After(name) => {
            let index = expand_index(name);
            quote!(After(#index))
        }
        Len::Product(lengths) => {
            let lengths = lengths.iter().map(expand_len);
            quote!(Product(&[#(#lengths),*]))
        }
        Len::Min(lengths) => {
            let lengths = lengths.iter().map(expand_len);
            quote!(Min(&[#(#lengths),*]))
        }
        Len::Call(path) => quote!(Call(#path)),
    };
    quote!(::hrr_runtime::__private::Len::#length)
}

fn expand_index(name: &Name) -> TokenStream {
    let index = name.index as u16;
    quote!(#index)
}

fn ident(word: &str) -> Ident {
    Ident::new(word, proc_macro2::Span::call_site())
}

/// What stands in for a descriptor whose declaration has errors.
pub(super) fn expand_empty_descriptor(function: &Ident) -> TokenStream {
    let api = api_ident(function);
    let name = c_str(&function.unraw().to_string());
    quote! {
        #[allow(missing_docs, reason = "the declaration has errors")]
        pub static #api: ::hrr_runtime::__private::ApiDesc = {
            unsafe fn __invoke(_: *const (), _: *const u8, _: *mut u8) {}
            const __NONE: ::hrr_runtime::__private::CodePtr =
                ::hrr_runtime::__private::CodePtr(::core::ptr::null());
            ::hrr_runtime::__private::ApiDesc {
                slot: ::hrr_runtime::__private::AtomicPtr::new(::core::ptr::null_mut()),
                real: ::hrr_runtime::__private::AtomicPtr::new(::core::ptr::null_mut()),
                header: ::hrr_runtime::__private::AtomicU64::new(0),
                state: ::hrr_runtime::__private::AtomicU32::new(0),
                args_bytes: 0,
                outs_bytes: 0,
                flags: 0,
                name: #name,
                aliases: &[],
                group: "",
                library: "",
                validated: false,
                docs: "",
                params: &[],
                ret: <() as ::hrr_runtime::__private::Ret>::RET,
                class: ::hrr_runtime::__private::Class::Replayed,
                effects: &[],
                capture: ::core::option::Option::None,
                replay: ::core::option::Option::None,
                wrapper: __NONE,
                bind: __NONE,
                missing: __NONE,
                receive: __NONE,
                invoke: __invoke,
            }
        };
    }
}

/// The type as a person spells it: what the compiler puts between tokens differs from place to
/// place.
pub(crate) fn spell(ty: &Type) -> String {
    let mut text = String::new();
    spell_into(ty.to_token_stream(), &mut text);
    text
}

fn spell_into(tokens: TokenStream, text: &mut String) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                spell_into(group.stream(), text);
                text.push_str(close);
            }
            TokenTree::Punct(punct) => match punct.as_char() {
                mark @ (',' | ';') => text.extend([mark, ' ']),
                // `->`: the type that a function pointer returns.
                '-' => text.push_str(" -"),
                '>' if text.ends_with('-') => text.push_str("> "),
                mark => text.push(mark),
            },
            word => {
                let word = word.to_string();
                if text.ends_with(is_word) {
                    text.push(' ');
                }
                text.push_str(&word);
            }
        }
    }
}
