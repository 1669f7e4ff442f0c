//! One recorded call, as the reader yields it and the writer encodes it.
//!
//! An event is the argument block as the program passed it, and after it the *fields*: typed
//! contents of what its pointers point at, in depth-first order of the declaration. A field tells
//! whole from truncated, absent and unsupported; see [`Body`].
//!
//! # The fields of each role
//!
//! Fields of [`Phase::Before`] stand first, then those of [`Phase::After`], each in depth-first
//! order of the declaration. What hangs in a struct stands at `depth + 1` with the index of the
//! struct's field as `id`; a struct by value has no field of its own. Below an array of several
//! elements `element` is the index of the element, elsewhere that of the enclosing array, or 0.
//!
//! | role | before | after a success |
//! |---|---|---|
//! | `Scalar`, `InHandle`, `DevicePointer`, `RegistersHost`, `UnregistersHost`, `Callback`, `UserData`, `Opaque`, `Device` | none: the value stands in the block | none |
//! | `Pointee`, `Array` | `In`, `InOut`: the elements as they lie in memory, then what hangs below each | `Out`, `InOut`: the same; `In`: what hangs below, without the elements |
//! | `OutHandle`, `OutDevicePointer` | none | the values written, 8 bytes each |
//! | `String`, `OutString` | the bytes without the NUL | the same |
//! | `DevicePointerArray` | 8 bytes each | none |
//! | `HostIn`, `HostOut` | the bytes | the bytes |
//! | `Operand`, source | [`Body::Device`], or the rows without the gaps; `address` is the pointer | none |
//! | `Operand`, destination | none | [`Body::Device`], or the rows without the gaps, or [`AbsentReason::Deferred`]; `address` is the pointer |
//! | `KernelArgs` | with `element` [`crate::code::ELEMENT_IDENTITY`] the kernel's [`crate::code::Identity`]; then one field of the same id and depth for each argument, `element` its index, `address` its offset in the argument segment, in the form of [`crate::code::encode_arg`] | none |
//! | `HostSymbol`, `DefinesHostSymbol` | the [`crate::code::Identity`] | none |
//! | `Image` | the image's bytes; of what has no length its first ones, [`ORIGINAL_UNKNOWN`] in all, where `element` 1 says that they are those of a wrapper which is none | none |
//! | `Tagged` | behind a pointer: as `Pointee`, of the tag's payload; by value: what hangs below | the same |
//! | `JitOptions` | with `element` 0 the values, 8 bytes each; with `element` 1 + its place each unknown option, absent | with `element` 1 + its place the content of each buffer |
//! | `EntryPoint`, `OsHandle` | none | [`AbsentReason::NotKept`] |
//!
//! A null pointer is [`Body::Null`].

use std::sync::Arc;

/// The hash of a blob: XXH3, 128 bits, of the content.
pub type BlobHash = u128;

/// Names an event within a process: the recorded thread and the event's index on that thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct EventId {
    /// The recorded thread: an ordinal of the archive, not a number of the system.
    pub thread: u32,
    /// The index among the thread's events, from 0.
    pub index: u64,
}

/// One recorded call.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Its name.
    pub id: EventId,
    /// The function: an index into the archive's API table.
    pub api: u32,
    /// When the call began, in ticks of the recording's clock.
    pub enter: u64,
    /// When it returned; `None`: it was in flight when the recording ended.
    pub leave: Option<u64>,
    /// The event whose callback made this call.
    pub parent: Option<EventId>,
    /// What the call returned, `ret.bytes` bytes in a word, zero-extended; a longer value stands in
    /// a field with the id [`FIELD_RET`].
    pub ret: u64,
    /// The argument block.
    pub args: Vec<u8>,
    /// The contents.
    pub fields: Vec<Field>,
}

/// The id of the field that holds a returned value of more than 8 bytes, or a returned string.
pub const FIELD_RET: u16 = 0xffff;
/// The id of a field that restores a part of a tracked host range before the call:
/// `element` is unused, [`Field::address`] is the recorded address.
pub const FIELD_HOST_WRITE: u16 = 0xfffe;
/// The id of a field that holds what device work has written to host memory and that became final
/// when this call returned: an expectation, compared after the replayed call returns.
pub const FIELD_CHECK: u16 = 0xfffd;
/// The id of a field by which a hand-written half keeps data of its own; `element` tells them
/// apart.
pub const FIELD_CUSTOM: u16 = 0xfffc;

/// The id of a field that holds what a call found in tracked host memory when it began, while device
/// work ran that can reach it: stores of the program, on which the work may wait, or of the device.
/// `element` is the age of the oldest such work in milliseconds, [`Field::address`] the recorded
/// address.
pub const FIELD_HOST_SEEN: u16 = 0xfff9;
/// The id of a field that holds what a callback of the program stored in tracked host memory:
/// [`Field::owner`] handed the callback over, `element` counts its runs from 0, [`Field::address`] is
/// the recorded address. It stands in some later event, whose call has nothing to do with it. Absent:
/// nobody looked what that run stored.
pub const FIELD_CALLBACK_STORE: u16 = 0xfff8;
/// Ids from here on stand for no parameter.
pub const FIELD_SPECIAL: u16 = 0xfff0;

/// The original count of a content that has no length: how much the program passed is not known, and
/// what was recorded is its beginning.
pub const ORIGINAL_UNKNOWN: u64 = u64::MAX;

/// The content of one parameter, field of a struct, or element.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    /// Index of the parameter (at depth 0) or of the field in the enclosing struct, or one of the
    /// `FIELD_*` ids.
    pub id: u16,
    /// Levels of structs between the call and this field.
    pub depth: u8,
    /// When the content was taken.
    pub phase: Phase,
    /// Index of the array element below which this field hangs; for kernel arguments the argument.
    pub element: u32,
    /// Elements (bytes for a string or buffer) that the program passed, or [`ORIGINAL_UNKNOWN`].
    pub original: u64,
    /// Elements that were recorded. `original > recorded` is never replayed as if whole.
    pub recorded: u64,
    /// For the fields of host memory ([`FIELD_HOST_WRITE`], [`FIELD_HOST_SEEN`],
    /// [`FIELD_CALLBACK_STORE`], [`FIELD_CHECK`]): the recorded host address. For a field of an
    /// operand: the address passed. Else 0.
    pub address: u64,
    /// For [`FIELD_CHECK`] of a copy: the copy's event and the parameter or field id of the
    /// destination. For [`FIELD_CALLBACK_STORE`]: the event that handed the callback over, and 0.
    pub owner: Option<(EventId, u16)>,
    /// The content.
    pub body: Body,
}

impl Field {
    /// What of the content the recording holds, if it is not all.
    pub fn clipped(&self) -> Option<String> {
        match (self.recorded, self.original) {
            (recorded, ORIGINAL_UNKNOWN) => {
                Some(format!("the first {recorded}, of unknown length"))
            }
            (recorded, original) if original > recorded => {
                Some(format!("{recorded} of {original} elements"))
            }
            (_, _) => None,
        }
    }
}

/// When a field's content was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Before the real call.
    Before,
    /// After it.
    After,
}

/// The content of a field.
#[derive(Clone, PartialEq, Debug)]
pub enum Body {
    /// The bytes.
    Bytes(Arc<[u8]>),
    /// Bytes in the blob store.
    Blob {
        /// Their hash.
        hash: BlobHash,
        /// Their number.
        bytes: u64,
    },
    /// The pointer was null.
    Null,
    /// The operand lies in device memory; the address stands in the argument block.
    Device,
    /// The content could not be taken.
    Absent(AbsentReason),
}

/// Why a field has no content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum AbsentReason {
    /// The memory could not be read.
    Unreadable = 1,
    /// The length could not be computed.
    UnknownLength = 2,
    /// A tag or option that the declaration does not list.
    UnknownTag = 3,
    /// The kernel's argument layout is not known: no metadata.
    NoMetadata = 4,
    /// The kernel, module or symbol was not seen being made.
    UnknownOrigin = 5,
    /// The destination was freed before its content was final.
    Freed = 6,
    /// The destination was handed to other work before its content was final.
    Overwritten = 7,
    /// No later call waited for the work.
    NeverCompleted = 8,
    /// The content is written by the call later than the call returns.
    Deferred = 9,
    /// The recorder ran out of room or memory.
    RecorderLimit = 10,
    /// By design not kept (an address of this process, a handle of the operating system).
    NotKept = 11,
    /// The launch buffer ended before the argument.
    ShortBuffer = 12,
    /// Work that had been enqueued before the call writes what the call reads: it is not the
    /// program's.
    EarlierWork = 13,
    /// The program changed a node of the graph, and it is not known which of the graph's copies is its.
    UnknownNode = 14,
    /// A reason that this build does not know: a newer recorder had it.
    Newer = 255,
}

impl AbsentReason {
    /// Every reason.
    pub const ALL: &'static [AbsentReason] = &[
        AbsentReason::Unreadable,
        AbsentReason::UnknownLength,
        AbsentReason::UnknownTag,
        AbsentReason::NoMetadata,
        AbsentReason::UnknownOrigin,
        AbsentReason::Freed,
        AbsentReason::Overwritten,
        AbsentReason::NeverCompleted,
        AbsentReason::Deferred,
        AbsentReason::RecorderLimit,
        AbsentReason::NotKept,
        AbsentReason::ShortBuffer,
        AbsentReason::EarlierWork,
        AbsentReason::UnknownNode,
        AbsentReason::Newer,
    ];

    /// The reason of a number in the archive.
    pub fn from_u8(value: u8) -> AbsentReason {
        let known = Self::ALL.iter().copied().find(|reason| *reason as u8 == value);
        known.unwrap_or(AbsentReason::Newer)
    }

    /// One clause for people.
    pub fn text(self) -> &'static str {
        match self {
            AbsentReason::Unreadable => "the memory could not be read",
            AbsentReason::UnknownLength => "its length could not be computed",
            AbsentReason::UnknownTag => "an unknown tag or option",
            AbsentReason::NoMetadata => "the code object has no metadata for this kernel",
            AbsentReason::UnknownOrigin => "the recorder did not see it being made",
            AbsentReason::Freed => "freed before its content was final",
            AbsentReason::Overwritten => "handed to other work before its content was final",
            AbsentReason::NeverCompleted => "no later call waited for the work",
            AbsentReason::Deferred => "written after the call returned",
            AbsentReason::RecorderLimit => "the recorder ran out of room",
            AbsentReason::NotKept => "by design not kept",
            AbsentReason::ShortBuffer => "the launch buffer ended before the argument",
            AbsentReason::EarlierWork => "earlier work of the device writes it",
            AbsentReason::UnknownNode => {
                "the program changed a node of its graph, and which copy is that node's is not known"
            }
            AbsentReason::Newer => "a reason that a newer recorder knows",
        }
    }
}
