//! Recorded events, for people and for tools.
//!
//! Prints from the archive's own shapes: no declaration of this build is needed, and none is asked.
//! Each kind of parameter has one policy ([`content_text`]). Of contents it prints scalars, fields of
//! structs, handles, addresses and strings of at most [`TEXT_MAX`] characters, and of the arguments
//! of kernels those of at most 8 bytes. Buffers, images and longer arguments appear only as their
//! size and the start of their hash: a dump is no second copy of a program's data.

use std::fmt::Write as _;

use serde::Serialize;

use crate::archive::blob_hash;
use crate::archive::event::{
    Body, Event, FIELD_CALLBACK_STORE, FIELD_CHECK, FIELD_CUSTOM, FIELD_HOST_SEEN,
    FIELD_HOST_WRITE, FIELD_RET, FIELD_SPECIAL, Field, Phase,
};
use crate::archive::shape::{ApiShape, Inside, ParamShape, PayloadShape};
use crate::code::{ELEMENT_IDENTITY, Identity, ValueKind, decode_arg};
use crate::desc::ScalarKind;
use crate::replay::scalar_text;

/// Characters of a string that are printed.
pub const TEXT_MAX: usize = 120;
/// Elements of an array that are printed.
pub const ELEMENTS_MAX: usize = 8;

/// One event, ready to be printed or serialised.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct EventDump {
    /// The recorded thread.
    pub thread: u32,
    /// The index on it.
    pub index: u64,
    /// When the call began, in ticks of the recording's clock.
    pub enter: u64,
    /// When it returned; absent if it was in flight.
    pub leave: Option<u64>,
    /// The event whose callback made the call: thread and index.
    pub parent: Option<(u32, u64)>,
    /// The function.
    pub function: String,
    /// The arguments.
    pub args: Vec<ArgDump>,
    /// What it returned; absent if it was in flight.
    pub result: Option<String>,
    /// Host memory restored before the call, checks that it carries, data of hand-written halves.
    pub notes: Vec<String>,
}

/// One argument.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ArgDump {
    /// The parameter.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// The value as the program passed it.
    pub value: String,
    /// What stood behind it before the call.
    pub before: Vec<String>,
    /// What stood there after it.
    pub after: Vec<String>,
}

impl EventDump {
    /// Prepares an event of a function.
    pub fn new(event: &Event, shape: &ApiShape) -> EventDump {
        let mut args: Vec<ArgDump> = shape
            .params
            .iter()
            .map(|param| ArgDump {
                name: param.name.clone(),
                kind: param.kind.clone(),
                value: slot_text(param, &event.args),
                before: Vec::new(),
                after: Vec::new(),
            })
            .collect();
        let mut notes = Vec::new();
        let mut path: Vec<Option<&ParamShape>> = Vec::new();
        let mut owner = 0;
        for field in &event.fields {
            if let Some(note) = note_text(field) {
                notes.push(note);
                continue;
            }
            if field.id >= FIELD_SPECIAL {
                continue;
            }
            let depth = usize::from(field.depth);
            if depth == 0 {
                owner = usize::from(field.id);
            } else if path.len() < depth {
                // A struct by value has no field of its own.
                owner = by_value_after(&shape.params, owner);
                path.resize(depth, shape.params.get(owner));
            }
            path.truncate(depth);
            let siblings = match path.last() {
                Some(parent) => parent.and_then(members).unwrap_or_default(),
                None => &shape.params[..],
            };
            let param = siblings.get(usize::from(field.id));
            path.push(param);
            let text = field_text(field, param, &path);
            if let Some(arg) = args.get_mut(owner) {
                match field.phase {
                    Phase::Before => arg.before.push(text),
                    Phase::After => arg.after.push(text),
                }
            }
        }
        EventDump {
            thread: event.id.thread,
            index: event.id.index,
            enter: event.enter,
            leave: event.leave,
            parent: event.parent.map(|parent| (parent.thread, parent.index)),
            function: shape.name.clone(),
            args,
            result: event.leave.map(|_| result_text(event, shape)),
            notes,
        }
    }
}

impl std::fmt::Display for EventDump {
    /// One line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{} {}(", self.thread, self.index, self.function)?;
        for (at, arg) in self.args.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{}={}", arg.name, arg.value)?;
            if !arg.before.is_empty() {
                write!(f, " [{}]", arg.before.join("; "))?;
            }
            if !arg.after.is_empty() {
                write!(f, " -> [{}]", arg.after.join("; "))?;
            }
        }
        match &self.result {
            Some(result) => write!(f, ") = {result}")?,
            None => write!(f, ") in flight")?,
        }
        for note in &self.notes {
            write!(f, " | {note}")?;
        }
        if let Some((thread, index)) = self.parent {
            write!(f, " | in a callback of {thread}/{index}")?;
        }
        Ok(())
    }
}

fn members(param: &ParamShape) -> Option<&[ParamShape]> {
    match &param.payload.as_ref()?.inside {
        Inside::Struct(members) => Some(members),
        Inside::Signed | Inside::Unsigned | Inside::Float | Inside::Bytes | Inside::Handle(_) => {
            None
        }
    }
}

/// The struct by value that stands next at or after a parameter.
fn by_value_after(params: &[ParamShape], at: usize) -> usize {
    (at..params.len()).find(|at| params[*at].kind == "Struct").unwrap_or(at)
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    let count = bytes.len().min(8);
    word[..count].copy_from_slice(&bytes[..count]);
    u64::from_le_bytes(word)
}

/// The value of a parameter or field itself.
fn slot_text(param: &ParamShape, block: &[u8]) -> String {
    let (start, bytes) = (param.offset as usize, param.bytes as usize);
    let Some(slot) = start.checked_add(bytes).and_then(|end| block.get(start..end)) else {
        return "?".to_owned();
    };
    match (&*param.kind, &param.payload) {
        ("Scalar" | "Struct" | "InHandle", Some(payload)) => value_text(payload, slot),
        ("Device", _) => scalar_text(ScalarKind::Signed, slot),
        _ if bytes == 8 => address_text(word(slot)),
        _ => scalar_text(ScalarKind::Unsigned, slot),
    }
}

fn address_text(address: u64) -> String {
    if address == 0 { "null".to_owned() } else { format!("{address:#x}") }
}

/// A value of a described type.
fn value_text(payload: &PayloadShape, bytes: &[u8]) -> String {
    let bytes = bytes.get(..payload.bytes as usize).unwrap_or(bytes);
    match &payload.inside {
        Inside::Signed => scalar_text(ScalarKind::Signed, bytes),
        Inside::Unsigned => scalar_text(ScalarKind::Unsigned, bytes),
        Inside::Float => scalar_text(ScalarKind::Float, bytes),
        // Bytes without a meaning may be anything, so they are data.
        Inside::Bytes if bytes.len() > 8 => bytes_text(bytes),
        Inside::Bytes => scalar_text(ScalarKind::Bytes, bytes),
        Inside::Handle(_) => address_text(word(bytes)),
        Inside::Struct(members) => {
            let each = members.iter().map(|m| format!("{}: {}", m.name, slot_text(m, bytes)));
            format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Bytes that are data: only how many, and which.
fn bytes_text(bytes: &[u8]) -> String {
    format!("{} bytes #{:08x}", bytes.len(), (blob_hash(bytes) >> 96) as u32)
}

fn quoted(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown: String = text.chars().take(TEXT_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

/// What a field holds, led by its name where it stands in a struct.
fn field_text(field: &Field, param: Option<&ParamShape>, path: &[Option<&ParamShape>]) -> String {
    let mut text = String::new();
    for (level, step) in path.iter().enumerate().skip(1) {
        let dot = if level > 1 { "." } else { "" };
        // Writing to a string cannot fail.
        let _ = match step {
            Some(step) => write!(text, "{dot}{}", step.name),
            None => write!(text, "{dot}#{}", field.id),
        };
    }
    if path.len() > 1 {
        text.push('=');
    }
    text.push_str(&body_text(field, param));
    if let Some(clipped) = field.clipped().filter(|_| !matches!(field.body, Body::Absent(_))) {
        let _ = write!(text, " (recorded: {clipped})");
    }
    text
}

fn body_text(field: &Field, param: Option<&ParamShape>) -> String {
    match &field.body {
        Body::Null => "null".to_owned(),
        Body::Device => "device".to_owned(),
        Body::Absent(reason) => format!("absent: {}", reason.text()),
        Body::Blob { hash, bytes } => format!("{bytes} bytes #{:08x}", (hash >> 96) as u32),
        Body::Bytes(bytes) => match param {
            Some(param) => content_text(field, param, bytes),
            None => bytes_text(bytes),
        },
    }
}

/// The one policy of each kind for what stands behind it.
fn content_text(field: &Field, param: &ParamShape, bytes: &[u8]) -> String {
    match (&*param.kind, &param.payload) {
        ("String" | "OutString", _) => quoted(bytes),
        ("KernelArgs", _) if field.element == ELEMENT_IDENTITY => identity_text(bytes),
        ("KernelArgs", _) => argument_text(field, bytes),
        ("HostSymbol" | "DefinesHostSymbol", _) => identity_text(bytes),
        ("OutputHandle" | "OutDevicePointer" | "DevicePointerArray", _) => {
            elements_text(bytes, 8, |word_bytes| address_text(word(word_bytes)))
        }
        ("JitOptionValueArray", _) if field.element == 0 => {
            elements_text(bytes, 8, |word_bytes| address_text(word(word_bytes)))
        }
        ("StructByPointer" | "ArrayByCount", Some(payload)) => {
            elements_text(bytes, payload.bytes as usize, |element| value_text(payload, element))
        }
        // Host buffers, operands, images, tagged values, and kinds of newer recorders.
        _ => bytes_text(bytes),
    }
}

fn elements_text(bytes: &[u8], size: usize, each: impl Fn(&[u8]) -> String) -> String {
    if size == 0 {
        return bytes_text(bytes);
    }
    if bytes.len() == size {
        return each(bytes);
    }
    let count = bytes.len() / size;
    let mut shown: Vec<String> = bytes.chunks_exact(size).take(ELEMENTS_MAX).map(each).collect();
    if count > ELEMENTS_MAX {
        shown.push(format!("… {count} in all"));
    }
    format!("[{}]", shown.join(", "))
}

fn identity_text(bytes: &[u8]) -> String {
    match Identity::decode(bytes) {
        Some(Identity { image, name }) => {
            format!("{} of #{:08x}", quoted(name.as_bytes()), (image >> 96) as u32)
        }
        None => "an identity that cannot be read".to_owned(),
    }
}

fn argument_text(field: &Field, bytes: &[u8]) -> String {
    let value = match decode_arg(bytes) {
        Some((ValueKind::Pointer | ValueKind::Other, value)) if value.len() == 8 => {
            address_text(word(value))
        }
        Some((_, value)) if value.len() <= 8 => scalar_text(ScalarKind::Bytes, value),
        Some((_, value)) => bytes_text(value),
        None => "an argument that cannot be read".to_owned(),
    };
    format!("#{} {value}", field.element)
}

/// The text of a field that belongs to the event and not to a parameter.
fn note_text(field: &Field) -> Option<String> {
    let content = body_text(field, None);
    match field.id {
        FIELD_HOST_WRITE => Some(format!("host memory {:#x}: {content}", field.address)),
        FIELD_CALLBACK_STORE => {
            let owner = field.owner.map_or_else(String::new, |(owner, _)| {
                format!(" of {}/{}", owner.thread, owner.index)
            });
            let (run, address) = (field.element, field.address);
            Some(format!("the callback{owner}, run {run}, stored at {address:#x}: {content}"))
        }
        FIELD_HOST_SEEN => Some(format!(
            "host memory {:#x} while work of {} ms ran: {content}",
            field.address, field.element
        )),
        FIELD_CHECK => Some(match field.owner {
            Some((owner, _)) => format!(
                "check of {}/{} at {:#x}: {content}",
                owner.thread, owner.index, field.address
            ),
            None => format!("check at {:#x}: {content}", field.address),
        }),
        FIELD_CUSTOM => Some(format!("custom {}: {content}", field.element)),
        _parameters_and_results => None,
    }
}

fn result_text(event: &Event, shape: &ApiShape) -> String {
    let field = event.fields.iter().find(|field| field.id == FIELD_RET);
    let ret = event.ret.to_le_bytes();
    let bytes = &ret[..(shape.ret.bytes as usize).min(8)];
    match (&*shape.ret.kind, field.map(|field| &field.body), &shape.ret.payload) {
        ("void", _, _) => "()".to_owned(),
        ("status", _, _) => scalar_text(ScalarKind::Signed, bytes),
        ("string", Some(Body::Bytes(text)), _) => quoted(text),
        ("value", Some(Body::Bytes(long)), Some(payload)) => value_text(payload, long),
        ("value" | "handle", _, Some(payload)) => value_text(payload, bytes),
        _ => address_text(event.ret),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::archive::event::{AbsentReason, EventId, ORIGINAL_UNKNOWN};
    use crate::archive::shape::RetShape;
    use crate::code::encode_arg;

    fn scalar(inside: Inside, bytes: u32) -> PayloadShape {
        PayloadShape { name: "scalar".to_owned(), bytes, inside }
    }

    fn param(name: &str, kind: &str, offset: u32, bytes: u32) -> ParamShape {
        ParamShape {
            name: name.to_owned(),
            ty: String::new(),
            offset,
            bytes,
            kind: kind.to_owned(),
            output: false,
            machine: false,
            payload: None,
        }
    }

    fn field(id: u16, phase: Phase, body: Body) -> Field {
        Field {
            id,
            depth: 0,
            phase,
            element: 0,
            original: 1,
            recorded: 1,
            address: 0,
            owner: None,
            body,
        }
    }

    fn bytes(content: &[u8]) -> Body {
        Body::Bytes(Arc::from(content))
    }

    fn shape(params: Vec<ParamShape>) -> ApiShape {
        let args_bytes = params.last().map_or(0, |last| last.offset.saturating_add(last.bytes));
        let ret = RetShape {
            ty: "Status".to_owned(),
            bytes: 4,
            kind: "status".to_owned(),
            machine: false,
            payload: None,
        };
        ApiShape {
            name: "f".to_owned(),
            group: String::new(),
            library: String::new(),
            class: "replayed".to_owned(),
            reason: String::new(),
            args_bytes,
            params,
            ret,
        }
    }

    fn event(args: &[u8], fields: Vec<Field>) -> Event {
        Event {
            id: EventId { thread: 1, index: 2 },
            api: 0,
            enter: 10,
            leave: Some(20),
            parent: None,
            ret: 0,
            args: args.to_vec(),
            fields,
        }
    }

    fn line(event: &Event, shape: &ApiShape) -> String {
        EventDump::new(event, shape).to_string()
    }

    #[test]
    fn values_handles_strings_and_outputs() {
        let number =
            ParamShape { payload: Some(scalar(Inside::Signed, 4)), ..param("n", "Scalar", 0, 4) };
        let shape = shape(vec![
            number,
            param("name", "String", 8, 8),
            param("out", "OutputHandle", 16, 8),
            param("p", "DevicePointer", 24, 8),
        ]);
        let mut args = vec![0xff; 4];
        args.resize(32, 0);
        args[8] = 1;
        args[16] = 2;
        let fields = vec![
            field(1, Phase::Before, bytes(b"a\"b")),
            field(2, Phase::After, bytes(&0x77u64.to_le_bytes())),
        ];
        assert_eq!(
            line(&event(&args, fields), &shape),
            r#"1/2 f(n=-1, name=0x1 ["a\"b"], out=0x2 -> [0x77], p=null) = 0"#
        );
    }

    #[test]
    fn data_is_never_printed() {
        let secret = b"the secret prompt of somebody";
        let kinds =
            ["HostInputBuffer", "HostOutputBuffer", "MemcpyOperand", "Image", "Tagged", "New"];
        let params = kinds.iter().enumerate().map(|(i, kind)| param("p", kind, i as u32 * 8, 8));
        let mut params: Vec<ParamShape> = params.collect();
        params.push(param("args", "KernelArgs", 48, 8));
        let mut fields: Vec<Field> =
            (0..6).map(|id| field(id, Phase::Before, bytes(secret))).collect();
        fields.push(field(6, Phase::Before, bytes(&encode_arg(ValueKind::ByValue, secret))));
        fields.push(field(FIELD_CHECK, Phase::After, bytes(secret)));
        fields.push(field(FIELD_HOST_WRITE, Phase::Before, bytes(secret)));
        fields.push(field(FIELD_CUSTOM, Phase::Before, bytes(secret)));
        let dump = EventDump::new(&event(&[1; 56], fields), &shape(params));
        let json = serde_json::to_string(&dump).unwrap();
        for text in [dump.to_string(), json] {
            assert!(!text.contains("secret") && !text.contains("73 65 63"), "{text}");
            assert_eq!(text.matches("29 bytes #").count(), 10, "{text}");
        }
    }

    #[test]
    fn structs_name_what_hangs_below_them() {
        let member =
            |name, kind, offset, payload| ParamShape { payload, ..param(name, kind, offset, 8) };
        let config = PayloadShape {
            name: "Config".to_owned(),
            bytes: 16,
            inside: Inside::Struct(vec![
                member("count", "Scalar", 0, Some(scalar(Inside::Unsigned, 8))),
                member("text", "String", 8, None),
            ]),
        };
        let mut content = vec![0; 16];
        (content[0], content[8]) = (3, 9);
        let below = |text: &[u8]| Field { depth: 1, ..field(1, Phase::Before, bytes(text)) };
        let by_pointer =
            ParamShape { payload: Some(config.clone()), ..param("c", "StructByPointer", 0, 8) };
        let fields = vec![field(0, Phase::Before, bytes(&content)), below(b"x")];
        let text = line(&event(&[1, 0, 0, 0, 0, 0, 0, 0], fields), &shape(vec![by_pointer]));
        assert!(text.contains(r#"c=0x1 [{count: 3, text: 0x9}; text="x"]"#), "{text}");
        let by_value =
            ParamShape { payload: Some(config), bytes: 16, ..param("v", "Struct", 8, 16) };
        let mut args = vec![0; 8];
        args.extend_from_slice(&content);
        let shape = shape(vec![param("p", "DevicePointer", 0, 8), by_value]);
        let text = line(&event(&args, vec![below(b"y")]), &shape);
        assert!(text.contains(r#"v={count: 3, text: 0x9} [text="y"]"#), "{text}");
    }

    #[test]
    fn what_is_missing_says_so_and_hostile_events_print() {
        let array = ParamShape {
            payload: Some(scalar(Inside::Unsigned, 4)),
            ..param("a", "ArrayByCount", 0, 8)
        };
        let shape = shape(vec![array, param("far", "Scalar", u32::MAX - 3, 8)]);
        let many: Vec<u8> = (0..20u32).flat_map(u32::to_le_bytes).collect();
        let short = Field { original: 30, recorded: 20, ..field(0, Phase::Before, bytes(&many)) };
        let absent = field(0, Phase::After, Body::Absent(AbsentReason::Freed));
        let deep = Field { depth: 200, id: 900, ..field(0, Phase::After, bytes(b"abc")) };
        let stray = field(77, Phase::After, bytes(b"abc"));
        let text = line(&event(&[5], vec![short, absent, deep, stray.clone()]), &shape);
        assert!(
            text.contains("[0, 1, 2, 3, 4, 5, 6, 7, … 20 in all] (recorded: 20 of 30 elements)"),
            "{text}"
        );
        let unknown = Field { original: ORIGINAL_UNKNOWN, recorded: 3, ..stray.clone() };
        let clipped = line(&event(&[5], vec![Field { id: 0, ..unknown }]), &shape);
        assert!(clipped.contains("(recorded: the first 3, of unknown length)"), "{clipped}");
        assert!(text.contains("absent: freed before"), "{text}");
        assert!(text.contains("far=?"), "{text}");
    }
}
