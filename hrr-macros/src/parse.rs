//! From syntax to the model.
//!
//! Says what each word of the table means, looks at one function, parameter or field at a time, and
//! records every mistake. What needs two facts is checked in `check`.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{
    Attribute, Data, DeriveInput, Expr, ExprLit, ExprPath, Fields, FnArg, ForeignItem,
    ForeignItemFn, ItemForeignMod, Lit, LitStr, Meta, Pat, ReturnType, Safety, Visibility,
};

use crate::args::{self, Names, Parsed, Value};
use crate::attr::{BLOCK_ARGS, Place, Word};
use crate::errors::Errors;
use crate::model::{
    ApiFn, Block, Class, Direction, Effect, Extent, Hook, Len, Name, OperandPlace, Param, Payload,
    Role, SpaceOf, unit,
};

/// Reads a block; the model is complete if no error was recorded.
pub(crate) fn parse_block(args: TokenStream, item: &ItemForeignMod, errors: &mut Errors) -> Block {
    let (group, library) = parse_block_args(args, item, errors);
    if item.unsafety.is_none() {
        errors.at(item.abi.extern_token, "expected `unsafe extern \"C\"`");
    }
    match &item.abi.name {
        Some(abi) if abi.value() == "C" => {}
        Some(abi) => errors.at(abi, "expected the ABI \"C\""),
        None => errors.at(item.abi.extern_token, "expected the ABI: `extern \"C\"`"),
    }
    for attribute in &item.attrs {
        errors.at(
            attribute.path(),
            "attributes of the block would be lost; put them on the functions or the module",
        );
    }
    let mut functions = Vec::new();
    for item in &item.items {
        match item {
            ForeignItem::Fn(function) => functions.extend(parse_function(function, errors)),
            ForeignItem::Static(item) => errors.at(item.static_token, "expected a function"),
            ForeignItem::Type(item) => errors.at(item.type_token, "expected a function"),
            ForeignItem::Macro(item) => errors.at(&item.mac.path, "expected a function"),
            other => errors.at(other, "expected a function"),
        }
    }
    Block { group, library, functions }
}

fn parse_block_args(
    args: TokenStream,
    item: &ItemForeignMod,
    errors: &mut Errors,
) -> (String, String) {
    let before = errors.count();
    let (mut group, mut library) = (None, None);
    let parser = |input: ParseStream<'_>| {
        for given in args::parse_args(input, "api", BLOCK_ARGS, None, errors)? {
            match (given.key, given.value) {
                ("group", Value::Text(text)) => group = Some(text),
                ("library", Value::Text(text)) => library = Some(text),
                _ => errors.at(given.at, MISREAD),
            }
        }
        Ok(())
    };
    let result = parser.parse2(args);
    errors.keep(result);
    if group.is_none() && errors.count() == before {
        errors.at(item.abi.extern_token, "the block needs `#[api(group = \"..\")]`");
    }
    for part in [&group, &library].into_iter().flatten() {
        // The group becomes a part of a macro's name, the library a part of a file's.
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !part.value().chars().all(plain) {
            errors.at(part, "expected lower-case letters, digits and `_`");
        }
    }
    let value = |part: Option<LitStr>| part.map(|part| part.value()).unwrap_or_default();
    (value(group), value(library))
}

/// Reads a function; nothing if its signature is beyond use.
fn parse_function(item: &ForeignItemFn, errors: &mut Errors) -> Option<ApiFn> {
    let sig = &item.sig;
    if !matches!(item.vis, Visibility::Public(_)) {
        errors.at(sig.fn_token, "expected `pub fn`: the function is exported");
    }
    match &sig.safety {
        Safety::Default => {}
        Safety::Safe(word) => errors.at(word, "a call of the runtime is never `safe`"),
        Safety::Unsafe(word) => errors.at(word, "leave `unsafe` to the block"),
    }
    if !sig.generics.params.is_empty() {
        errors.at(&sig.generics, "a C function has no generics");
        return None;
    }
    if let Some(clause) = &sig.generics.where_clause {
        errors.at(clause, "a C function has no generics");
    }
    if let Some(variadic) = &sig.variadic {
        errors.at(variadic, "a variadic function cannot be recorded");
    }
    let mut inputs = Vec::new();
    for input in &sig.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                errors.at(receiver.self_token, "a C function has no `self`");
                return None;
            }
            FnArg::Typed(input) => {
                if let Some(ident) = parse_pattern(&input.pat, errors) {
                    inputs.push((ident, input));
                }
            }
        }
    }
    let idents: Vec<Ident> = inputs.iter().map(|(ident, _)| ident.clone()).collect();
    for (i, ident) in idents.iter().enumerate() {
        if idents[..i].contains(ident) {
            errors.at(ident, format!("two parameters are named `{ident}`"));
        }
    }
    let names = Names { owner: sig.ident.to_string(), place: Place::Parameter, idents };
    let mut params = Vec::new();
    for (ident, input) in inputs {
        params.push(parse_param(
            ident,
            &input.ty,
            input.attrs.clone(),
            Place::Parameter,
            &names,
            errors,
        ));
    }
    let ret = match &sig.output {
        ReturnType::Default => unit(sig.ident.span()),
        ReturnType::Type(_, ty) => (**ty).clone(),
    };
    Some(parse_function_words(item, params, ret, &names, errors))
}

/// `name: T` and `_name: T`; a declaration without a name could not be spoken of.
fn parse_pattern(pat: &Pat, errors: &mut Errors) -> Option<Ident> {
    match pat {
        Pat::Ident(pat) => {
            if let Some(word) = &pat.by_ref {
                errors.at(word, "expected a plain name");
            } else if let Some(word) = &pat.mutability {
                errors.at(word, "expected a plain name");
            } else if let Some((at, _)) = &pat.subpat {
                errors.at(at, "expected a plain name");
            }
            Some(pat.ident.clone())
        }
        other => {
            errors.at(other, "expected the parameter's name");
            None
        }
    }
}

/// Reads the words of the function itself.
fn parse_function_words(
    item: &ForeignItemFn,
    params: Vec<Param>,
    ret: syn::Type,
    names: &Names,
    errors: &mut Errors,
) -> ApiFn {
    let (words, foreign) =
        args::parse_attributes(item.attrs.clone(), Place::Function, names, errors);
    let (cfgs, outer): (Vec<_>, Vec<_>) =
        foreign.into_iter().partition(|attribute| attribute.path().is_ident("cfg"));
    let mut function = ApiFn {
        ident: item.sig.ident.clone(),
        cfgs,
        docs: docs_of(&outer),
        outer,
        params,
        ret,
        aliases: Vec::new(),
        machine: None,
        validated: false,
        class: Class::Replayed,
        class_word: None,
        capture: None,
        replay: None,
        effects: Vec::new(),
    };
    for mut parsed in words {
        if let Some(class) = class_of(&mut parsed) {
            match &function.class_word {
                Some(earlier) => {
                    let text = format!("`#[{}]` excludes `#[{earlier}]`", parsed.word);
                    errors.at(&parsed.word, text);
                }
                None => {
                    function.class = class;
                    function.class_word = Some(parsed.word);
                }
            }
            continue;
        }
        if !parsed.broken {
            apply_function_word(parsed, &mut function, errors);
        }
    }
    function
}

/// The class that a word gives a function, if it is such a word.
fn class_of(parsed: &mut Parsed) -> Option<Class> {
    let reason = |parsed: &mut Parsed| match parsed.take("reason") {
        Some(Value::Text(reason)) => Some(reason),
        // The error was told; the class still excludes others.
        _ if parsed.broken => Some(LitStr::new("", parsed.word.span())),
        _ => None,
    };
    match parsed.row.word {
        Word::Query => {
            let wait = match parsed.take("wait") {
                Some(Value::Path(path)) => Some(path),
                _ => None,
            };
            Some(Class::Query { wait })
        }
        Word::Ordering => Some(Class::Ordering),
        Word::Host => Some(Class::Host { reason: reason(parsed)? }),
        Word::Unreplayable => Some(Class::Unreplayable { reason: reason(parsed)? }),
        _ => None,
    }
}

fn apply_function_word(mut parsed: Parsed, function: &mut ApiFn, errors: &mut Errors) {
    match (parsed.row.word, parsed.take("with")) {
        (Word::Capture, Some(Value::Path(path))) => function.capture = Some(path),
        (Word::Replay, Some(Value::Path(path))) => {
            function.replay = Some(Hook { word: parsed.word, path });
        }
        (Word::Machine, _) => function.machine = Some(parsed.word),
        (Word::Validated, _) => function.validated = true,
        (Word::Alias, _) => {
            for given in parsed.values {
                let Value::Text(symbol) = given.value else { continue };
                if function.aliases.iter().any(|have| have.value() == symbol.value()) {
                    errors.at(&symbol, "this alias stands here twice");
                }
                function.aliases.push(symbol);
            }
        }
        (Word::Effect, _) => {
            if parsed.values.is_empty() {
                errors.at(&parsed.word, "expected `#[effect(word = parameter, ..)]`");
            }
            for given in parsed.values {
                let key = given.key;
                let Value::Effect(row, names) = given.value else { continue };
                let same = |have: &Effect| {
                    have.row.variant == row.variant
                        && have
                            .names
                            .iter()
                            .map(|name| name.index)
                            .eq(names.iter().map(|n| n.index))
                };
                if function.effects.iter().any(same) {
                    let at = names.first().map_or(&parsed.word, |name| &name.ident);
                    errors.at(at, format!("the effect `{key}` stands here twice"));
                }
                function.effects.push(Effect { row, names });
            }
        }
        _ => errors.at(&parsed.word, MISREAD),
    }
}

/// A word whose row of the table and whose meaning here disagree: a bug of the macro, which must
/// not pass for a parameter without a role.
const MISREAD: &str = "the macro does not know what to do with this word here";

/// The text of the documentation comment.
fn docs_of(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { continue };
        if pair.path.is_ident("doc") {
            let text = text.value();
            lines.push(text.strip_prefix(' ').unwrap_or(&text).trim_end().to_owned());
        }
    }
    lines.join("\n").trim().to_owned()
}

/// Reads a struct that crosses the ABI.
pub(crate) fn parse_payload(input: &DeriveInput, errors: &mut Errors) -> Payload {
    let mut payload = Payload { ident: input.ident.clone(), fields: Vec::new() };
    if !input.generics.params.is_empty() {
        errors.at(&input.generics, "a struct that crosses the ABI has no generics");
    }
    let data = match &input.data {
        Data::Struct(data) => data,
        Data::Enum(data) => {
            errors.at(data.enum_token, "expected a struct; declare C enums with `c_enum!`");
            return payload;
        }
        Data::Union(data) => {
            let text = "expected a struct; implement `Payload` for a union by hand, as bytes, and \
                        give the field or parameter that holds it `#[tagged(..)]`";
            errors.at(data.union_token, text);
            return payload;
        }
    };
    if !has_c_layout(&input.attrs) {
        errors.at(&input.ident, "the layout is not that of C; expected `#[repr(C)]`");
    }
    let fields = match &data.fields {
        Fields::Named(fields) => &fields.named,
        Fields::Unnamed(fields) => {
            errors.at(fields, "expected named fields");
            return payload;
        }
        Fields::Unit => {
            errors.at(&input.ident, "expected named fields");
            return payload;
        }
    };
    let idents: Vec<Ident> = fields.iter().filter_map(|field| field.ident.clone()).collect();
    let names = Names { owner: input.ident.to_string(), place: Place::Field, idents };
    for field in fields {
        let Some(ident) = field.ident.clone() else { continue };
        let attributes = field.attrs.clone();
        let field = parse_param(ident, &field.ty, attributes, Place::Field, &names, errors);
        payload.fields.push(field);
    }
    payload
}

fn has_c_layout(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("repr")).any(|attribute| {
        let Meta::List(list) = &attribute.meta else { return false };
        list.tokens.clone().into_iter().any(|token| {
            let token = token.to_string();
            token == "C" || token == "transparent"
        })
    })
}

fn parse_param(
    ident: Ident,
    ty: &syn::Type,
    attributes: Vec<Attribute>,
    place: Place,
    names: &Names,
    errors: &mut Errors,
) -> Param {
    let before = errors.count();
    let (words, _) = args::parse_attributes(attributes, place, names, errors);
    // A word that was not understood may have been the role.
    let mut broken = errors.count() > before;
    let mut words = words.into_iter();
    let (role, word, machine) = match words.next() {
        None => (Role::Value, None, false),
        Some(mut parsed) => {
            broken |= parsed.broken;
            let machine = parsed.take("machine").is_some();
            let role = if broken { Some(Role::Value) } else { role_of(&mut parsed) };
            let role = role.unwrap_or_else(|| {
                errors.at(&parsed.word, MISREAD);
                Role::Value
            });
            (role, Some(parsed.word), machine)
        }
    };
    for extra in words {
        let first = word.as_ref().map(|word| word.unraw().to_string()).unwrap_or_default();
        errors.at(&extra.word, format!("`#[{}]` excludes `#[{first}]`", extra.row.name));
    }
    Param { ident, ty: ty.clone(), role, word, machine, broken }
}

/// What a word on a parameter or field means; nothing if its row and this function disagree.
fn role_of(parsed: &mut Parsed) -> Option<Role> {
    let role = match parsed.row.word {
        Word::OutHandle => Role::OutHandle { count: parsed.length("count") },
        Word::Destroys => Role::Destroys,
        Word::Deref => match (parsed.choice("each"), parsed.length("count")) {
            (Some(_), count) => Role::DevicePointerArray { count: count? },
            (None, count) => Role::Pointee { direction: Direction::In, count },
        },
        Word::InOut => Role::Pointee { direction: Direction::InOut, count: parsed.length("count") },
        Word::Out => Role::Pointee { direction: Direction::Out, count: parsed.length("count") },
        Word::String => Role::String,
        Word::OutStr => Role::OutString { bytes: parsed.length("bytes")? },
        Word::DevicePtr => Role::DevicePointer { frees: false },
        Word::Frees => Role::DevicePointer { frees: true },
        Word::OutDevicePtr => Role::OutDevicePointer { bytes: parsed.length("bytes") },
        Word::OutAlloc => {
            let space = match parsed.take("space")? {
                Value::Choice(space) => SpaceOf::Fixed(space),
                Value::Path(path) => SpaceOf::Call(path),
                _ => return None,
            };
            Role::OutAlloc { bytes: parsed.length("bytes")?, space }
        }
        Word::RegistersHost => Role::RegistersHost { bytes: parsed.length("bytes")? },
        Word::UnregistersHost => Role::UnregistersHost,
        Word::HostIn => Role::HostIn { bytes: parsed.length("bytes")? },
        Word::HostOut => Role::HostOut { bytes: parsed.length("bytes")?, exact: false },
        Word::OutBuffer => Role::HostOut { bytes: parsed.length("bytes")?, exact: true },
        Word::Operand => operand_of(parsed)?,
        Word::KernelArgs => {
            let form = parsed.choice("form").unwrap_or("Pointers");
            Role::KernelArgs { of: parsed.name("of")?, form }
        }
        Word::HostSymbol => Role::HostSymbol,
        Word::DefinesHostSymbol => {
            Role::DefinesHostSymbol { image: parsed.name("image")?, name: parsed.name("name")? }
        }
        Word::CodeImage => Role::Image(match (parsed.flag("wrapper"), parsed.flag("file")) {
            (false, false) => "Data",
            (true, false) => "Wrapper",
            (false, true) => "File",
            (true, true) => return None,
        }),
        Word::Tagged => {
            let direction = match (parsed.flag("out"), parsed.flag("inout")) {
                (false, false) => Direction::In,
                (true, false) => Direction::Out,
                (false, true) => Direction::InOut,
                (true, true) => return None,
            };
            Role::Tagged { by: parsed.name("by")?, table: parsed.path("table")?, direction }
        }
        Word::JitOptions => {
            Role::JitOptions { keys: parsed.name("keys")?, count: parsed.length("count")? }
        }
        Word::Callback => Role::Callback,
        Word::UserData => Role::UserData,
        Word::OutEntryPoint => Role::EntryPoint { name: parsed.name("name")? },
        Word::OsHandle => Role::OsHandle { bytes: parsed.length("bytes") },
        Word::Opaque => Role::Opaque { reason: parsed.text("reason")? },
        Word::Device => Role::Device,
        Word::Alias
        | Word::Machine
        | Word::Validated
        | Word::Query
        | Word::Ordering
        | Word::Host
        | Word::Unreplayable
        | Word::Capture
        | Word::Replay
        | Word::Effect => return None,
    };
    // Each argument of the row has a meaning above; one that was not taken would be lost.
    parsed.values.is_empty().then_some(role)
}

fn operand_of(parsed: &mut Parsed) -> Option<Role> {
    let place = match (parsed.name("kind"), parsed.take("place")) {
        (Some(kind), None) => OperandPlace::Kind(kind),
        (None, Some(Value::Path(path))) => OperandPlace::Call(path),
        (None, Some(Value::Choice(place))) => OperandPlace::Fixed(place),
        _ => return None,
    };
    let extent = match (parsed.length("bytes"), parsed.take("rows"), parsed.path("rect")) {
        (Some(bytes), None, None) => Extent::Bytes(bytes),
        (None, Some(Value::Lengths(lengths)), None) => {
            let (mut pitch, mut width, mut height) = (None, None, None);
            for (key, length) in lengths {
                match key {
                    "pitch" => pitch = Some(length),
                    "width" => width = Some(length),
                    "height" => height = Some(length),
                    _ => return None,
                }
            }
            Extent::Rows { pitch: pitch?, width: width?, height: height? }
        }
        (None, None, Some(path)) => Extent::Call(path),
        _ => return None,
    };
    let side = parsed.choice("side");
    Some(Role::Operand { side, place, extent })
}

impl Parsed {
    fn flag(&mut self, key: &str) -> bool {
        matches!(self.take(key), Some(Value::Flag))
    }

    fn length(&mut self, key: &str) -> Option<Len> {
        match self.take(key)? {
            Value::Length(length) => Some(length),
            _ => None,
        }
    }

    fn name(&mut self, key: &str) -> Option<Name> {
        match self.take(key)? {
            Value::Name(name) => Some(name),
            _ => None,
        }
    }

    fn path(&mut self, key: &str) -> Option<ExprPath> {
        match self.take(key)? {
            Value::Path(path) => Some(path),
            _ => None,
        }
    }

    fn text(&mut self, key: &str) -> Option<LitStr> {
        match self.take(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn choice(&mut self, key: &str) -> Option<&'static str> {
        match self.take(key)? {
            Value::Choice(choice) => Some(choice),
            _ => None,
        }
    }
}
