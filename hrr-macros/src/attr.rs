//! The words of the declarations: one table, and the parser that it drives.
//!
//! [`ROWS`] is the only place that spells a word, its arguments, where it may stand and what it
//! does. The texts "expected one of ..", the check for duplicates, and `words.md` (the reference in
//! the crate's documentation) are made from it. What a word means for the descriptor is said in
//! `parse`, what it asks of the type in `check`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, ExprPath, LitInt, LitStr, Meta, Token};

use crate::errors::{Errors, did_you_mean, expected_one_of};
use crate::model::{Len, Name};

/// Where a word may stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Function,
    Parameter,
    Field,
}

impl Place {
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Place::Function => "function",
            Place::Parameter => "parameter",
            Place::Field => "field",
        }
    }
}

/// Every word. Each has one row in [`ROWS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    Alias,
    Machine,
    Validated,
    Query,
    Ordering,
    Host,
    Unreplayable,
    Capture,
    Replay,
    Effect,
    OutHandle,
    Destroys,
    Deref,
    InOut,
    Out,
    String,
    OutStr,
    DevicePtr,
    Frees,
    OutDevicePtr,
    OutAlloc,
    RegistersHost,
    UnregistersHost,
    HostIn,
    HostOut,
    OutBuffer,
    Operand,
    KernelArgs,
    HostSymbol,
    DefinesHostSymbol,
    CodeImage,
    Tagged,
    JitOptions,
    Callback,
    UserData,
    OutEntryPoint,
    OsHandle,
    Opaque,
    Device,
}

/// One row of the table.
pub(crate) struct Row {
    pub(crate) word: Word,
    pub(crate) name: &'static str,
    pub(crate) places: &'static [Place],
    /// What the type must be.
    pub(crate) takes: Takes,
    pub(crate) args: &'static [Arg],
    /// One line for the reference.
    pub(crate) doc: &'static str,
}

/// What the type under a word must be, as far as its spelling tells. Aliases may hide a pointer, so
/// some words take any type that is not known to be wrong, and the size is asserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Takes {
    /// The word stands on a function.
    Nothing,
    /// `*mut T`.
    MutPointer,
    /// `*const T` or `*mut T`.
    Pointer,
    /// A pointer, or an alias of one.
    Address,
    /// A value: no pointer.
    Value,
    /// A function pointer, or an alias of one.
    Function,
    /// Anything.
    Anything,
}

/// One argument of a word.
pub(crate) struct Arg {
    pub(crate) key: &'static str,
    pub(crate) shape: Shape,
    pub(crate) need: Need,
}

/// What the value of an argument is made of.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// `key`.
    Flag,
    /// `key = LENGTH`.
    Length,
    /// `key = parameter`.
    Name,
    /// `key = path`.
    Path,
    /// `key = "text"`, not empty.
    Text,
    /// `"symbol"`, without a key.
    Symbol,
    /// `key = word`, one of these.
    Choice(&'static [&'static str]),
    /// `key = word`, one of these, or a path with `::`.
    ChoiceOrPath(&'static [&'static str]),
    /// `key(pitch = LENGTH, ..)`, all of these.
    Lengths(&'static [&'static str]),
    /// The parameters of an effect.
    Effect(&'static EffectRow),
}

/// Whether an argument must be there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Optional,
    Required,
    /// Only together with this argument.
    Beside(&'static str),
    /// Exactly one of the arguments with this label.
    OneOf(&'static str),
    /// At most one of the arguments with this label.
    AtMostOne(&'static str),
}

/// What a parameter of an effect must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SlotKind {
    /// A handle by value.
    Handle,
    /// A parameter with `#[out_handle]`.
    OutHandle,
    /// A parameter with `#[string]`.
    String,
}

/// One parameter of an effect; `field` is its name in the descriptor.
pub(crate) struct Slot {
    pub(crate) field: &'static str,
    pub(crate) kind: SlotKind,
    /// Only the last may be left out.
    pub(crate) optional: bool,
}

/// One effect; `variant` is its name in the descriptor.
pub(crate) struct EffectRow {
    pub(crate) variant: &'static str,
    pub(crate) slots: &'static [Slot],
}

const fn flag(key: &'static str) -> Arg {
    Arg { key, shape: Shape::Flag, need: Need::Optional }
}
const fn length(key: &'static str) -> Arg {
    Arg { key, shape: Shape::Length, need: Need::Required }
}
const fn maybe_length(key: &'static str) -> Arg {
    Arg { key, shape: Shape::Length, need: Need::Optional }
}
const fn name(key: &'static str) -> Arg {
    Arg { key, shape: Shape::Name, need: Need::Required }
}
const fn path(key: &'static str) -> Arg {
    Arg { key, shape: Shape::Path, need: Need::Required }
}
const fn handle(field: &'static str) -> Slot {
    Slot { field, kind: SlotKind::Handle, optional: false }
}
const fn out_handle(field: &'static str) -> Slot {
    Slot { field, kind: SlotKind::OutHandle, optional: false }
}
const fn effect(key: &'static str, row: &'static EffectRow) -> Arg {
    Arg { key, shape: Shape::Effect(row), need: Need::Optional }
}
macro_rules! effect_row {
    ($variant:literal $(, $slot:expr)*) => {
        &EffectRow { variant: $variant, slots: &[$($slot),*] }
    };
}

const MACHINE: Arg = flag("machine");
const REASON: Arg = Arg { key: "reason", shape: Shape::Text, need: Need::Required };
const WITH: Arg = path("with");

const EFFECTS: &[Arg] = &[
    effect("enqueues", effect_row!("Enqueues", handle("stream"))),
    effect("launches", effect_row!("Launches")),
    effect("completes_device", effect_row!("CompletesDevice")),
    effect("completes_stream", effect_row!("CompletesStream", handle("stream"))),
    effect("completes_event", effect_row!("CompletesEvent", handle("event"))),
    effect(
        "records_event",
        effect_row!(
            "RecordsEvent",
            handle("event"),
            Slot { field: "stream", kind: SlotKind::Handle, optional: true }
        ),
    ),
    effect("waits_event", effect_row!("WaitsEvent", handle("stream"), handle("event"))),
    effect("begins_capture", effect_row!("BeginsCapture", handle("stream"))),
    effect("ends_capture", effect_row!("EndsCapture", handle("stream"), out_handle("graph"))),
    effect("adds_to_graph", effect_row!("AddsToGraph", handle("graph"))),
    effect("instantiates", effect_row!("Instantiates", out_handle("exec"), handle("graph"))),
    effect("launches_graph", effect_row!("LaunchesGraph", handle("exec"), handle("stream"))),
    effect("completes_null_stream", effect_row!("CompletesNullStream")),
    effect(
        "defines_kernel",
        effect_row!(
            "DefinesKernel",
            out_handle("function"),
            handle("image"),
            Slot { field: "name", kind: SlotKind::String, optional: false }
        ),
    ),
    effect("resets_device", effect_row!("ResetsDevice")),
];

/// The arguments of `#[api(..)]`.
pub(crate) const BLOCK_ARGS: &[Arg] = &[
    Arg { key: "group", shape: Shape::Text, need: Need::Required },
    Arg { key: "library", shape: Shape::Text, need: Need::Optional },
];

const FUNCTION: &[Place] = &[Place::Function];
const VALUE: &[Place] = &[Place::Parameter, Place::Field];
/// For words that act on the call, which a field cannot.
const PARAMETER: &[Place] = &[Place::Parameter];

macro_rules! rows {
    ($($word:ident $name:literal $places:ident $takes:ident, $args:expr, $doc:literal;)*) => {
        &[$(Row {
            word: Word::$word,
            name: $name,
            places: $places,
            takes: Takes::$takes,
            args: $args,
            doc: $doc,
        }),*]
    };
}

/// Every word, its place, what it takes, its arguments and what it does.
pub(crate) const ROWS: &[Row] = rows! {
    Alias "alias" FUNCTION Nothing,
        &[Arg { key: "", shape: Shape::Symbol, need: Need::Required }],
        "A mangled name under which old runtimes export the function; may stand more than once.";
    Machine "machine" FUNCTION Nothing, &[],
        "What the function writes and returns are facts of the machine; a status is compared.";
    Validated "validated" FUNCTION Nothing, &[],
        "The function checks its handles, so a call that failed may be issued with a bad one.";
    Query "query" FUNCTION Nothing,
        &[Arg { key: "wait", shape: Shape::Path, need: Need::Optional }],
        "Asks whether work is finished; replay waits with the function of the same signature.";
    Ordering "ordering" FUNCTION Nothing, &[],
        "Hands over a callback: replay issues one that does nothing.";
    Host "host" FUNCTION Nothing, &[REASON],
        "Recorded, by design not issued by replay.";
    Unreplayable "unreplayable" FUNCTION Nothing, &[REASON],
        "Recorded and flagged; replay refuses it by name.";
    Capture "capture" FUNCTION Nothing, &[WITH],
        "The hand-written half of recording.";
    Replay "replay" FUNCTION Nothing, &[WITH],
        "The hand-written half of replay.";
    Effect "effect" FUNCTION Nothing, EFFECTS,
        "What a successful call does to the order of work; may stand more than once.";
    OutHandle "out_handle" VALUE MutPointer, &[maybe_length("count")],
        "The call writes one handle, or `count` of them.";
    Destroys "destroys" PARAMETER Value, &[],
        "A handle that a successful call ends.";
    Deref "deref" VALUE Pointer,
        &[maybe_length("count"),
         Arg { key: "each", shape: Shape::Choice(&["device_ptr"]), need: Need::Beside("count") }],
        "The call reads one value, or `count` of them; `each`: they are addresses of the device.";
    InOut "inout" VALUE MutPointer, &[maybe_length("count"), MACHINE],
        "The call reads and writes one value, or `count` of them.";
    Out "out" VALUE MutPointer, &[maybe_length("count"), MACHINE],
        "The call writes one value, or `count` of them.";
    String "string" VALUE Pointer, &[],
        "The call reads characters to the NUL.";
    OutStr "out_str" VALUE MutPointer, &[length("bytes"), MACHINE],
        "The call writes a string into a buffer of this size.";
    DevicePtr "device_ptr" VALUE Address, &[],
        "An address that the device uses.";
    Frees "frees" PARAMETER Address, &[],
        "An address of the device whose allocation a successful call ends.";
    OutDevicePtr "out_device_ptr" VALUE MutPointer, &[maybe_length("bytes")],
        "The call writes an address of the device; with `bytes` it becomes a tracked range.";
    OutAlloc "out_alloc" VALUE MutPointer,
        &[length("bytes"),
         Arg {
             key: "space",
             shape: Shape::Choice(&["device", "pinned", "managed"]),
             need: Need::Required,
         }],
        "The call allocates memory and writes its address.";
    RegistersHost "registers_host" PARAMETER Address, &[length("bytes")],
        "Host memory that the call makes reachable for the device.";
    UnregistersHost "unregisters_host" PARAMETER Address, &[],
        "Host memory whose registration a successful call ends.";
    HostIn "host_in" VALUE Address, &[length("bytes")],
        "The call reads bytes of the host.";
    HostOut "host_out" VALUE Address, &[length("bytes"), MACHINE],
        "The call writes bytes of the host.";
    OutBuffer "out_buffer" VALUE MutPointer, &[length("bytes"), MACHINE],
        "As `host_out`; a literal number must be the size of the array or struct.";
    Operand "operand" VALUE Address,
        &[Arg { key: "kind", shape: Shape::Name, need: Need::OneOf("a place") },
         Arg {
             key: "place",
             shape: Shape::ChoiceOrPath(&["host", "device", "tracked"]),
             need: Need::OneOf("a place"),
         },
         Arg { key: "bytes", shape: Shape::Length, need: Need::OneOf("an extent") },
         Arg {
             key: "rows",
             shape: Shape::Lengths(&["pitch", "width", "height"]),
             need: Need::OneOf("an extent"),
         },
         Arg { key: "rect", shape: Shape::Path, need: Need::OneOf("an extent") },
         Arg {
             key: "side",
             shape: Shape::Choice(&["source", "destination"]),
             need: Need::Optional,
         }],
        "One side of a copy: where it lies and what it covers.";
    KernelArgs "kernel_args" VALUE Pointer,
        &[name("of"),
         Arg { key: "form", shape: Shape::Choice(&["pointers", "extra"]), need: Need::Optional }],
        "The arguments of the kernel that `of` names.";
    HostSymbol "host_symbol" VALUE Address, &[],
        "A host address that stands for a kernel or a variable of the device.";
    DefinesHostSymbol "defines_host_symbol" PARAMETER Address, &[name("image"), name("name")],
        "A host address that names a kernel or variable from now on.";
    CodeImage "code_image" VALUE Address,
        &[Arg { key: "wrapper", shape: Shape::Flag, need: Need::AtMostOne("a form") },
         Arg { key: "file", shape: Shape::Flag, need: Need::AtMostOne("a form") }],
        "A code object: the image, the compiler's wrapper of one, or the path of a file.";
    Tagged "tagged" VALUE Anything,
        &[name("by"), path("table"),
         Arg { key: "out", shape: Shape::Flag, need: Need::AtMostOne("a direction") },
         Arg { key: "inout", shape: Shape::Flag, need: Need::AtMostOne("a direction") }],
        "A value whose meaning another parameter gives: behind a pointer, or a union itself.";
    JitOptions "jit_options" VALUE Pointer, &[name("keys"), length("count")],
        "The values of just-in-time compiler options; `keys` names their array.";
    Callback "callback" VALUE Function, &[],
        "A function of the program that the runtime will call.";
    UserData "user_data" VALUE Address, &[],
        "What the runtime hands to the callback.";
    OutEntryPoint "out_entry_point" PARAMETER MutPointer, &[name("name")],
        "The call writes the address of the API function that `name` names.";
    OsHandle "os_handle" VALUE Anything, &[maybe_length("bytes")],
        "Something of the operating system that another process cannot use.";
    Opaque "opaque" VALUE Address, &[REASON],
        "A pointer whose value is only an identity, or is ignored.";
    Device "device" VALUE Value, &[],
        "The ordinal of a device.";
};

impl Row {
    /// The line of the reference, as a clause of an error.
    pub(crate) fn clause(&self) -> String {
        let doc = self.doc.trim_end_matches('.');
        let mut letters = doc.chars();
        letters
            .next()
            .map(|first| first.to_lowercase().chain(letters).collect())
            .unwrap_or_default()
    }

    /// Whether the word may stand more than once.
    fn repeats(&self) -> bool {
        matches!(self.word, Word::Alias | Word::Effect)
    }
}

/// The names that an attribute may use: the parameters of a function or the fields of a struct.
pub(crate) struct Names {
    /// The function or struct.
    pub(crate) owner: String,
    pub(crate) place: Place,
    pub(crate) idents: Vec<Ident>,
}

impl Names {
    fn resolve(&self, ident: Ident) -> syn::Result<Name> {
        let wanted = ident.unraw();
        match self.idents.iter().position(|known| known.unraw() == wanted) {
            Some(index) => Ok(Name { index, ident }),
            None => {
                let known: Vec<String> =
                    self.idents.iter().map(|ident| ident.unraw().to_string()).collect();
                let hint = did_you_mean(&wanted.to_string(), known.iter().map(String::as_str));
                let (noun, owner) = (self.place.noun(), &self.owner);
                let text = format!("no {noun} named `{wanted}` in `{owner}`{hint}");
                Err(syn::Error::new_spanned(ident, text))
            }
        }
    }
}

/// The value of an argument.
pub(crate) enum Value {
    Flag,
    Length(Len),
    Name(Name),
    Path(ExprPath),
    Text(LitStr),
    Choice(&'static str),
    Lengths(Vec<(&'static str, Len)>),
    Effect(&'static EffectRow, Vec<Name>),
}

/// An argument as it was written.
pub(crate) struct Given {
    pub(crate) key: &'static str,
    pub(crate) value: Value,
    /// The key's tokens, or the value's where there is no key.
    pub(crate) at: TokenStream,
}

/// One attribute, read by its row.
pub(crate) struct Parsed {
    pub(crate) row: &'static Row,
    /// The word as it stands, for its span.
    pub(crate) word: Ident,
    pub(crate) values: Vec<Given>,
    /// Its arguments are wrong, which was told: the word counts as written, its values do not.
    pub(crate) broken: bool,
}

impl Parsed {
    /// The value of an argument, if it was written.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        let index = self.values.iter().position(|given| given.key == key)?;
        Some(self.values.swap_remove(index).value)
    }
}

/// Words that stand where ours stand and are not ours.
fn is_foreign(place: Place, word: &str) -> bool {
    match place {
        Place::Function => matches!(
            word,
            "doc" | "cfg" | "allow" | "expect" | "warn" | "deny" | "deprecated" | "must_use"
        ),
        Place::Parameter => false,
        // The compiler and other derives answer for the words of theirs.
        Place::Field => ROWS.iter().all(|row| row.name != word),
    }
}

/// Reads the attributes of one function, parameter or field; the rest is handed back.
pub(crate) fn parse_attributes(
    attributes: Vec<Attribute>,
    place: Place,
    names: &Names,
    errors: &mut Errors,
) -> (Vec<Parsed>, Vec<Attribute>) {
    let mut parsed: Vec<Parsed> = Vec::new();
    let mut foreign = Vec::new();
    for attribute in attributes {
        let Some(word) = attribute.path().get_ident().cloned() else {
            match place {
                Place::Field => foreign.push(attribute),
                Place::Function | Place::Parameter => {
                    errors.at(attribute.path(), expected_word(place));
                }
            }
            continue;
        };
        if is_foreign(place, &word.to_string()) {
            foreign.push(attribute);
            continue;
        }
        let Some(row) = find_row(&word, place, errors) else { continue };
        if !row.repeats() && parsed.iter().any(|earlier| earlier.row.word == row.word) {
            errors.at(&word, format!("`#[{}]` stands here twice", row.name));
            continue;
        }
        let before = errors.count();
        let values = match &attribute.meta {
            Meta::Path(_) => Vec::new(),
            Meta::List(list) => {
                let mut values = Vec::new();
                let result = list.parse_args_with(|input: ParseStream<'_>| {
                    values = parse_args(input, row.name, row.args, Some(names), errors)?;
                    Ok(())
                });
                errors.keep(result);
                values
            }
            Meta::NameValue(pair) => {
                errors.at(pair.eq_token, format!("expected `#[{}(..)]`", row.name));
                continue;
            }
        };
        if errors.count() == before {
            check_needs(&word, row.name, row.args, &values, errors);
        }
        parsed.push(Parsed { row, word, values, broken: errors.count() > before });
    }
    (parsed, foreign)
}

fn find_row(word: &Ident, place: Place, errors: &mut Errors) -> Option<&'static Row> {
    let text = word.to_string();
    if text == "cfg" || text == "cfg_attr" {
        errors.at(word, format!("`{text}` cannot stand on a {}", place.noun()));
        return None;
    }
    let Some(row) = ROWS.iter().find(|row| row.name == text) else {
        let here = ROWS.iter().filter(|row| row.places.contains(&place)).map(|row| row.name);
        let hint = did_you_mean(&text, here);
        errors.at(word, format!("unknown word `{text}`{hint}; {}", expected_word(place)));
        return None;
    };
    if !row.places.contains(&place) {
        let places: Vec<&str> = row.places.iter().map(|place| place.noun()).collect();
        let text =
            format!("`#[{text}]` stands on a {}, not on a {}", places.join(" or a "), place.noun());
        errors.at(word, text);
        return None;
    }
    Some(row)
}

fn expected_word(place: Place) -> String {
    expected_one_of(ROWS.iter().filter(|row| row.places.contains(&place)).map(|row| row.name))
}

/// Reads `key = value, ..` by a list of arguments. `names` is absent where no value can be a name.
pub(crate) fn parse_args(
    input: ParseStream<'_>,
    word: &str,
    args: &'static [Arg],
    names: Option<&Names>,
    errors: &mut Errors,
) -> syn::Result<Vec<Given>> {
    let mut values = Vec::new();
    while !input.is_empty() {
        let result = parse_arg(input, word, args, names, &values).and_then(|given| {
            values.push(given);
            if input.is_empty() || input.peek(Token![,]) {
                Ok(())
            } else {
                Err(input.error("expected `,`"))
            }
        });
        if errors.keep(result).is_none() {
            while !input.is_empty() && !input.peek(Token![,]) {
                input.parse::<TokenTree>()?;
            }
        }
        input.parse::<Option<Token![,]>>()?;
    }
    Ok(values)
}

fn parse_arg(
    input: ParseStream<'_>,
    word: &str,
    args: &'static [Arg],
    names: Option<&Names>,
    have: &[Given],
) -> syn::Result<Given> {
    if let [Arg { key, shape: Shape::Symbol, .. }] = args {
        let symbol: LitStr = input.parse()?;
        let text = symbol.value();
        if text.is_empty() || text.contains(|c: char| c == '\0' || c.is_whitespace()) {
            return Err(syn::Error::new_spanned(symbol, "expected the name of a symbol"));
        }
        if !have.is_empty() {
            let text = format!("one symbol for each `#[{word}]`; write it once more");
            return Err(syn::Error::new_spanned(symbol, text));
        }
        let at = symbol.to_token_stream();
        return Ok(Given { key, value: Value::Text(symbol), at });
    }
    if !input.peek(Ident::peek_any) {
        return Err(input.error(expected_key(word, args)));
    }
    let key = input.call(Ident::parse_any)?;
    let text = key.to_string();
    let Some(arg) = args.iter().find(|arg| arg.key == text) else {
        let hint = did_you_mean(&text, args.iter().map(|arg| arg.key));
        let text = format!("unknown `{text}`{hint}; {}", expected_key(word, args));
        return Err(syn::Error::new_spanned(key, text));
    };
    // A call may have the same effect on two parameters.
    let repeats = matches!(arg.shape, Shape::Effect(_));
    if !repeats && have.iter().any(|earlier| earlier.key == arg.key) {
        return Err(syn::Error::new_spanned(key, format!("`{text}` stands here twice")));
    }
    let value = parse_value(input, &key, arg, names)?;
    Ok(Given { key: arg.key, value, at: key.to_token_stream() })
}

fn expected_key(word: &str, args: &[Arg]) -> String {
    match args {
        [] => format!("`#[{word}]` takes no arguments"),
        args => expected_one_of(args.iter().map(|arg| arg.key)),
    }
}

fn parse_value(
    input: ParseStream<'_>,
    key: &Ident,
    arg: &'static Arg,
    names: Option<&Names>,
) -> syn::Result<Value> {
    let shape = arg.shape;
    let flag = match shape {
        Shape::Flag => true,
        Shape::Effect(row) => row.slots.is_empty(),
        _ => false,
    };
    if flag {
        if input.peek(Token![=]) {
            return Err(input.error(format!("`{key}` takes no value")));
        }
        return Ok(match shape {
            Shape::Effect(row) => Value::Effect(row, Vec::new()),
            _ => Value::Flag,
        });
    }
    if let Shape::Lengths(keys) = shape {
        return parse_lengths(input, key, arg, keys, names);
    }
    if !input.peek(Token![=]) {
        return Err(syn::Error::new_spanned(key, format!("expected {}", form_of(arg))));
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new_spanned(key, format!("expected {}", form_of(arg))));
    }
    match shape {
        Shape::Length => {
            bare_or_string(input, |input| parse_length(input, names)).map(Value::Length)
        }
        Shape::Name => bare_or_string(input, |input| parse_name(input, names)).map(Value::Name),
        Shape::Path => bare_or_string(input, |input| input.parse()).map(Value::Path),
        Shape::Text => parse_text(input, key).map(Value::Text),
        Shape::Choice(words) => {
            bare_or_string(input, |input| parse_choice(input, words)).map(Value::Choice)
        }
        Shape::ChoiceOrPath(words) => {
            bare_or_string(input, |input| parse_choice_or_path(input, words))
        }
        Shape::Effect(row) => parse_effect(input, key, row, names),
        // Handled above: they have no `=`.
        Shape::Flag | Shape::Symbol | Shape::Lengths(_) => Ok(Value::Flag),
    }
}

/// A value may stand bare, which gives the better error, or as a string.
fn bare_or_string<T>(
    input: ParseStream<'_>,
    parser: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    if input.peek(LitStr) {
        let literal: LitStr = input.parse()?;
        return literal.parse_with(parser);
    }
    parser(input)
}

fn parse_text(input: ParseStream<'_>, key: &Ident) -> syn::Result<LitStr> {
    let text: LitStr = input.parse()?;
    if text.value().trim().is_empty() {
        return Err(syn::Error::new_spanned(text, format!("the {key} is empty")));
    }
    Ok(text)
}

fn parse_choice(
    input: ParseStream<'_>,
    words: &'static [&'static str],
) -> syn::Result<&'static str> {
    let expected = expected_one_of(words.iter().copied());
    if !input.peek(Ident::peek_any) {
        return Err(input.error(expected));
    }
    let word = input.call(Ident::parse_any)?;
    words
        .iter()
        .copied()
        .find(|known| word == *known)
        .ok_or_else(|| syn::Error::new_spanned(&word, expected))
}

fn parse_choice_or_path(
    input: ParseStream<'_>,
    words: &'static [&'static str],
) -> syn::Result<Value> {
    let path: ExprPath = input.parse()?;
    let Some(word) = path.path.get_ident() else { return Ok(Value::Path(path)) };
    match words.iter().copied().find(|known| word == *known) {
        Some(word) => Ok(Value::Choice(word)),
        None => {
            let text = format!(
                "{}, or the path of a function, with `::`",
                expected_one_of(words.iter().copied())
            );
            Err(syn::Error::new_spanned(path, text))
        }
    }
}

fn parse_name(input: ParseStream<'_>, names: Option<&Names>) -> syn::Result<Name> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error("expected a name"));
    }
    resolve(input.call(Ident::parse_any)?, names)
}

fn resolve(ident: Ident, names: Option<&Names>) -> syn::Result<Name> {
    match names {
        Some(names) => names.resolve(ident),
        None => Err(syn::Error::new_spanned(ident, "no name can stand here")),
    }
}

fn parse_lengths(
    input: ParseStream<'_>,
    key: &Ident,
    arg: &'static Arg,
    keys: &'static [&'static str],
    names: Option<&Names>,
) -> syn::Result<Value> {
    let form = || syn::Error::new_spanned(key, format!("expected {}", form_of(arg)));
    if !input.peek(syn::token::Paren) {
        return Err(form());
    }
    let lengths = parenthesized(input, |content| {
        let mut lengths: Vec<(&'static str, Len)> = Vec::new();
        while !content.is_empty() {
            let ahead = content.fork();
            let word = parse_choice(content, keys)?;
            if lengths.iter().any(|(have, _)| *have == word) {
                return Err(ahead.error(format!("`{word}` stands here twice")));
            }
            content.parse::<Token![=]>()?;
            lengths.push((word, bare_or_string(content, |input| parse_length(input, names))?));
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        Ok(lengths)
    })?;
    if lengths.len() < keys.len() {
        return Err(form());
    }
    Ok(Value::Lengths(lengths))
}

/// Reads what stands in parentheses, to their end. What is left after an error is dropped, so that
/// one mistake is one error.
fn parenthesized<T>(
    input: ParseStream<'_>,
    parser: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    let content;
    syn::parenthesized!(content in input);
    let result = parser(&content).and_then(|value| {
        if content.is_empty() { Ok(value) } else { Err(content.error("expected `)`")) }
    });
    content.parse::<TokenStream>()?;
    result
}

fn parse_effect(
    input: ParseStream<'_>,
    key: &Ident,
    row: &'static EffectRow,
    names: Option<&Names>,
) -> syn::Result<Value> {
    let mut given = Vec::new();
    if input.peek(syn::token::Paren) {
        parenthesized(input, |content| {
            while !content.is_empty() {
                given.push(bare_or_string(content, |input| parse_name(input, names))?);
                if !content.is_empty() {
                    content.parse::<Token![,]>()?;
                }
            }
            Ok(())
        })?;
    } else {
        given.push(bare_or_string(input, |input| parse_name(input, names))?);
    }
    let least = row.slots.iter().filter(|slot| !slot.optional).count();
    if given.len() < least || given.len() > row.slots.len() {
        let fields: Vec<&str> = row.slots.iter().map(|slot| slot.field).collect();
        let text = match fields.as_slice() {
            [field] => format!("expected `{key} = {field}`"),
            fields if least == 1 => {
                format!("expected `{key} = {}` or `{key} = ({})`", fields[0], fields.join(", "))
            }
            fields => format!("expected `{key} = ({})`", fields.join(", ")),
        };
        return Err(syn::Error::new_spanned(key, text));
    }
    Ok(Value::Effect(row, given))
}

/// A length that ends with the argument.
fn parse_length(input: ParseStream<'_>, names: Option<&Names>) -> syn::Result<Len> {
    let length = parse_len(input, names)?;
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(length);
    }
    Err(input.error("expected the end of the length, which is a product or a minimum"))
}

/// `LENGTH = factor ('*' factor)*`.
fn parse_len(input: ParseStream<'_>, names: Option<&Names>) -> syn::Result<Len> {
    let first = parse_factor(input, names)?;
    if !input.peek(Token![*]) {
        return Ok(first);
    }
    let mut factors = vec![first];
    while input.peek(Token![*]) {
        input.parse::<Token![*]>()?;
        factors.push(parse_factor(input, names)?);
    }
    Ok(Len::Product(factors))
}

fn parse_factor(input: ParseStream<'_>, names: Option<&Names>) -> syn::Result<Len> {
    if input.peek(LitInt) {
        let token: LitInt = input.parse()?;
        if !token.suffix().is_empty() {
            return Err(syn::Error::new_spanned(token, "a length has no suffix"));
        }
        let Ok(value) = token.base10_parse() else {
            return Err(syn::Error::new_spanned(
                token,
                "expected a number of 64 bits, not negative",
            ));
        };
        return Ok(Len::Literal { value, token });
    }
    if input.peek(syn::token::Paren) {
        return parenthesized(input, |content| parse_len(content, names));
    }
    if !input.peek(Ident::peek_any) && !input.peek(Token![::]) && !input.peek(Token![<]) {
        return Err(input.error(
            "expected a length: a number, a name, `before(name)`, `after(name)`, \
             `min(.., ..)`, a product, or the path of a function, with `::`",
        ));
    }
    if input.peek2(syn::token::Paren) {
        return parse_length_call(input, names);
    }
    if input.peek(Ident::peek_any) && !input.peek2(Token![::]) {
        return Ok(Len::Param(parse_name(input, names)?));
    }
    Ok(Len::Call(input.parse()?))
}

/// `before(name)`, `after(name)` and `min(LENGTH, LENGTH, ..)`.
fn parse_length_call(input: ParseStream<'_>, names: Option<&Names>) -> syn::Result<Len> {
    let word = input.call(Ident::parse_any)?;
    parenthesized(input, |content| match word.to_string().as_str() {
        "before" => Ok(Len::Before(parse_name(content, names)?)),
        "after" => Ok(Len::After(parse_name(content, names)?)),
        "min" => {
            let mut lengths = vec![parse_len(content, names)?];
            while content.peek(Token![,]) {
                content.parse::<Token![,]>()?;
                lengths.push(parse_len(content, names)?);
            }
            if lengths.len() < 2 {
                return Err(syn::Error::new_spanned(&word, "`min` takes two lengths or more"));
            }
            Ok(Len::Min(lengths))
        }
        other => {
            let known = ["before", "after", "min"];
            let hint = did_you_mean(other, known);
            let text = format!("unknown `{other}(..)`{hint}; {}", expected_one_of(known));
            Err(syn::Error::new_spanned(&word, text))
        }
    })
}

/// What is missing, and what excludes each other.
pub(crate) fn check_needs(
    word: &Ident,
    name: &str,
    args: &'static [Arg],
    values: &[Given],
    errors: &mut Errors,
) {
    let has = |arg: &Arg| values.iter().any(|given| given.key == arg.key);
    let mut told: Vec<&str> = Vec::new();
    for arg in args {
        let (label, least) = match arg.need {
            Need::Optional => continue,
            Need::Required => {
                if !has(arg) {
                    errors.at(word, format!("`#[{name}]` needs {}", form_of(arg)));
                }
                continue;
            }
            Need::Beside(other) => {
                if has(arg) && values.iter().all(|given| given.key != other) {
                    errors.at(word, format!("`{}` needs `{other}` beside it", arg.key));
                }
                continue;
            }
            Need::OneOf(label) => (label, 1),
            Need::AtMostOne(label) => (label, 0),
        };
        if told.contains(&label) {
            continue;
        }
        told.push(label);
        let group: Vec<&Arg> = args.iter().filter(|other| other.need == arg.need).collect();
        let given: Vec<&Given> =
            values.iter().filter(|given| group.iter().any(|arg| arg.key == given.key)).collect();
        if given.len() < least {
            let forms: Vec<String> = group.iter().map(|arg| form_of(arg)).collect();
            errors.at(word, format!("`#[{name}]` needs {label}: {}", forms.join(" or ")));
        }
        if let [first, second, ..] = given.as_slice() {
            let text = format!("`{}` excludes `{}`: both give {label}", second.key, first.key);
            errors.at(&second.at, text);
        }
    }
}

/// How an argument is written.
pub(crate) fn form_of(arg: &Arg) -> String {
    let key = arg.key;
    match arg.shape {
        Shape::Flag => format!("`{key}`"),
        Shape::Length => format!("`{key} = LENGTH`"),
        Shape::Name => format!("`{key} = name`"),
        Shape::Path => format!("`{key} = path`"),
        Shape::Text => format!("`{key} = \"..\"`"),
        Shape::Symbol => "`\"symbol\"`".to_owned(),
        Shape::Choice(words) => format!("`{key} = {}`", words.join("|")),
        Shape::ChoiceOrPath(words) => format!("`{key} = {}|path::to::function`", words.join("|")),
        Shape::Lengths(keys) => format!("`{key}({} = LENGTH)`", keys.join(" = LENGTH, ")),
        Shape::Effect(row) => {
            let fields: Vec<&str> = row.slots.iter().map(|slot| slot.field).collect();
            match fields.as_slice() {
                [] => format!("`{key}`"),
                [field] => format!("`{key} = {field}`"),
                fields => format!("`{key} = ({})`", fields.join(", ")),
            }
        }
    }
}
