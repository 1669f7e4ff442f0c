//! The live record: what a wrapper stores into its thread's ring, and how it becomes an
//! [`Event`].
//!
//! A ring is a file of the process folder, mapped shared, so that the kernel keeps it whatever
//! becomes of the process. It is read by two: the helper thread of the recorder, which copies a
//! full chunk out before it decodes it, and the reader of an archive whose process was killed. Both
//! come here with plain bytes, which nobody trusts.
//!
//! ```text
//! ring   file header (32), u32 chunk bytes, u32 thread, u32 tid, zero to 4096, then chunks
//! chunk  0 magic   8 sequence (0: free)   16 index of the first record   24 zero to 64, records
//! record 0 header  8 enter  16 leave  24 ret  32 arguments, input fields, output fields
//!        header: bits 0..32 bytes of the record, 32..56 function, 56..64 state
//! tail   0 header  8 index of its owner  16 output fields
//! mark   0 header  8 time   16 kind     24 a  32 b, bytes
//! field  u16 id, u8 depth, u8 flags, u32 element | original | bytes | extras | payload, padded
//! ```

use std::sync::Arc;

use super::event::{AbsentReason, Body, Event, EventId, Field, Phase};
use super::facts::{Annotation, Mark};
use super::format::array;
use super::shape::ApiShape;

/// Size of what stands before the argument block.
pub const RECORD_HEADER_BYTES: usize = 32;
/// Size of what stands before the fields of a tail.
pub const TAIL_HEADER_BYTES: usize = 16;
/// Size of what stands before the records of a chunk.
pub const CHUNK_HEADER_BYTES: usize = 64;
/// Size of what stands before the chunks of a ring.
pub const RING_HEADER_BYTES: usize = 4096;
/// The first word of a chunk.
pub const CHUNK_MAGIC: u64 = u64::from_le_bytes(*b"HRRchnk6");
/// Size of a field's header.
pub const FIELD_HEADER_BYTES: usize = crate::desc::FIELD_HEADER_BYTES as usize;

/// State byte: inputs are whole, the real call was about to be made.
pub const STATE_BEGUN: u8 = 0x80;
/// State byte: the call returned and everything is whole.
pub const STATE_DONE: u8 = 0xc0;
/// State byte: the call will never be completed (an exception or a cancellation passed through).
pub const STATE_LEFT: u8 = 0xa0;
/// State bit: outputs stand in a tail record.
pub const STATE_HAS_TAIL: u8 = 0x01;
/// State byte: the record is a tail.
pub const STATE_TAIL: u8 = 0xc2;
/// State byte: the record is a mark beside the calls.
pub const STATE_MARK: u8 = 0xc4;

/// Field id: the call was made by a callback of the call (thread, index) in its payload.
pub const FIELD_PARENT: u16 = 0xfffb;
/// Field id: further fields stand in a blob, in the form of this page.
pub const FIELD_PACK: u16 = 0xfffa;

/// The lowest three bits of a field's flags: what its body is. Never 0, so that a first word of
/// zero ends the fields.
pub const KIND_BYTES: u8 = 1;
/// The payload is a hash (16) and a length (8).
pub const KIND_BLOB: u8 = 2;
/// No payload.
pub const KIND_NULL: u8 = 3;
/// No payload.
pub const KIND_DEVICE: u8 = 4;
/// The payload is one word, the reason.
pub const KIND_ABSENT: u8 = 5;
/// Taken after the call.
pub const FLAG_AFTER: u8 = 0x08;
/// An extra word: the recorded count, where it is not the original one.
pub const FLAG_RECORDED: u8 = 0x10;
/// An extra word: the address.
pub const FLAG_ADDRESS: u8 = 0x20;
/// Two extra words: the owner's (thread | id << 32) and index.
pub const FLAG_OWNER: u8 = 0x40;

/// Kinds of marks.
pub const MARK_BEGIN: u64 = 1;
/// A named range ends.
pub const MARK_END: u64 = 2;
/// A callback of the call (a: thread, b: index) begins.
pub const MARK_CALLBACK: u64 = 3;
/// It returned.
pub const MARK_CALLBACK_END: u64 = 4;

/// The records of one chunk, copied out.
#[derive(Clone, Debug)]
pub struct RawChunk {
    /// Its place in the thread's order.
    pub sequence: u64,
    /// The index of its first record.
    pub first: u64,
    /// The records, from the first one.
    pub bytes: Vec<u8>,
}

/// Appends a field in the live form.
pub fn put_field(out: &mut Vec<u8>, field: &Field) {
    let mut flags = match &field.body {
        Body::Bytes(_) => KIND_BYTES,
        Body::Blob { .. } => KIND_BLOB,
        Body::Null => KIND_NULL,
        Body::Device => KIND_DEVICE,
        Body::Absent(_) => KIND_ABSENT,
    };
    if field.phase == Phase::After {
        flags |= FLAG_AFTER;
    }
    if field.recorded != field.original {
        flags |= FLAG_RECORDED;
    }
    if field.address != 0 {
        flags |= FLAG_ADDRESS;
    }
    if field.owner.is_some() {
        flags |= FLAG_OWNER;
    }
    let bytes = match &field.body {
        Body::Bytes(bytes) => bytes.len() as u64,
        Body::Blob { .. } => 24,
        Body::Null | Body::Device => 0,
        Body::Absent(_) => 8,
    };
    out.extend_from_slice(&field.id.to_le_bytes());
    out.push(field.depth);
    out.push(flags);
    out.extend_from_slice(&field.element.to_le_bytes());
    put_word(out, field.original);
    put_word(out, bytes);
    if field.recorded != field.original {
        put_word(out, field.recorded);
    }
    if field.address != 0 {
        put_word(out, field.address);
    }
    if let Some((owner, id)) = field.owner {
        put_word(out, u64::from(owner.thread) | u64::from(id) << 32);
        put_word(out, owner.index);
    }
    match &field.body {
        Body::Bytes(bytes) => {
            out.extend_from_slice(bytes);
            out.resize(out.len().next_multiple_of(8), 0);
        }
        Body::Blob { hash, bytes } => {
            out.extend_from_slice(&hash.to_le_bytes());
            put_word(out, *bytes);
        }
        Body::Null | Body::Device => {}
        Body::Absent(reason) => put_word(out, *reason as u64),
    }
}

fn put_word(out: &mut Vec<u8>, word: u64) {
    out.extend_from_slice(&word.to_le_bytes());
}

/// What a chunk holds beside its tails.
#[derive(Clone, PartialEq, Debug)]
pub enum RawItem {
    /// A call.
    Event(Event),
    /// A mark.
    Mark(Annotation),
}

/// Reads words of a record, never past its end.
struct Words<'a> {
    bytes: &'a [u8],
}

type Raw<T> = Result<T, &'static str>;

impl<'a> Words<'a> {
    fn take(&mut self, count: u64) -> Raw<&'a [u8]> {
        if count > self.bytes.len() as u64 {
            return Err("a length points past the end of the record");
        }
        let (head, rest) = self.bytes.split_at(count as usize);
        self.bytes = rest;
        Ok(head)
    }

    fn word(&mut self) -> Raw<u64> {
        Ok(u64::from_le_bytes(array(self.take(8)?)))
    }

    /// A payload and the zeros that fill its last word.
    fn padded(&mut self, count: u64) -> Raw<&'a [u8]> {
        let payload = self.take(count)?;
        self.take((8 - count % 8) % 8)?;
        Ok(payload)
    }

    fn at_end(&self) -> bool {
        self.bytes.len() < FIELD_HEADER_BYTES || self.bytes[..8].iter().all(|byte| *byte == 0)
    }
}

fn take_field(words: &mut Words<'_>) -> Raw<Field> {
    let head = words.word()?;
    let (id, depth, flags) = (head as u16, (head >> 16) as u8, (head >> 24) as u8);
    let element = (head >> 32) as u32;
    let original = words.word()?;
    let bytes = words.word()?;
    let recorded = if flags & FLAG_RECORDED != 0 { words.word()? } else { original };
    let address = if flags & FLAG_ADDRESS != 0 { words.word()? } else { 0 };
    let owner = match flags & FLAG_OWNER {
        0 => None,
        _ => {
            let (word, index) = (words.word()?, words.word()?);
            Some((EventId { thread: word as u32, index }, (word >> 32) as u16))
        }
    };
    let body = match flags & 7 {
        KIND_BYTES => Body::Bytes(Arc::from(words.padded(bytes)?)),
        KIND_BLOB => {
            Body::Blob { hash: u128::from_le_bytes(array(words.take(16)?)), bytes: words.word()? }
        }
        KIND_NULL => Body::Null,
        KIND_DEVICE => Body::Device,
        KIND_ABSENT => {
            let reason = u8::try_from(words.word()?);
            Body::Absent(reason.map_or(AbsentReason::Newer, AbsentReason::from_u8))
        }
        _ => return Err("an unknown kind of content"),
    };
    let phase = if flags & FLAG_AFTER != 0 { Phase::After } else { Phase::Before };
    Ok(Field { id, depth, phase, element, original, recorded, address, owner, body })
}

/// Reads the fields of `bytes`, to the end or to a first word of zero.
pub fn take_fields(bytes: &[u8], into: &mut Vec<Field>) -> Result<(), &'static str> {
    let mut words = Words { bytes };
    while !words.at_end() {
        into.push(take_field(&mut words)?);
    }
    Ok(())
}

/// One published record.
#[derive(Clone, Copy)]
struct Record<'a> {
    bytes: &'a [u8],
    function: u32,
    state: u8,
}

/// The published records of a chunk.
struct Records<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Records<'a> {
    type Item = Raw<Record<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.len() < 8 {
            return None;
        }
        let header = u64::from_le_bytes(array(&self.rest[..8]));
        if header == 0 {
            return None;
        }
        let (bytes, function) = (header as u32 as usize, (header >> 32) as u32 & 0xff_ffff);
        if bytes < TAIL_HEADER_BYTES || bytes % 8 != 0 || bytes > self.rest.len() {
            self.rest = &[];
            return Some(Err("a record whose length cannot be"));
        }
        let (record, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        Some(Ok(Record { bytes: record, function, state: (header >> 56) as u8 }))
    }
}

/// How many of the bytes, from the first, are whole records.
pub fn whole_records(bytes: &[u8]) -> usize {
    let mut records = Records { rest: bytes };
    let mut whole = 0;
    while let Some(Ok(record)) = records.next() {
        whole += record.bytes.len();
    }
    whole
}

/// Finds the function of a live record: its place in the archive's table, and its shape.
pub type Functions<'a> = dyn Fn(u32) -> Option<(u32, &'a ApiShape)> + 'a;

/// Decodes the chunks of one thread, in their order. The first `decode` of them are turned into
/// items; the others are only searched for tails of those.
///
/// # Errors
/// What cannot be in a record. The items before it were handed out.
pub fn decode_chunks(
    chunks: &[RawChunk],
    decode: usize,
    thread: u32,
    functions: &Functions<'_>,
    sink: &mut dyn FnMut(RawItem),
) -> Result<(), &'static str> {
    for (at, chunk) in chunks.iter().take(decode).enumerate() {
        let mut index = chunk.first;
        for record in (Records { rest: &chunk.bytes }) {
            let record = record?;
            match record.state {
                STATE_TAIL => {}
                STATE_MARK => sink(RawItem::Mark(take_mark(&record, thread, index)?)),
                _ => {
                    let id = EventId { thread, index };
                    let tails = &chunks[at..];
                    sink(RawItem::Event(take_record(&record, id, functions, tails)?));
                    index += 1;
                }
            }
        }
    }
    Ok(())
}

fn take_mark(record: &Record<'_>, thread: u32, before: u64) -> Raw<Annotation> {
    let mut words = Words { bytes: &record.bytes[8..] };
    let (time, kind, a, b) = (words.word()?, words.word()?, words.word()?, words.word()?);
    let mark = match kind {
        MARK_BEGIN => Mark::Begin { name: String::from_utf8_lossy(words.take(b)?).into_owned() },
        MARK_END => Mark::End,
        MARK_CALLBACK => Mark::CallbackBegins { thread: a as u32, index: b },
        MARK_CALLBACK_END => Mark::CallbackEnds,
        _ => return Err("an unknown kind of mark"),
    };
    Ok(Annotation { thread, before, time, mark })
}

fn take_record(
    record: &Record<'_>,
    id: EventId,
    functions: &Functions<'_>,
    tails: &[RawChunk],
) -> Raw<Event> {
    let (api, shape) = functions(record.function).ok_or("a record of an unknown function")?;
    let done = record.state & STATE_DONE == STATE_DONE;
    let mut words = Words { bytes: &record.bytes[8..] };
    let (enter, leave, ret) = (words.word()?, words.word()?, words.word()?);
    let args = words.padded(shape.args_bytes.into())?.to_vec();
    let mut all = Vec::new();
    take_fields(words.bytes, &mut all)?;
    if done && record.state & STATE_HAS_TAIL != 0 {
        let tail = find_tail(tails, id.index).ok_or("a record whose tail is missing")?;
        take_fields(&tail[TAIL_HEADER_BYTES..], &mut all)?;
    }
    let mut parent = None;
    let mut fields = Vec::with_capacity(all.len());
    for field in all {
        match (&field.body, field.id) {
            (Body::Bytes(bytes), FIELD_PARENT) if bytes.len() == 16 => {
                parent = Some(EventId {
                    thread: u64::from_le_bytes(array(&bytes[..8])) as u32,
                    index: u64::from_le_bytes(array(&bytes[8..])),
                });
            }
            _ if field.phase == Phase::After && !done => {}
            _ => fields.push(field),
        }
    }
    let ret_bytes = shape.ret.bytes.min(8);
    let mask = if ret_bytes == 8 { u64::MAX } else { (1 << (ret_bytes * 8)) - 1 };
    Ok(Event {
        id,
        api,
        enter,
        leave: done.then_some(leave),
        parent,
        ret: if done { ret & mask } else { 0 },
        args,
        fields,
    })
}

fn find_tail(chunks: &[RawChunk], owner: u64) -> Option<&[u8]> {
    chunks.iter().find_map(|chunk| {
        Records { rest: &chunk.bytes }.find_map(|record| match record {
            Ok(Record { bytes, state: STATE_TAIL, .. })
                if u64::from_le_bytes(array(&bytes[8..16])) == owner =>
            {
                Some(bytes)
            }
            Ok(_) | Err(_) => None,
        })
    })
}

/// The header of a ring, and what it says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingHeader {
    /// Size of a chunk.
    pub chunk_bytes: u32,
    /// The thread's ordinal.
    pub thread: u32,
    /// Its number in the system.
    pub tid: u32,
}

impl RingHeader {
    /// What stands after the file header.
    pub fn encode(self) -> [u8; 16] {
        let mut out = [0; 16];
        out[..4].copy_from_slice(&self.chunk_bytes.to_le_bytes());
        out[4..8].copy_from_slice(&self.thread.to_le_bytes());
        out[8..12].copy_from_slice(&self.tid.to_le_bytes());
        out
    }

    /// Reads it.
    pub fn decode(bytes: &[u8; 16]) -> RingHeader {
        let word = |at: usize| u32::from_le_bytes(array(&bytes[at..at + 4]));
        RingHeader { chunk_bytes: word(0), thread: word(4), tid: word(8) }
    }
}
