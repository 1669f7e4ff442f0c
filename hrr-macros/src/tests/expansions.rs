//! What blocks and structs become.
//!
//! Method: the macro is called as a function, its output printed by prettyplease and compared with
//! what stands here or in a file; `UPDATE_EXPECT=1` writes it. Whole blocks in files; for single
//! words only the parts of the descriptor that they change.

use expect_test::{Expect, ExpectFile, expect, expect_file};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::visit::{self, Visit};

use crate::{api_tokens, payload_tokens};

fn print(tokens: TokenStream) -> String {
    let file = syn::parse2(tokens.clone()).unwrap_or_else(|error| panic!("{error}: {tokens}"));
    prettyplease::unparse(&file)
}

fn check_block(block: TokenStream, expected: ExpectFile) {
    expected.assert_eq(&print(api_tokens(quote!(group = "graph"), block)));
}

/// The parts of a descriptor that the words of a declaration change, as constants.
#[derive(Default)]
struct Parts(TokenStream);

impl<'ast> Visit<'ast> for Parts {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        let (name, ty, expr) = (&item.ident, &item.ty, &item.expr);
        match name.to_string().as_str() {
            "__PARAMS" => visit::visit_expr(self, expr),
            "__RET" | "__CAPTURE" => {}
            // Plain functions have neither a class nor effects.
            "__CLASS" if quote!(#expr).to_string().ends_with("Replayed") => {}
            "__EFFECTS"
                if matches!(&**expr, syn::Expr::Reference(list)
                if matches!(&*list.expr, syn::Expr::Array(list) if list.elems.is_empty())) => {}
            _ => self.0.extend(quote!(const #name: #ty = #expr;)),
        }
    }

    fn visit_expr_struct(&mut self, item: &'ast syn::ExprStruct) {
        let field = |wanted: &str| {
            let named = |field: &&syn::FieldValue| matches!(&field.member, syn::Member::Named(name) if name == wanted);
            item.fields.iter().find(named).map(|field| &field.expr)
        };
        if item.path.segments.last().is_some_and(|segment| segment.ident == "ParamDesc") {
            let name = match field("name") {
                Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. })) => name.value(),
                other => panic!("a name that is no literal: {}", quote!(#other)),
            };
            let (name, role) = (format_ident!("{name}"), field("role"));
            self.0.extend(quote!(const #name: Role = #role;));
        } else {
            visit::visit_expr_struct(self, item);
        }
    }
}

fn parts_of(tokens: TokenStream) -> String {
    let file: syn::File = syn::parse2(tokens).unwrap();
    let mut parts = Parts::default();
    parts.visit_file(&file);
    print(parts.0).replace("::hrr_runtime::__private::", "")
}

/// The parts of one function.
fn check_function(function: TokenStream, expected: Expect) {
    let tokens = api_tokens(quote!(group = "g"), quote!(unsafe extern "C" { #function }));
    expected.assert_eq(&parts_of(tokens));
}

#[test]
fn a_plain_block() {
    check_block(
        quote! {
            unsafe extern "C" {
                /// Adds an empty node.
                #[alias("_Z20hipGraphAddEmptyNode")]
                pub fn hipGraphAddEmptyNode(
                    #[out_handle] node: *mut hipGraphNode_t,
                    graph: hipGraph_t,
                ) -> hipError_t;
            }
        },
        expect_file!["expected/block.rs"],
    );
}

#[test]
fn values_and_handles() {
    check_function(
        quote! {
            pub fn f(
                number: u32,
                extent: hipExtent,
                #[destroys] event: hipEvent_t,
                #[device] device: hipDevice_t,
                #[out_handle] stream: *mut hipStream_t,
                #[out_handle(count = number)] nodes: *mut hipGraphNode_t,
            );
        },
        expect![[r#"
            const number: Role = Role::of_value(
                <u32 as Payload>::PAYLOAD,
            );
            const extent: Role = Role::of_value(
                <hipExtent as Payload>::PAYLOAD,
            );
            const event: Role = Role::InHandle {
                handle: <hipEvent_t as Handle>::HANDLE,
                destroys: true,
            };
            const device: Role = Role::Device;
            const stream: Role = Role::OutHandle {
                handle: <hipStream_t as Handle>::HANDLE,
                count: ::core::option::Option::None,
            };
            const nodes: Role = Role::OutHandle {
                handle: <hipGraphNode_t as Handle>::HANDLE,
                count: ::core::option::Option::Some(Len::Param(0u16)),
            };
            const _: () = ::core::assert!(
                ::core::matches!(< hipDevice_t as Payload > ::PAYLOAD
                .shape, Shape::Scalar(_)), "`#[device]` takes an integer"
            );
            const _: () = <u32 as Count>::COUNTS;
        "#]],
    );
}

#[test]
fn pointees() {
    check_function(
        quote! {
            pub fn f(
                #[deref] input: *const hipMemcpy3DParms,
                #[inout(machine)] both: *mut u32,
                #[out] output: *mut u32,
                #[deref(count = 3)] array: *const u32,
                #[deref(count = 4, each = device_ptr)] addresses: *const *mut c_void,
                #[string] name: *const c_char,
                #[out_str(bytes = 64, machine)] text: *mut c_char,
            );
        },
        expect![[r#"
            const input: Role = Role::Pointee {
                direction: Direction::In,
                payload: <hipMemcpy3DParms as Payload>::PAYLOAD,
                compare: Compare::Exact,
            };
            const both: Role = Role::Pointee {
                direction: Direction::InOut,
                payload: <u32 as Payload>::PAYLOAD,
                compare: Compare::Machine,
            };
            const output: Role = Role::Pointee {
                direction: Direction::Out,
                payload: <u32 as Payload>::PAYLOAD,
                compare: Compare::Exact,
            };
            const array: Role = Role::Array {
                direction: Direction::In,
                payload: <u32 as Payload>::PAYLOAD,
                compare: Compare::Exact,
                count: Len::Const(3u64),
            };
            const addresses: Role = Role::DevicePointerArray {
                count: Len::Const(4u64),
            };
            const name: Role = Role::String;
            const text: Role = Role::OutString {
                bytes: Len::Const(64u64),
                compare: Compare::Machine,
            };
        "#]],
    );
}

#[test]
fn host_bytes() {
    check_function(
        quote! {
            pub fn f(
                size: usize,
                #[host_in(bytes = size)] input: *const c_void,
                #[host_out(bytes = size, machine)] output: *mut c_void,
                #[out_buffer(bytes = 8)] luid: *mut [c_char; 8],
                #[os_handle] fd: c_int,
                #[os_handle(bytes = 64)] ipc: *mut hipIpcMemHandle_t,
                #[opaque(reason = "reserved")] reserved: *mut c_void,
            );
        },
        expect![[r#"
            const size: Role = Role::of_value(
                <usize as Payload>::PAYLOAD,
            );
            const input: Role = Role::HostIn {
                bytes: Len::Param(0u16),
            };
            const output: Role = Role::HostOut {
                bytes: Len::Param(0u16),
                compare: Compare::Machine,
            };
            const luid: Role = Role::HostOut {
                bytes: Len::Const(8u64),
                compare: Compare::Exact,
            };
            const fd: Role = Role::OsHandle {
                bytes: ::core::option::Option::None,
            };
            const ipc: Role = Role::OsHandle {
                bytes: ::core::option::Option::Some(Len::Const(64u64)),
            };
            const reserved: Role = Role::Opaque {
                reason: "reserved",
            };
            const _: () = <usize as Count>::COUNTS;
            const _: () = <usize as Count>::COUNTS;
            const _: () = ::core::assert!(
                ::core::mem::size_of:: < [c_char; 8] > () as u64 == 8u64,
                "`#[out_buffer(bytes = 8)]`: `[c_char; 8]` does not have 8 bytes"
            );
        "#]],
    );
}

#[test]
fn addresses() {
    check_function(
        quote! {
            pub fn f(
                size: usize,
                #[device_ptr] raw: *mut c_void,
                #[frees] alias: hipDeviceptr_t,
                #[out_device_ptr] base: *mut hipDeviceptr_t,
                #[out_device_ptr(bytes = size)] range: *mut *mut c_void,
                #[out_alloc(bytes = size, space = managed)] fresh: *mut *mut c_void,
                #[registers_host(bytes = size)] host: *mut c_void,
                #[unregisters_host] gone: *mut c_void,
            );
        },
        expect![[r#"
            const size: Role = Role::of_value(
                <usize as Payload>::PAYLOAD,
            );
            const raw: Role = Role::DevicePointer {
                frees: false,
            };
            const alias: Role = Role::DevicePointer {
                frees: true,
            };
            const base: Role = Role::OutDevicePointer {
                bytes: ::core::option::Option::None,
                allocates: ::core::option::Option::None,
            };
            const range: Role = Role::OutDevicePointer {
                bytes: ::core::option::Option::Some(Len::Param(0u16)),
                allocates: ::core::option::Option::None,
            };
            const fresh: Role = Role::OutDevicePointer {
                bytes: ::core::option::Option::Some(Len::Param(0u16)),
                allocates: ::core::option::Option::Some(
                    SpaceOf::Fixed(
                        Space::Managed,
                    ),
                ),
            };
            const host: Role = Role::RegistersHost {
                bytes: Len::Param(0u16),
            };
            const gone: Role = Role::UnregistersHost;
            const _: () = ::core::assert!(
                ::core::mem::size_of:: < hipDeviceptr_t > () == ::core::mem::size_of:: < * const () >
                (), "`#[frees]` takes a pointer: `hipDeviceptr_t` has another size"
            );
            const _: () = ::core::assert!(
                ::core::mem::size_of:: < hipDeviceptr_t > () == ::core::mem::size_of:: < * const () >
                (), "`#[out_device_ptr]` takes a pointer: `hipDeviceptr_t` has another size"
            );
            const _: () = <usize as Count>::COUNTS;
            const _: () = <usize as Count>::COUNTS;
            const _: () = <usize as Count>::COUNTS;
        "#]],
    );
}

#[test]
fn operands() {
    check_function(
        quote! {
            pub fn f(
                kind: hipMemcpyKind,
                size: usize,
                #[operand(kind = kind, bytes = size)] dst: *mut c_void,
                #[operand(place = host, rows(pitch = 64, width = size, height = 2))]
                src: *const c_void,
                #[operand(place = crate::place_of, rect = rect_of, side = source)]
                alias: hipDeviceptr_t,
            );
        },
        expect![[r#"
            const kind: Role = Role::of_value(
                <hipMemcpyKind as Payload>::PAYLOAD,
            );
            const size: Role = Role::of_value(
                <usize as Payload>::PAYLOAD,
            );
            const dst: Role = Role::Operand {
                side: Side::Destination,
                place: OperandPlace::Kind(
                    0u16,
                    <hipMemcpyKind as CopyKind>::KINDS,
                ),
                extent: Extent::Bytes(
                    Len::Param(1u16),
                ),
            };
            const src: Role = Role::Operand {
                side: Side::Source,
                place: OperandPlace::Fixed(
                    Place::Host,
                ),
                extent: Extent::Rows {
                    pitch: Len::Const(64u64),
                    width: Len::Param(1u16),
                    height: Len::Const(2u64),
                },
            };
            const alias: Role = Role::Operand {
                side: Side::Source,
                place: OperandPlace::Call(crate::place_of),
                extent: Extent::Call(rect_of),
            };
            const _: () = <usize as Count>::COUNTS;
            const _: () = <usize as Count>::COUNTS;
            const _: () = ::core::assert!(
                ::core::mem::size_of:: < hipDeviceptr_t > () == ::core::mem::size_of:: < * const () >
                (), "`#[operand]` takes a pointer: `hipDeviceptr_t` has another size"
            );
        "#]],
    );
}

#[test]
fn kernels_and_code() {
    check_function(
        quote! {
            pub fn f(
                kernel: hipFunction_t,
                modules: hipFatBinary_t,
                #[kernel_args(of = kernel)] args: *mut *mut c_void,
                #[kernel_args(of = stub, form = extra)] extra: *mut *mut c_void,
                #[host_symbol] stub: *const c_void,
                #[string] name: *const c_char,
                #[defines_host_symbol(image = modules, name = name)] shadow: *mut c_void,
                #[code_image] image: *const c_void,
                #[code_image(wrapper)] wrapper: *const c_void,
                #[code_image(file)] file: *const c_char,
                #[deref(count = 2)] options: *mut hipJitOption,
                #[jit_options(keys = options, count = 2)] values: *mut *mut c_void,
            );
        },
        expect![[r#"
            const kernel: Role = Role::of_value(
                <hipFunction_t as Payload>::PAYLOAD,
            );
            const modules: Role = Role::of_value(
                <hipFatBinary_t as Payload>::PAYLOAD,
            );
            const args: Role = Role::KernelArgs {
                function: 0u16,
                form: KernelArgsForm::Pointers,
            };
            const extra: Role = Role::KernelArgs {
                function: 4u16,
                form: KernelArgsForm::Extra,
            };
            const stub: Role = Role::HostSymbol;
            const name: Role = Role::String;
            const shadow: Role = Role::DefinesHostSymbol {
                image: 1u16,
                name: 5u16,
            };
            const image: Role = Role::Image(
                ImageForm::Data,
            );
            const wrapper: Role = Role::Image(
                ImageForm::Wrapper,
            );
            const file: Role = Role::Image(
                ImageForm::File,
            );
            const options: Role = Role::Array {
                direction: Direction::In,
                payload: <hipJitOption as Payload>::PAYLOAD,
                compare: Compare::Exact,
                count: Len::Const(2u64),
            };
            const values: Role = Role::JitOptions {
                keys: 10u16,
                count: Len::Const(2u64),
                table: <hipJitOption as JitOption>::OPTIONS,
            };
            const _: &HandleDesc = <hipFunction_t as Handle>::HANDLE;
            const _: &HandleDesc = <hipFatBinary_t as Handle>::HANDLE;
        "#]],
    );
}

#[test]
fn tags_callbacks_and_entry_points() {
    check_function(
        quote! {
            pub fn f(
                attr: hipAttr,
                #[tagged(by = attr, table = tags::ATTRS)] input: *const c_void,
                #[tagged(by = attr, table = tags::ATTRS, out)] output: *mut c_void,
                #[tagged(by = attr, table = tags::ATTRS)] by_value: hipAttrValue,
                #[callback] func: Option<unsafe extern "C" fn(*mut c_void)>,
                #[user_data] data: *mut c_void,
                #[string] symbol: *const c_char,
                #[out_entry_point(name = symbol)] entry: *mut *mut c_void,
            );
        },
        expect![[r#"
            const attr: Role = Role::of_value(
                <hipAttr as Payload>::PAYLOAD,
            );
            const input: Role = Role::Tagged {
                by: 0u16,
                table: tags::ATTRS,
                behind: ::core::option::Option::Some(Direction::In),
            };
            const output: Role = Role::Tagged {
                by: 0u16,
                table: tags::ATTRS,
                behind: ::core::option::Option::Some(Direction::Out),
            };
            const by_value: Role = Role::Tagged {
                by: 0u16,
                table: tags::ATTRS,
                behind: ::core::option::Option::None,
            };
            const func: Role = Role::Callback;
            const data: Role = Role::UserData;
            const symbol: Role = Role::String;
            const entry: Role = Role::EntryPoint {
                name: 6u16,
            };
            const _: () = ::core::assert!(
                ::core::matches!(< hipAttr as Payload > ::PAYLOAD.shape,
                Shape::Scalar(_)), "the tag `attr` is not an integer"
            );
            const _: () = ::core::assert!(
                ::core::matches!(< hipAttr as Payload > ::PAYLOAD.shape,
                Shape::Scalar(_)), "the tag `attr` is not an integer"
            );
            const _: () = ::core::assert!(
                ::core::matches!(< hipAttr as Payload > ::PAYLOAD.shape,
                Shape::Scalar(_)), "the tag `attr` is not an integer"
            );
        "#]],
    );
}

#[test]
fn lengths() {
    check_function(
        quote! {
            pub fn f(
                a: usize,
                b: u32,
                #[inout] p: *mut usize,
                #[host_in(bytes = a * b * 4)] product: *const c_void,
                #[host_in(bytes = "a * b")] string: *const c_void,
                #[host_in(bytes = min(a, (b * 2)))] minimum: *const c_void,
                #[host_in(bytes = before(p))] before: *const c_void,
                #[host_in(bytes = "after(p)")] after: *const c_void,
                #[host_in(bytes = crate::lengths::image)] call: *const c_void,
            );
        },
        expect![[r#"
            const a: Role = Role::of_value(
                <usize as Payload>::PAYLOAD,
            );
            const b: Role = Role::of_value(
                <u32 as Payload>::PAYLOAD,
            );
            const p: Role = Role::Pointee {
                direction: Direction::InOut,
                payload: <usize as Payload>::PAYLOAD,
                compare: Compare::Exact,
            };
            const product: Role = Role::HostIn {
                bytes: Len::Product(
                    &[
                        Len::Param(0u16),
                        Len::Param(1u16),
                        Len::Const(4u64),
                    ],
                ),
            };
            const string: Role = Role::HostIn {
                bytes: Len::Product(
                    &[
                        Len::Param(0u16),
                        Len::Param(1u16),
                    ],
                ),
            };
            const minimum: Role = Role::HostIn {
                bytes: Len::Min(
                    &[
                        Len::Param(0u16),
                        Len::Product(
                            &[
                                Len::Param(1u16),
                                Len::Const(2u64),
                            ],
                        ),
                    ],
                ),
            };
            const before: Role = Role::HostIn {
                bytes: Len::Before(2u16),
            };
            const after: Role = Role::HostIn {
                bytes: Len::After(2u16),
            };
            const call: Role = Role::HostIn {
                bytes: Len::Call(crate::lengths::image),
            };
            const _: () = <usize as Count>::COUNTS;
            const _: () = <u32 as Count>::COUNTS;
            const _: () = <usize as Count>::COUNTS;
            const _: () = <u32 as Count>::COUNTS;
            const _: () = <usize as Count>::COUNTS;
            const _: () = <u32 as Count>::COUNTS;
            const _: () = <usize as Count>::COUNTS;
            const _: () = <usize as Count>::COUNTS;
        "#]],
    );
}

#[test]
fn classes_and_effects() {
    for (function, expected) in [
        (
            quote! {
                #[query(wait = super::stream::hipStreamSynchronize)]
                #[effect(completes_stream = s)]
                pub fn query(s: hipStream_t) -> hipError_t;
            },
            expect![[r#"
                const s: Role = Role::of_value(
                    <hipStream_t as Payload>::PAYLOAD,
                );
                const __CLASS: Class = Class::Query {
                    wait: ::core::option::Option::Some(&super::stream::API_hipStreamSynchronize),
                };
                const __EFFECTS: &[Effect] = &[
                    Effect::CompletesStream {
                        stream: 0u16,
                    },
                ];
                const _: &HandleDesc = <hipStream_t as Handle>::HANDLE;
                const _: unsafe extern "C" fn(hipStream_t) -> hipError_t = super::stream::hipStreamSynchronize;
            "#]],
        ),
        (
            quote! {
                #[ordering]
                #[effect(enqueues = s, records_event = e)]
                #[effect(records_event = (e, s), launches)]
                pub fn ordering(s: hipStream_t, e: hipEvent_t);
            },
            expect![[r#"
                const s: Role = Role::of_value(
                    <hipStream_t as Payload>::PAYLOAD,
                );
                const e: Role = Role::of_value(
                    <hipEvent_t as Payload>::PAYLOAD,
                );
                const __CLASS: Class = Class::Ordering;
                const __EFFECTS: &[Effect] = &[
                    Effect::Enqueues {
                        stream: 0u16,
                    },
                    Effect::RecordsEvent {
                        event: 1u16,
                        stream: ::core::option::Option::None,
                    },
                    Effect::RecordsEvent {
                        event: 1u16,
                        stream: ::core::option::Option::Some(0u16),
                    },
                    Effect::Launches,
                ];
                const _: &HandleDesc = <hipStream_t as Handle>::HANDLE;
                const _: &HandleDesc = <hipEvent_t as Handle>::HANDLE;
                const _: &HandleDesc = <hipEvent_t as Handle>::HANDLE;
                const _: &HandleDesc = <hipStream_t as Handle>::HANDLE;
            "#]],
        ),
        (
            quote!(
                #[host(reason = "prints")]
                pub fn host();
            ),
            expect![[r#"
            const __CLASS: Class = Class::Host {
                reason: "prints",
            };
        "#]],
        ),
        (
            quote!(
                #[unreplayable(reason = "foreign")]
                pub fn refused();
            ),
            expect![[r#"
            const __CLASS: Class = Class::Refused {
                reason: "foreign",
            };
        "#]],
        ),
    ] {
        check_function(function, expected);
    }
}

#[test]
fn a_struct_that_crosses() {
    let tokens = payload_tokens(quote! {
        #[repr(C)]
        pub struct hipLaunchConfig {
            gridDim: dim3,
            #[deref(count = numAttrs)]
            attrs: *const hipLaunchAttribute,
            numAttrs: u32,
        }
    });
    expect_file!["expected/payload.rs"].assert_eq(&print(tokens));
}

/// A condition goes to every item, and only this crate decides on it.
#[test]
fn conditions() {
    check_block(
        quote! {
            unsafe extern "C" {
                #[cfg(feature = "new")]
                pub fn hipNew();
                pub fn hipOld();
            }
        },
        expect_file!["expected/cfg.rs"],
    );
}

/// The plain declarations stand beside the errors.
#[test]
fn errors() {
    check_block(
        quote! {
            unsafe extern "C" {
                /// Lacks a role.
                #[cfg(unix)]
                pub fn hipWrong(p: *const u32, #[deref(count = m)] q: *const u32, n: usize) -> u32;
                pub fn hipRight(#[out] p: *mut u32) -> u32;
            }
        },
        expect_file!["expected/errors.rs"],
    );
}

/// Words of the function reach the descriptor, and types that are relative to the module still mean
/// the same inside `raw`.
#[test]
fn everything() {
    check_block(
        quote! {
            unsafe extern "C" {
                /// Does everything.
                ///
                /// And says so.
                #[alias("_Z3everyP")]
                #[alias("_Z3everyPm")]
                #[machine]
                #[validated]
                #[capture(with = families::capture_everything)]
                #[replay(with = families::replay_everything)]
                #[effect(enqueues = r#type)]
                pub fn hipEverything(
                    r#type: super::types::hipStream_t,
                    #[out] _out: *mut self::Local,
                    #[callback] func: hipHostFn_t,
                    #[user_data] userData: *mut c_void,
                ) -> *const c_char;
            }
        },
        expect_file!["expected/everything.rs"],
    );
}
