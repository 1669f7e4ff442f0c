//! Rules that need two facts: a word and the type under it, a name and the parameter that it means.
//!
//! One function for each rule, with the wrong input that it rejects. What only the compiler can
//! know (which trait a type has, what size) is asserted by the expansion instead.

use proc_macro2::Ident;
use syn::Type;

use crate::attr::{ROWS, SlotKind, Takes};
use crate::errors::Errors;
use crate::model::{
    ApiFn, Block, Class, Direction, Len, Name, OperandPlace, Param, Payload, Pointer, Role,
    last_word, peeled, pointee_of, pointer_of,
};

/// Checks a block.
pub(crate) fn check_block(block: &Block, errors: &mut Errors) {
    check_declared_once(&block.functions, errors);
    for function in &block.functions {
        check_params(&function.params, errors);
        check_effects(function, errors);
        check_hooks(function, errors);
        check_one_callback(function, errors);
    }
}

/// Checks a struct.
pub(crate) fn check_payload(payload: &Payload, errors: &mut Errors) {
    check_params(&payload.fields, errors);
}

fn check_params(params: &[Param], errors: &mut Errors) {
    for param in params {
        if param.broken {
            continue;
        }
        match &param.word {
            None => check_has_role(param, errors),
            Some(word) => {
                if check_takes(param, word, errors) {
                    check_pointee(param, word, errors);
                    check_tagged(param, word, errors);
                    check_bytes_of_value(param, word, errors);
                }
            }
        }
        for length in param.role.lengths() {
            check_length(length, params, errors);
        }
        check_named(param, params, errors);
    }
}

/// `pub fn hipFoo(); pub fn hipFoo();`
fn check_declared_once(functions: &[ApiFn], errors: &mut Errors) {
    for (i, function) in functions.iter().enumerate() {
        let same = |other: &&ApiFn| other.ident == function.ident && other.cfgs.is_empty();
        if function.cfgs.is_empty() && functions[..i].iter().any(|other| same(&other)) {
            errors.at(&function.ident, format!("`{}` is declared twice", function.ident));
        }
    }
}

/// `graph: *mut hipGraph_t`, `callback: fn(..)`, `graph: &mut T`.
fn check_has_role(param: &Param, errors: &mut Errors) {
    let name = &param.ident;
    let hint = match pointer_of(&param.ty) {
        Pointer::No => {
            if let Type::Reference(reference) = peeled(&param.ty) {
                errors.at(reference, "a C function takes raw pointers");
            }
            return;
        }
        Pointer::Const(_) => "`#[deref]`, `#[string]`, `#[device_ptr]` or `#[host_in(bytes = ..)]`",
        Pointer::Mut(_) => "`#[out]`, `#[out_handle]`, `#[inout]` or `#[device_ptr]`",
        Pointer::Function => "`#[callback]`",
    };
    errors.at(&param.ty, format!("the pointer `{name}` needs a role, such as {hint}"));
}

/// `#[out] p: *const u32`, `#[deref] n: u32`, `#[device] p: *mut u32`, `#[callback] p: *mut u32`.
fn check_takes(param: &Param, word: &Ident, errors: &mut Errors) -> bool {
    let Some(row) = ROWS.iter().find(|row| word == row.name) else { return true };
    let pointer = pointer_of(&param.ty);
    let fits = match row.takes {
        Takes::Nothing | Takes::Anything => true,
        Takes::MutPointer => matches!(pointer, Pointer::Mut(_)),
        Takes::Pointer => matches!(pointer, Pointer::Const(_) | Pointer::Mut(_)),
        Takes::Address => {
            matches!(pointer, Pointer::Const(_) | Pointer::Mut(_)) || may_be_alias(&param.ty)
        }
        Takes::Value => matches!(pointer, Pointer::No),
        Takes::Function => matches!(pointer, Pointer::Function) || may_be_alias(&param.ty),
    };
    if fits {
        return true;
    }
    let expected = match row.takes {
        Takes::Nothing | Takes::Anything => return true,
        Takes::MutPointer => "a `*mut` pointer",
        Takes::Pointer | Takes::Address => "a pointer",
        Takes::Value if row.name == "destroys" => "a handle by value",
        Takes::Value => "a value",
        Takes::Function => "a function pointer",
    };
    let text = format!("`#[{}]` takes {expected}: {}", row.name, row.clause());
    match (row.takes, peeled(&param.ty)) {
        // The type is right but for one word.
        (Takes::MutPointer, Type::Ptr(pointer)) => errors.at(&pointer.mutability, text),
        (_, ty) => errors.at(ty, text),
    }
    false
}

/// A path may be an alias of a pointer, but for the integers that everyone knows.
fn may_be_alias(ty: &Type) -> bool {
    matches!(pointer_of(ty), Pointer::No)
        && matches!(peeled(ty), Type::Path(_))
        && last_word(ty).is_none_or(|word| !is_scalar(&word))
}

/// The scalars by the names that everyone knows.
pub(crate) fn is_scalar(word: &str) -> bool {
    const SCALARS: &[&str] = &[
        "u8",
        "u16",
        "u32",
        "u64",
        "u128",
        "usize",
        "i8",
        "i16",
        "i32",
        "i64",
        "i128",
        "isize",
        "f32",
        "f64",
        "bool",
        "char",
        "c_char",
        "c_schar",
        "c_uchar",
        "c_short",
        "c_ushort",
        "c_int",
        "c_uint",
        "c_long",
        "c_ulong",
        "c_longlong",
        "c_ulonglong",
        "c_float",
        "c_double",
        "c_void",
    ];
    SCALARS.contains(&word)
}

/// `#[deref] p: *const *const T`, `#[string] p: *const u32`, `#[out_device_ptr] p: *mut u32`.
fn check_pointee(param: &Param, word: &Ident, errors: &mut Errors) {
    let Some(pointee) = pointee_of(&param.ty) else {
        if let Role::Operand { side: None, .. } = &param.role {
            let text = "the type does not say which side of the copy this is; add \
                        `side = source` or `side = destination`";
            errors.at(word, text);
        }
        return;
    };
    let leads_on = !matches!(pointer_of(pointee), Pointer::No);
    let scalar = last_word(pointee).is_some_and(|word| is_scalar(&word));
    match &param.role {
        Role::Pointee { .. } if leads_on => {
            let hint = match word.to_string().as_str() {
                "out" => "an address that the call writes is `#[out_device_ptr]` or `#[out_alloc]`",
                "deref" => "addresses of the device are `#[deref(count = .., each = device_ptr)]`",
                _ => "put it into a struct with `#[derive(Payload)]` and a role",
            };
            errors.at(pointee, format!("this pointer needs a meaning of its own; {hint}"));
        }
        Role::String | Role::OutString { .. }
            if !matches!(last_word(pointee).as_deref(), Some("c_char")) =>
        {
            errors.at(pointee, format!("`#[{word}]` takes a pointer to `c_char`"));
        }
        Role::OutHandle { .. } if leads_on || scalar => {
            errors.at(pointee, "`#[out_handle]` takes a pointer to a handle");
        }
        Role::OutDevicePointer { .. }
        | Role::OutAlloc { .. }
        | Role::EntryPoint { .. }
        | Role::DevicePointerArray { .. }
        | Role::JitOptions { .. }
        | Role::KernelArgs { .. }
            if !leads_on && !may_be_alias(pointee) =>
        {
            errors.at(pointee, format!("`#[{word}]` takes a pointer to pointers"));
        }
        _ => {}
    }
}

/// `#[tagged(by = a, table = T, out)] p: *const c_void`, `#[tagged(by = a, table = T, out)] u: U`.
fn check_tagged(param: &Param, word: &Ident, errors: &mut Errors) {
    let Role::Tagged { direction: Direction::Out | Direction::InOut, .. } = &param.role else {
        return;
    };
    match (pointer_of(&param.ty), peeled(&param.ty)) {
        (Pointer::Mut(_), _) => {}
        (_, Type::Ptr(pointer)) => {
            let text = format!("`#[{word}]` of something that the call writes takes `*mut`");
            errors.at(&pointer.mutability, text);
        }
        (_, ty) => errors.at(ty, "the call can only write behind a pointer"),
    }
}

/// `#[os_handle(bytes = 64)] fd: c_int`.
fn check_bytes_of_value(param: &Param, word: &Ident, errors: &mut Errors) {
    if matches!(param.role, Role::OsHandle { bytes: Some(_) })
        && matches!(pointer_of(&param.ty), Pointer::No | Pointer::Function)
    {
        errors.at(&param.ty, format!("`#[{word}(bytes = ..)]` takes a pointer"));
    }
}

/// `#[deref(count = p)]` where `p` is a pointer, `before(n)` where `n` is none.
fn check_length(length: &Len, params: &[Param], errors: &mut Errors) {
    match length {
        Len::Literal { .. } | Len::Call(_) => {}
        Len::Param(name) => {
            let Some(named) = params.get(name.index) else { return };
            if pointee_of(&named.ty).is_some() {
                let name = &name.ident;
                let text = format!(
                    "`{name}` is a pointer; `before({name})` is what the call is given, \
                     `after({name})` what it leaves"
                );
                errors.at(name, text);
            }
        }
        Len::Before(name) | Len::After(name) => {
            let Some(named) = params.get(name.index) else { return };
            if pointee_of(&named.ty).is_none() {
                let name = &name.ident;
                errors.at(name, format!("`{name}` is no pointer; write `{name}` alone"));
            }
        }
        Len::Product(lengths) | Len::Min(lengths) => {
            for length in lengths {
                check_length(length, params, errors);
            }
        }
    }
}

/// `#[operand(kind = p)]` where `p` is a pointer, and the like for every other name.
fn check_named(param: &Param, params: &[Param], errors: &mut Errors) {
    let mut expect = |name: &Name, fits: fn(&Param) -> bool, what: &str| {
        let Some(named) = params.get(name.index) else { return };
        if !named.broken && !fits(named) {
            errors.at(&name.ident, format!("`{}` is not {what}", name.ident));
        }
    };
    let by_value: fn(&Param) -> bool =
        |named| matches!(named.role, Role::Value) && matches!(pointer_of(&named.ty), Pointer::No);
    let is_string: fn(&Param) -> bool = |named| matches!(named.role, Role::String);
    match &param.role {
        Role::Operand { place: OperandPlace::Kind(kind), .. } => {
            expect(kind, by_value, "an enum of copy kinds passed by value");
        }
        Role::KernelArgs { of, .. } => expect(
            of,
            |named| matches!(named.role, Role::HostSymbol | Role::Value),
            "a kernel: a handle by value or a `#[host_symbol]`",
        ),
        Role::DefinesHostSymbol { image, name } => {
            expect(
                image,
                |named| matches!(named.role, Role::Value),
                "the handle of an image, passed by value",
            );
            expect(name, is_string, "a `#[string]`");
        }
        Role::EntryPoint { name } => expect(name, is_string, "a `#[string]`"),
        Role::Tagged { by, .. } => expect(by, by_value, "a tag passed by value"),
        Role::JitOptions { keys, .. } => expect(
            keys,
            |named| matches!(named.role, Role::Pointee { count: Some(_), .. }),
            "the array of options: `#[deref(count = ..)]`",
        ),
        _ => {}
    }
}

/// `#[effect(enqueues = size)]` where `size` is a pointer, `ends_capture` without an out handle.
fn check_effects(function: &ApiFn, errors: &mut Errors) {
    for effect in &function.effects {
        for (name, slot) in effect.names.iter().zip(effect.row.slots) {
            let Some(named) = function.params.get(name.index) else { continue };
            if named.broken {
                continue;
            }
            let no_pointer = matches!(pointer_of(&named.ty), Pointer::No);
            let scalar = last_word(&named.ty).is_some_and(|word| is_scalar(&word));
            let by_value = no_pointer && !scalar;
            let (fits, what) = match slot.kind {
                SlotKind::Handle => (
                    matches!(named.role, Role::Value | Role::Destroys) && by_value,
                    "a handle passed by value",
                ),
                SlotKind::OutHandle => {
                    (matches!(named.role, Role::OutHandle { count: None }), "an `#[out_handle]`")
                }
                SlotKind::String => (matches!(named.role, Role::String), "a `#[string]`"),
                SlotKind::Integer => (
                    matches!(named.role, Role::Value) && no_pointer && scalar,
                    "an integer passed by value",
                ),
            };
            if !fits {
                let text = format!("`{}`, the effect's {}, is not {what}", name.ident, slot.field);
                errors.at(&name.ident, text);
            }
        }
    }
}

/// `#[unreplayable(reason = "..")] #[replay(with = path)]`: the hand-written half would never run.
fn check_hooks(function: &ApiFn, errors: &mut Errors) {
    let (Some(hook), Some(class)) = (&function.replay, &function.class_word) else { return };
    if matches!(function.class, Class::Host { .. } | Class::Unreplayable { .. }) {
        let text = format!("`#[{class}]` is never issued by replay, so `#[replay]` would not run");
        errors.at(&hook.word, text);
    }
}

/// Two callbacks, or two words of user data, in one call.
fn check_one_callback(function: &ApiFn, errors: &mut Errors) {
    for fits in [(|role| matches!(role, Role::Callback)) as fn(&Role) -> bool, |role| {
        matches!(role, Role::UserData)
    }] {
        let mut having = function.params.iter().filter(|param| fits(&param.role)).skip(1);
        if let Some(word) = having.next().and_then(|param| param.word.as_ref()) {
            errors.at(word, format!("a call has one `#[{word}]`"));
        }
    }
    let has = |fits: fn(&Role) -> bool| function.params.iter().any(|param| fits(&param.role));
    let data = function.params.iter().find(|param| matches!(param.role, Role::UserData));
    if let Some(word) = data.and_then(|param| param.word.as_ref())
        && !has(|role| matches!(role, Role::Callback))
        && !function.params.iter().any(|param| param.broken)
    {
        errors.at(word, "there is no `#[callback]` that this belongs to");
    }
}
