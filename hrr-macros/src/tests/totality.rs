//! The macro never panics, whatever stands in a block or struct, and what it answers is either an
//! error or items.
//!
//! Method: declarations that use every word are cut, doubled, swapped and stuffed with other tokens
//! by a seeded generator. A failing input is printed with its seed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

use crate::attr::{BLOCK_ARGS, ROWS};
use crate::{api_tokens, payload_tokens};

/// Declarations without an error, from which the mutations start.
fn declarations() -> Vec<TokenStream> {
    vec![
        quote! {
            unsafe extern "C" {
                /// Doc.
                #[alias("_Z1fv")]
                #[machine]
                #[validated]
                #[query(wait = super::other)]
                #[effect(enqueues = stream, records_event = (event, stream))]
                #[cfg(unix)]
                pub fn hrrOne(
                    stream: hipStream_t,
                    event: hipEvent_t,
                    #[out_handle(count = n * 2)] out: *mut hipGraph_t,
                    n: usize,
                    #[deref(count = min(n, before(p)))] array: *const hipNode,
                    #[inout(machine)] p: *mut u32,
                    #[string] name: *const c_char,
                    #[out_str(bytes = "after(p) * 4", machine)] text: *mut c_char,
                ) -> hipError_t;
            }
        },
        quote! {
            unsafe extern "C" {
                #[host(reason = "prints")]
                pub fn hrrTwo(
                    #[destroys] gone: hipStream_t,
                    #[device] device: c_int,
                    #[device_ptr] a: *mut c_void,
                    #[frees] b: *mut c_void,
                    #[out_device_ptr(bytes = 8)] c: *mut *mut c_void,
                    #[out_alloc(bytes = 8, space = pinned)] d: *mut *mut c_void,
                    #[registers_host(bytes = 8)] e: *mut c_void,
                    #[unregisters_host] f: *mut c_void,
                    #[host_in(bytes = crate::length)] g: *const c_void,
                    #[host_out(bytes = 8, machine)] h: *mut c_void,
                    #[out_buffer(bytes = 8)] i: *mut [c_char; 8],
                    #[operand(kind = kind, rows(pitch = 8, width = 4, height = 2))] j: *mut c_void,
                    #[operand(place = tracked, rect = rect, side = source)] k: hipDeviceptr_t,
                    kind: hipMemcpyKind,
                );
                #[unreplayable(reason = "foreign")]
                #[capture(with = a::b)]
                pub fn hrrThree(
                    kernel: hipFunction_t,
                    #[kernel_args(of = kernel, form = extra)] a: *mut *mut c_void,
                    #[host_symbol] b: *const c_void,
                    #[string] name: *const c_char,
                    #[defines_host_symbol(image = kernel, name = name)] c: *const c_void,
                    #[code_image(wrapper)] d: *const c_void,
                    tag: hipAttr,
                    #[tagged(by = tag, table = T, inout)] e: *mut c_void,
                    #[deref(count = 2)] keys: *mut hipJitOption,
                    #[jit_options(keys = keys, count = 2)] f: *mut *mut c_void,
                    #[callback] g: Option<unsafe extern "C" fn(*mut c_void)>,
                    #[user_data] h: *mut c_void,
                    #[out_entry_point(name = name)] i: *mut *mut c_void,
                    #[os_handle(bytes = 64)] j: *mut c_void,
                    #[opaque(reason = "reserved")] k: *mut c_void,
                ) -> *const c_char;
                #[ordering]
                #[replay(with = a)]
                pub fn hrrFour();
            }
        },
    ]
}

fn structs() -> Vec<TokenStream> {
    vec![quote! {
        #[repr(C)]
        pub struct hipParams {
            #[deref(count = n)]
            array: *const u32,
            n: u32,
            #[device_ptr]
            address: *mut c_void,
            #[operand(place = host, bytes = n)]
            operand: *const c_void,
            at: dim3,
        }
    }]
}

/// A generator that gives the same numbers for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }
}

/// Tokens that a mutation may put anywhere: every word and key, and what the grammar trips over.
fn stuffing() -> Vec<TokenStream> {
    let args = ROWS.iter().flat_map(|row| row.args).chain(BLOCK_ARGS);
    let words = ROWS.iter().map(|row| row.name).chain(args.map(|arg| arg.key));
    let others = [
        "self",
        "_",
        "fn",
        "mut",
        "const",
        "pub",
        "unsafe",
        "extern",
        "where",
        "dyn",
        "impl",
        "::",
        "*",
        "=",
        ",",
        ";",
        "#",
        "!",
        "->",
        "...",
        "&",
        "<",
        ">",
        "-1",
        "0",
        "18446744073709551616",
        "3usize",
        "1.5",
        "'a'",
        "\"\"",
        "\"a b\"",
        "\"\\0\"",
        "b\"x\"",
        "c\"x\"",
        "r#type",
        "before(n)",
        "after(p)",
        "min(n)",
        "min()",
        "(n)",
        "()",
        "[]",
        "{}",
        "*const *const u8",
        "*mut T",
        "&mut T",
        "fn()",
        "Option<fn()>",
        "[T; 3]",
        "<T as U>::V",
        "super::T",
        "self::T",
        "crate::T",
        "#[cfg(a)]",
        "#[cfg_attr(a, b)]",
        "#[doc = 3]",
        "#[a::b]",
        "#![inner]",
        "'static",
        "true",
    ];
    words.chain(others).filter_map(|text| TokenStream::from_str(text).ok()).collect()
}

/// Changes one place, at any depth.
fn mutate(tokens: TokenStream, numbers: &mut Numbers, stuffing: &[TokenStream]) -> TokenStream {
    let mut trees: Vec<TokenTree> = tokens.into_iter().collect();
    let groups: Vec<usize> =
        (0..trees.len()).filter(|i| matches!(trees[*i], TokenTree::Group(_))).collect();
    if !groups.is_empty() && numbers.below(8) > 0 {
        let at = groups[numbers.below(groups.len())];
        if let TokenTree::Group(group) = &trees[at] {
            let inner = mutate(group.stream(), numbers, stuffing);
            let delimiters =
                [Delimiter::Parenthesis, Delimiter::Bracket, Delimiter::Brace, Delimiter::None];
            let delimiter = match numbers.below(64) {
                0 => delimiters[numbers.below(delimiters.len())],
                _ => group.delimiter(),
            };
            trees[at] = Group::new(delimiter, inner).into();
        }
        return trees.into_iter().collect();
    }
    let at = numbers.below(trees.len());
    let other = numbers.below(trees.len());
    match numbers.below(5) {
        0 if !trees.is_empty() => drop(trees.remove(at)),
        1 if !trees.is_empty() => trees.insert(at, trees[other].clone()),
        2 if !trees.is_empty() => trees.swap(at, other),
        3 if !trees.is_empty() => {
            let stuff = stuffing[numbers.below(stuffing.len())].clone();
            trees.splice(at..=at, stuff).for_each(drop);
        }
        _ => {
            let stuff = stuffing[numbers.below(stuffing.len())].clone();
            trees.splice(at..at, stuff).for_each(drop);
        }
    }
    trees.into_iter().collect()
}

/// Runs the macro on mutations of `starts`; answers how many had no error and how many had one.
fn run(
    starts: &[TokenStream],
    seeds: std::ops::Range<u64>,
    expand: fn(TokenStream) -> TokenStream,
) -> (usize, usize) {
    let stuffing = stuffing();
    let (mut right, mut wrong) = (0, 0);
    for seed in seeds {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut input = starts[numbers.below(starts.len())].clone();
        for _ in 0..=numbers.below(4) {
            input = mutate(input, &mut numbers, &stuffing);
        }
        let text = input.to_string();
        let output = catch_unwind(AssertUnwindSafe(|| expand(input)))
            .unwrap_or_else(|_| panic!("seed {seed}: a panic for `{text}`"));
        if output.to_string().contains("compile_error") {
            wrong += 1;
        } else {
            right += 1;
            if let Err(error) = syn::parse2::<syn::File>(output.clone()) {
                panic!("seed {seed}: no error and no items ({error}) for `{text}`: {output}");
            }
        }
    }
    (right, wrong)
}

#[test]
fn blocks_never_panic() {
    let expand = |tokens| api_tokens(quote!(group = "g"), tokens);
    for declaration in declarations() {
        let output = expand(declaration).to_string();
        assert!(!output.contains("compile_error"), "{output}");
    }
    let (right, wrong) = run(&declarations(), 0..2000, expand);
    assert!(right > 50 && wrong > 1000, "{right} without and {wrong} with an error");
}

#[test]
fn arguments_of_blocks_never_panic() {
    let expand = |tokens| {
        api_tokens(
            tokens,
            quote!(
                unsafe extern "C" {
                    pub fn hrrFoo();
                }
            ),
        )
    };
    let starts = [quote!(group = "graph", library = "hiprtc")];
    let (right, wrong) = run(&starts, 0..1000, expand);
    assert!(right > 0 && wrong > 500, "{right} without and {wrong} with an error");
}

#[test]
fn structs_never_panic() {
    for item in structs() {
        let output = payload_tokens(item).to_string();
        assert!(!output.contains("compile_error"), "{output}");
    }
    let (right, wrong) = run(&structs(), 0..2000, payload_tokens);
    assert!(right > 50 && wrong > 1000, "{right} without and {wrong} with an error");
}
