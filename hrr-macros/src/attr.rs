//! The words of the declarations: one table.
//!
//! [`ROWS`] is the only place that spells a word, its arguments, where it may stand and what it
//! does. The parser in `args`, the texts "expected one of ..", and `words.md` (the reference in the
//! crate's documentation) are made from it. What a word means for the descriptor is said in
//! `parse`, what it asks of the type in `check`.

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
    Choice(&'static [Choice]),
    /// `key = word`, one of these, or a path with `::`.
    ChoiceOrPath(&'static [Choice]),
    /// `key(pitch = LENGTH, ..)`, all of these.
    Lengths(&'static [&'static str]),
    /// The parameters of an effect.
    Effect(&'static EffectRow),
}

/// A word that a value may be, and the variant of the descriptor that it means.
pub(crate) type Choice = (&'static str, &'static str);

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
    /// An integer by value.
    Integer,
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
    effect(
        "makes_stream",
        effect_row!(
            "MakesStream",
            out_handle("stream"),
            Slot { field: "flags", kind: SlotKind::Integer, optional: true }
        ),
    ),
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
    effect(
        "sets_node",
        effect_row!(
            "SetsNode",
            handle("node"),
            Slot { field: "exec", kind: SlotKind::Handle, optional: true }
        ),
    ),
    effect(
        "enables_node",
        effect_row!(
            "EnablesNode",
            handle("exec"),
            handle("node"),
            Slot { field: "enabled", kind: SlotKind::Integer, optional: false }
        ),
    ),
    effect("clones_graph", effect_row!("ClonesGraph", out_handle("clone"), handle("graph"))),
    effect("instantiates", effect_row!("Instantiates", out_handle("exec"), handle("graph"))),
    effect("updates_exec", effect_row!("UpdatesExec", handle("exec"), handle("graph"))),
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
    effect("exports_memory", effect_row!("ExportsMemory")),
    effect("peeks_last_error", effect_row!("PeeksLastError")),
    effect("takes_last_error", effect_row!("TakesLastError")),
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
        "What a successful call does to the order of work and to memory, or says of earlier calls; \
         may stand more than once.";
    OutHandle "out_handle" VALUE MutPointer, &[maybe_length("count")],
        "The call writes one handle, or `count` of them.";
    Destroys "destroys" PARAMETER Value, &[],
        "A handle that a successful call ends.";
    Deref "deref" VALUE Pointer,
        &[maybe_length("count"),
         Arg { key: "each", shape: Shape::Choice(&[("device_ptr", "DevicePointerArray")]), need: Need::Beside("count") }],
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
             shape: Shape::ChoiceOrPath(&[("device", "Device"), ("pinned", "Pinned"), ("managed", "Managed")]),
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
             shape: Shape::ChoiceOrPath(&[("host", "Host"), ("device", "Device"), ("tracked", "Tracked")]),
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
             shape: Shape::Choice(&[("source", "Source"), ("destination", "Destination")]),
             need: Need::Optional,
         }],
        "One side of a copy: where it lies and what it covers.";
    KernelArgs "kernel_args" VALUE Pointer,
        &[name("of"),
         Arg { key: "form", shape: Shape::Choice(&[("pointers", "Pointers"), ("extra", "Extra")]), need: Need::Optional }],
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
    pub(crate) fn repeats(&self) -> bool {
        matches!(self.word, Word::Alias | Word::Effect)
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
        Shape::Choice(choices) => format!("`{key} = {}`", words_of(choices).join("|")),
        Shape::ChoiceOrPath(choices) => {
            format!("`{key} = {}|path::to::function`", words_of(choices).join("|"))
        }
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

/// The words of a list of choices.
pub(crate) fn words_of(choices: &[Choice]) -> Vec<&'static str> {
    choices.iter().map(|(word, _)| *word).collect()
}
