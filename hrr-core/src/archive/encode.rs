//! One event inside a block of events.
//!
//! A block's payload is a run of items, each led by its length, so that a reader steps over what it
//! does not know. Numbers are varints; what the API table fixes (names, sizes, kinds) is not
//! repeated. Padding of the argument block is not kept.

use std::sync::Arc;

use super::event::{AbsentReason, Body, Event, EventId, Field, Phase};
use super::format::array;
use super::shape::ApiShape;

const HAS_LEAVE: u8 = 1;
const HAS_PARENT: u8 = 2;
const HAS_RET: u8 = 4;
const HAS_FIELDS: u8 = 8;

const FIELD_AFTER: u8 = 1;
const FIELD_ELEMENT: u8 = 2;
const FIELD_SHORT: u8 = 4;
const FIELD_ADDRESS: u8 = 8;
const FIELD_OWNER: u8 = 16;
const FIELD_DEPTH: u8 = 32;

const BODY_BYTES: u8 = 1;
const BODY_BLOB: u8 = 2;
const BODY_NULL: u8 = 3;
const BODY_DEVICE: u8 = 4;
const BODY_ABSENT: u8 = 5;

/// The item is a call.
const ITEM_EVENT: u8 = 1;

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Appends one event. `last` is the enter time of the event before it in the block.
///
/// # Errors
/// The event does not fit its shape: the argument block has another size.
pub(crate) fn put_event(
    out: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
    event: &Event,
    shape: &ApiShape,
    last: u64,
) -> Result<(), String> {
    if event.args.len() != shape.args_bytes as usize {
        return Err(format!(
            "{}: an argument block of {} bytes, {} declared",
            shape.name,
            event.args.len(),
            shape.args_bytes
        ));
    }
    scratch.clear();
    let body = scratch;
    body.push(ITEM_EVENT);
    let mut flags = 0;
    if event.leave.is_some() {
        flags |= HAS_LEAVE;
    }
    if event.parent.is_some() {
        flags |= HAS_PARENT;
    }
    if event.ret != 0 {
        flags |= HAS_RET;
    }
    if !event.fields.is_empty() {
        flags |= HAS_FIELDS;
    }
    body.push(flags);
    put_varint(body, event.api.into());
    put_varint(body, zigzag(event.enter.wrapping_sub(last) as i64));
    if let Some(leave) = event.leave {
        put_varint(body, zigzag(leave.wrapping_sub(event.enter) as i64));
    }
    if let Some(parent) = event.parent {
        put_varint(body, parent.thread.into());
        put_varint(body, parent.index);
    }
    if event.ret != 0 {
        put_varint(body, event.ret);
    }
    for param in &shape.params {
        let bytes = event
            .args
            .get(param.offset as usize..)
            .and_then(|rest| rest.get(..param.bytes as usize))
            .ok_or_else(|| format!("{}: {} lies outside the block", shape.name, param.name))?;
        put_value(body, bytes);
    }
    if !event.fields.is_empty() {
        put_varint(body, event.fields.len() as u64);
        let mut one = Vec::new();
        for field in &event.fields {
            one.clear();
            put_field(&mut one, field);
            put_varint(body, one.len() as u64);
            body.extend_from_slice(&one);
        }
    }
    put_varint(out, body.len() as u64);
    out.extend_from_slice(body);
    Ok(())
}

/// A value of up to 8 bytes as a varint, a longer one as it is.
fn put_value(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.len() <= 8 {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        put_varint(out, u64::from_le_bytes(word));
    } else {
        out.extend_from_slice(bytes);
    }
}

fn put_field(out: &mut Vec<u8>, field: &Field) {
    let mut flags = 0;
    if field.phase == Phase::After {
        flags |= FIELD_AFTER;
    }
    if field.element != 0 {
        flags |= FIELD_ELEMENT;
    }
    if field.recorded != field.original {
        flags |= FIELD_SHORT;
    }
    if field.address != 0 {
        flags |= FIELD_ADDRESS;
    }
    if field.owner.is_some() {
        flags |= FIELD_OWNER;
    }
    if field.depth != 0 {
        flags |= FIELD_DEPTH;
    }
    out.push(flags);
    put_varint(out, field.id.into());
    if field.depth != 0 {
        out.push(field.depth);
    }
    if field.element != 0 {
        put_varint(out, field.element.into());
    }
    put_varint(out, field.original);
    if field.recorded != field.original {
        put_varint(out, field.recorded);
    }
    if field.address != 0 {
        put_varint(out, field.address);
    }
    if let Some((owner, id)) = field.owner {
        put_varint(out, owner.thread.into());
        put_varint(out, owner.index);
        put_varint(out, id.into());
    }
    match &field.body {
        Body::Bytes(bytes) => {
            out.push(BODY_BYTES);
            put_varint(out, bytes.len() as u64);
            out.extend_from_slice(bytes);
        }
        Body::Blob { hash, bytes } => {
            out.push(BODY_BLOB);
            out.extend_from_slice(&hash.to_le_bytes());
            put_varint(out, *bytes);
        }
        Body::Null => out.push(BODY_NULL),
        Body::Device => out.push(BODY_DEVICE),
        Body::Absent(reason) => {
            out.push(BODY_ABSENT);
            out.push(*reason as u8);
        }
    }
}

/// Reads numbers and bytes, never past the end.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What a decoder answers for bytes that make no sense.
pub(crate) type Decoded<T> = Result<T, &'static str>;

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn take(&mut self, count: u64) -> Decoded<&'a [u8]> {
        if count > self.left() as u64 {
            return Err("a length points past the end of the block");
        }
        let bytes = &self.bytes[self.at..self.at + count as usize];
        self.at += count as usize;
        Ok(bytes)
    }

    fn u8(&mut self) -> Decoded<u8> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn varint(&mut self) -> Decoded<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                return Err("a number of more than 64 bits");
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number of more than 64 bits")
    }

    fn u32(&mut self) -> Decoded<u32> {
        u32::try_from(self.varint()?).map_err(|_| "a number of more than 32 bits")
    }

    fn u16(&mut self) -> Decoded<u16> {
        u16::try_from(self.varint()?).map_err(|_| "a number of more than 16 bits")
    }
}

/// Reads the next event of a block: `None` if the item is of a kind that this reader does not know
/// (it was stepped over).
pub(crate) fn take_event(
    block: &mut Cursor<'_>,
    apis: &[ApiShape],
    id: EventId,
    last: u64,
) -> Decoded<Option<Event>> {
    let bytes = block.varint()?;
    let mut item = Cursor::new(block.take(bytes)?);
    if item.u8()? != ITEM_EVENT {
        return Ok(None);
    }
    let flags = item.u8()?;
    let api = item.u32()?;
    let shape = apis.get(api as usize).ok_or("an event of a function outside the table")?;
    let enter = last.wrapping_add(unzigzag(item.varint()?) as u64);
    let leave = match flags & HAS_LEAVE {
        0 => None,
        _ => Some(enter.wrapping_add(unzigzag(item.varint()?) as u64)),
    };
    let parent = match flags & HAS_PARENT {
        0 => None,
        _ => Some(EventId { thread: item.u32()?, index: item.varint()? }),
    };
    let ret = if flags & HAS_RET == 0 { 0 } else { item.varint()? };
    let args = take_args(&mut item, shape)?;
    let mut fields = Vec::new();
    if flags & HAS_FIELDS != 0 {
        let count = item.varint()?;
        // A field takes two bytes at least, so the count is held against what is there.
        if count > item.left() as u64 / 2 {
            return Err("more fields than the event has room for");
        }
        fields.reserve_exact(count as usize);
        for _ in 0..count {
            let bytes = item.varint()?;
            fields.push(take_field(Cursor::new(item.take(bytes)?))?);
        }
    }
    Ok(Some(Event { id, api, enter, leave, parent, ret, args, fields }))
}

fn take_args(item: &mut Cursor<'_>, shape: &ApiShape) -> Decoded<Vec<u8>> {
    let mut args = vec![0; shape.args_bytes as usize];
    for param in &shape.params {
        let slot = args
            .get_mut(param.offset as usize..)
            .and_then(|rest| rest.get_mut(..param.bytes as usize))
            .ok_or("a parameter outside its argument block")?;
        if slot.len() <= 8 {
            let word = item.varint()?.to_le_bytes();
            let (low, high) = word.split_at(slot.len());
            if high.iter().any(|byte| *byte != 0) {
                return Err("a value wider than its parameter");
            }
            slot.copy_from_slice(low);
        } else {
            slot.copy_from_slice(item.take(slot.len() as u64)?);
        }
    }
    Ok(args)
}

fn take_field(mut item: Cursor<'_>) -> Decoded<Field> {
    let flags = item.u8()?;
    let id = item.u16()?;
    let depth = if flags & FIELD_DEPTH != 0 { item.u8()? } else { 0 };
    let element = if flags & FIELD_ELEMENT != 0 { item.u32()? } else { 0 };
    let original = item.varint()?;
    let recorded = if flags & FIELD_SHORT != 0 { item.varint()? } else { original };
    let address = if flags & FIELD_ADDRESS != 0 { item.varint()? } else { 0 };
    let owner = match flags & FIELD_OWNER {
        0 => None,
        _ => Some((EventId { thread: item.u32()?, index: item.varint()? }, item.u16()?)),
    };
    let body = match item.u8()? {
        BODY_BYTES => {
            let bytes = item.varint()?;
            Body::Bytes(Arc::from(item.take(bytes)?))
        }
        BODY_BLOB => {
            Body::Blob { hash: u128::from_le_bytes(array(item.take(16)?)), bytes: item.varint()? }
        }
        BODY_NULL => Body::Null,
        BODY_DEVICE => Body::Device,
        BODY_ABSENT => Body::Absent(AbsentReason::from_u8(item.u8()?)),
        _ => return Err("an unknown kind of content"),
    };
    let phase = if flags & FIELD_AFTER != 0 { Phase::After } else { Phase::Before };
    Ok(Field { id, depth, phase, element, original, recorded, address, owner, body })
}
