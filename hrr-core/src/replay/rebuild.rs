//! The interpreter that makes a live argument block of a recorded one.
//!
//! It walks a declaration's roles beside the block and the sorted fields. Values that the device or
//! the runtime knows are translated; everything behind a pointer is put into a buffer of our own.
//! In one frame (the parameters of a call, or the fields of a struct) contents come first and what
//! depends on lengths, tags and places second, because lengths may look at either. Until it is
//! rebuilt a pointer is null; an operand has its recorded address, which nobody follows: where an
//! operand lies may depend on which of its neighbours are set.
//!
//! # Arguments of kernels
//! Arguments that the code object declares as pointers are translated. A value below 64 KiB, or not
//! of the lower half of the address space, is a literal that passes unchanged and is counted. An
//! address one past the end of an allocation follows it. Any other address belongs to nothing that
//! the recording saw being allocated: the kernel gets a guard address, never the recorded one, and a
//! note says so. Of an argument by value, the words at 8-byte offsets of the kernel's argument
//! segment are rewritten if, and only if, they point into an allocation that is not at its recorded
//! address; the same rule holds for words of host buffers that a copy reads.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::archive::event::{AbsentReason, Body, Event, Field};
use crate::code::{
    self, ELEMENT_IDENTITY, ELEMENT_WRAPPER, Identity, ValueKind, WRAPPER_BYTES, WRAPPER_HEAD,
    decode_arg,
};
use crate::desc::{
    ApiDesc, Direction, HandleDesc, ImageForm, JitOptionDesc, JitValue, KernelArgsForm, Len,
    OperandPlace, ParamDesc, PayloadDesc, Place, Rect, Role, Scope, Shape, Side, TagDesc,
};

use super::arena::{Buffer, ZeroExtended};
use super::engine::Shared;
use super::memory::Found;
use super::report::FindingKind;
use super::scope;
use super::tree::{self, Node, Tree};
use super::world::{HostOperand, Kept, World, name};
use super::{Refusal, callbacks};

/// Values below this are no addresses.
const LITERAL_MAX: u64 = 0x1_0000;
/// Addresses of programs lie below this.
const ADDRESS_MAX: u64 = 1 << 47;
/// What a kernel gets for the address of nothing, and a copy for an operand of no bytes: no canonical
/// address, so that using it faults.
const GUARD: u64 = 0x6b6b_0000_0000_0000;

/// The keys of the `extra` list of a launch, and its end.
const EXTRA_BUFFER: u64 = 1;
const EXTRA_SIZE: u64 = 2;
const EXTRA_END: u64 = 3;

/// Stands behind every poison handle: readable, and all zero.
static POISON: [u64; 512] = [0; 512];

/// A rebuilt call: the block, and all that its pointers lead to.
pub(super) struct Call {
    /// The argument block, aligned to 16.
    block: Vec<u128>,
    bytes: usize,
    /// What the block's pointers lead to.
    pub(super) arena: Vec<Buffer>,
    /// Images that were refused when recorded.
    refused: Vec<ZeroExtended>,
    /// Host operands.
    pub(super) operands: Vec<HostOperand>,
    /// What the call reads of device memory: the recorded address and the rows.
    pub(super) device_reads: Vec<(u64, Rect)>,
    /// Memory to register: the recorded address and our buffer.
    pub(super) registers: Option<(u64, Buffer)>,
    /// What the integers behind pointer parameters were before the call.
    pub(super) before: Vec<(u16, u64)>,
    /// What stands in for its callback, and that one's user data.
    callback: Option<(u64, u64)>,
}

// SAFETY: the pointers in the block lead into the call's own buffers, or to memory of the runtime
// that outlives it.
unsafe impl Send for Call {}

impl Call {
    /// A zeroed call of a function.
    pub(super) fn new(desc: &ApiDesc) -> Call {
        let bytes = desc.args_bytes as usize;
        Call {
            block: vec![0; bytes.div_ceil(16).max(1)],
            bytes,
            arena: Vec::new(),
            refused: Vec::new(),
            operands: Vec::new(),
            device_reads: Vec::new(),
            registers: None,
            before: Vec::new(),
            callback: None,
        }
    }

    /// The argument block.
    pub(super) fn args(&mut self) -> *mut u8 {
        self.block.as_mut_ptr().cast()
    }

    /// The argument block, to read.
    pub(super) fn args_const(&self) -> *const u8 {
        self.block.as_ptr().cast()
    }

    /// The bytes of a parameter's slot.
    pub(super) fn slot(&mut self, param: &ParamDesc) -> Option<&mut [u8]> {
        let (start, end) = (param.offset as usize, (param.offset + param.bytes) as usize);
        // SAFETY: the block holds `bytes` initialised bytes.
        let block = unsafe { std::slice::from_raw_parts_mut(self.args(), self.bytes) };
        block.get_mut(start..end)
    }
}

/// What one list of parameters or fields is rebuilt from, and where.
struct Frame<'a> {
    params: &'static [ParamDesc],
    /// The recorded block or struct.
    recorded: &'a [u8],
    /// The live one, as large.
    base: *mut u8,
    nodes: &'a [Node<'a>],
    /// What was recorded after the call: says where destinations lie.
    after: &'a [Node<'a>],
    outer: Option<&'a Scope<'a>>,
    /// The index of the array element in which this stands.
    element: u32,
}

impl Frame<'_> {
    fn recorded_word(&self, param: &ParamDesc) -> u64 {
        word(self.recorded, param.offset as usize, param.bytes as usize)
    }

    fn at(&self, param: &ParamDesc) -> *mut u8 {
        // SAFETY: a parameter lies inside its block or struct, by its description.
        unsafe { self.base.add(param.offset as usize) }
    }

    fn put(&self, param: &ParamDesc, value: u64) {
        let value = value.to_le_bytes();
        let bytes = (param.bytes as usize).min(8);
        // SAFETY: the slot holds `param.bytes` bytes, of which at most 8 are written.
        unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), self.at(param), bytes) };
    }
}

/// The little-endian word of up to 8 bytes at an offset; bytes that are not there are zero.
pub(super) fn word(bytes: &[u8], offset: usize, count: usize) -> u64 {
    let mut word = [0; 8];
    let found = bytes.get(offset..).unwrap_or_default();
    let count = count.min(8).min(found.len());
    word[..count].copy_from_slice(&found[..count]);
    u64::from_le_bytes(word)
}

/// The value of a parameter in a recorded block.
pub(super) fn recorded_param(event: &Event, desc: &ApiDesc, index: u16) -> u64 {
    desc.params
        .get(usize::from(index))
        .map_or(0, |param| word(&event.args, param.offset as usize, param.bytes as usize))
}

/// Whether the interpreter finds only null where the recorded block has an address.
fn is_pointer(role: &Role) -> bool {
    match role {
        Role::Scalar(_)
        | Role::Struct(_)
        | Role::InHandle { .. }
        | Role::Device
        | Role::Opaque { .. }
        | Role::Tagged { behind: None, .. } => false,
        Role::OutHandle { .. }
        | Role::Pointee { .. }
        | Role::Array { .. }
        | Role::String
        | Role::OutString { .. }
        | Role::DevicePointer { .. }
        | Role::DevicePointerArray { .. }
        | Role::OutDevicePointer { .. }
        | Role::RegistersHost { .. }
        | Role::UnregistersHost
        | Role::HostIn { .. }
        | Role::HostOut { .. }
        | Role::Operand { .. }
        | Role::KernelArgs { .. }
        | Role::HostSymbol
        | Role::DefinesHostSymbol { .. }
        | Role::Image(_)
        | Role::Tagged { behind: Some(_), .. }
        | Role::JitOptions { .. }
        | Role::Callback
        | Role::UserData
        | Role::EntryPoint { .. }
        | Role::OsHandle { .. } => true,
    }
}

/// What was recorded of one parameter or field of a struct, before and after the call.
#[derive(Clone, Copy)]
struct Pair<'n> {
    before: &'n Node<'n>,
    after: &'n Node<'n>,
}

impl<'n> Pair<'n> {
    /// What hangs below an element.
    fn below(self, element: u32) -> (&'n [Node<'n>], &'n [Node<'n>]) {
        let nodes = |node: &'n Node<'n>| node.elements.get(&element).map_or(&[][..], Vec::as_slice);
        (nodes(self.before), nodes(self.after))
    }
}

/// The interpreter, for one event.
pub(super) struct Rebuilder<'a> {
    pub(super) shared: &'a Shared,
    pub(super) world: &'a mut World,
    pub(super) event: &'a Event,
    pub(super) desc: &'static ApiDesc,
    /// Whether the call failed when it was recorded.
    pub(super) failed: bool,
    /// The stream that the call's work runs on.
    pub(super) stream: Option<u64>,
    /// Whether the call's work belongs to a graph.
    pub(super) graph: bool,
    /// Whether a hand-written half issues the call.
    pub(super) by_hand: bool,
    pub(super) call: Call,
}

impl Rebuilder<'_> {
    /// What stands in for the event's callback and its user data.
    fn callback(&mut self) -> (u64, u64) {
        let (shared, owner) = (self.shared, self.event.id);
        *self.call.callback.get_or_insert_with(|| callbacks::stand_in(shared.me.clone(), owner))
    }

    /// Rebuilds the block of the event.
    pub(super) fn run(&mut self, tree: &Tree<'_>) -> Result<(), Refusal> {
        let base = self.call.args();
        let (recorded, nodes, after) = (&self.event.args, &tree.before, &tree.after);
        let params = self.desc.params;
        let frame = Frame { params, recorded, base, nodes, after, outer: None, element: 0 };
        let before = self.frame(&frame)?;
        self.call.before = before;
        Ok(())
    }

    fn frame(&mut self, frame: &Frame<'_>) -> Result<Vec<(u16, u64)>, Refusal> {
        for param in frame.params {
            let bytes = param.bytes as usize;
            let offset = param.offset as usize;
            let recorded = frame.recorded.get(offset..offset + bytes).ok_or_else(|| {
                Refusal::new(format!("the recorded block ends before `{}`", param.name))
            })?;
            if !is_pointer(&param.role) {
                // SAFETY: the slot holds `bytes` bytes; the source is another block.
                unsafe {
                    std::ptr::copy_nonoverlapping(recorded.as_ptr(), frame.at(param), bytes);
                }
            }
        }
        self.each(frame, |this, param, pair| this.content(frame, param, pair))?;
        let mut before = Vec::new();
        {
            let scope = self.scope(frame, &[]);
            for (index, param) in frame.params.iter().enumerate() {
                if let Role::Pointee { direction: Direction::In | Direction::InOut, .. } =
                    param.role
                    && let Some(value) = scope::behind(&scope, index as u16)
                {
                    before.push((index as u16, value));
                }
            }
        }
        self.each(frame, |this, param, pair| this.dependent(frame, param, pair, &before))?;
        Ok(before)
    }

    fn each(
        &mut self,
        frame: &Frame<'_>,
        mut step: impl FnMut(&mut Self, &'static ParamDesc, Pair<'_>) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let none = Node::default();
        for (index, param) in frame.params.iter().enumerate() {
            let before = frame.nodes.get(index).unwrap_or(&none);
            let after = frame.after.get(index).unwrap_or(&none);
            step(self, param, Pair { before, after })
                .map_err(|refusal| refusal.within(param.name))?;
        }
        Ok(())
    }

    fn scope<'s>(&self, frame: &'s Frame<'_>, before: &'s [(u16, u64)]) -> Scope<'s> {
        Scope {
            params: frame.params,
            base: frame.base,
            outer: frame.outer,
            before,
            returned: false,
        }
    }

    /// First pass: what depends on no length, tag or place.
    fn content(
        &mut self,
        frame: &Frame<'_>,
        param: &'static ParamDesc,
        pair: Pair<'_>,
    ) -> Result<(), Refusal> {
        let node = pair.before;
        let recorded = frame.recorded_word(param);
        match &param.role {
            Role::Scalar(_) | Role::Opaque { .. } => {}
            Role::Struct(payload) => {
                let offset = param.offset as usize;
                let bytes = &frame.recorded[offset..offset + param.bytes as usize];
                let scope = self.scope(frame, &[]);
                self.value(payload, bytes, frame.at(param), pair.below(0), &scope, frame.element)?;
            }
            Role::InHandle { handle, .. } => frame.put(param, self.handle(handle, recorded)?),
            Role::Device => frame.put(param, self.device(recorded, param.bytes)?),
            Role::DevicePointer { .. } | Role::UnregistersHost => {
                frame.put(param, self.address(recorded)?);
            }
            Role::Pointee { direction: Direction::In, payload, .. }
            | Role::Array { direction: Direction::In, payload, .. } => {
                frame.put(param, self.input(recorded, payload, pair, 0, frame)?);
            }
            Role::Pointee { direction: Direction::InOut, payload, .. } => {
                frame.put(param, self.input(recorded, payload, pair, 1, frame)?);
            }
            Role::Pointee { direction: Direction::Out, payload, .. } => {
                frame.put(param, self.room(recorded, u64::from(payload.bytes))?);
            }
            Role::OutHandle { count: None, .. } | Role::EntryPoint { .. } => {
                frame.put(param, self.room(recorded, 8)?);
            }
            Role::OutDevicePointer { .. } => frame.put(param, self.room(recorded, 8)?),
            Role::String => {
                if let Some(bytes) = self.bytes(recorded, node)? {
                    let mut text = bytes.to_vec();
                    if text.last() != Some(&0) {
                        text.push(0);
                    }
                    frame.put(param, self.buffer_of(&text)?);
                }
            }
            Role::HostIn { .. } => {
                if let Some(bytes) = self.bytes(recorded, node)? {
                    frame.put(param, self.buffer_of(&bytes)?);
                }
            }
            Role::DevicePointerArray { .. } => {
                if let Some(bytes) = self.bytes(recorded, node)? {
                    let live: Result<Vec<u8>, Refusal> = bytes
                        .chunks(8)
                        .map(|chunk| self.address(word(chunk, 0, 8)).map(u64::to_le_bytes))
                        .try_fold(Vec::new(), |mut all, word| {
                            all.extend_from_slice(&word?);
                            Ok(all)
                        });
                    frame.put(param, self.buffer_of(&live?)?);
                }
            }
            Role::Image(form) => frame.put(param, self.image(recorded, *form, node)?),
            Role::HostSymbol => frame.put(param, self.symbol(recorded, node)?),
            Role::DefinesHostSymbol { .. } => {
                let symbol = node.field.and_then(|field| self.symbol_of(field));
                if recorded != 0 {
                    frame.put(param, self.world.symbols.define(recorded, symbol));
                }
            }
            Role::Callback => {
                if recorded != 0 {
                    frame.put(param, self.callback().0);
                }
            }
            Role::UserData => {
                let data = self.callback().1;
                frame.put(param, data);
            }
            Role::OsHandle { .. } => {
                return Err(Refusal::new(
                    "a handle of the operating system belongs to the process that made it",
                ));
            }
            Role::Operand { .. } => frame.put(param, recorded),
            Role::OutHandle { count: Some(_), .. }
            | Role::Array { direction: Direction::Out | Direction::InOut, .. }
            | Role::OutString { .. }
            | Role::HostOut { .. }
            | Role::RegistersHost { .. }
            | Role::KernelArgs { .. }
            | Role::Tagged { .. }
            | Role::JitOptions { .. } => {}
        }
        Ok(())
    }

    /// Second pass: what depends on lengths, tags and places.
    fn dependent(
        &mut self,
        frame: &Frame<'_>,
        param: &'static ParamDesc,
        pair: Pair<'_>,
        before: &[(u16, u64)],
    ) -> Result<(), Refusal> {
        let node = pair.before;
        let recorded = frame.recorded_word(param);
        let scope = self.scope(frame, before);
        let lives = |len: &Len| scope::len(len, &scope);
        match &param.role {
            Role::OutHandle { count: Some(count), .. } => {
                let bytes = lives(count).and_then(|n| n.checked_mul(8));
                frame.put(param, self.out_room(recorded, bytes)?);
            }
            Role::Array { direction: Direction::Out, payload, count, .. } => {
                let bytes = lives(count).and_then(|n| n.checked_mul(payload.bytes.into()));
                frame.put(param, self.out_room(recorded, bytes)?);
            }
            Role::Array { direction: Direction::InOut, payload, count, .. } => {
                let count = lives(count).unwrap_or(0);
                frame.put(param, self.input(recorded, payload, pair, count, frame)?);
            }
            Role::OutString { bytes, .. } | Role::HostOut { bytes, .. } => {
                frame.put(param, self.out_room(recorded, lives(bytes))?);
            }
            Role::RegistersHost { bytes } => {
                if recorded != 0 {
                    let bytes = lives(bytes).ok_or_else(unknown_length)?;
                    let buffer =
                        Buffer::like(recorded, bytes, &self.world.budget).map_err(Refusal::new)?;
                    frame.put(param, buffer.as_ptr() as u64);
                    self.call.registers = Some((recorded, buffer));
                }
            }
            Role::Operand { side, place, extent } => {
                let rect = scope::rect(extent, &scope);
                let place = match place {
                    OperandPlace::Fixed(place) => Some(*place),
                    OperandPlace::Kind(by, kinds) => scope::value(&scope, *by).and_then(|kind| {
                        let row = kinds.rows.iter().find(|(value, _, _)| *value == kind)?;
                        Some(if *side == Side::Source { row.1 } else { row.2 })
                    }),
                    OperandPlace::Call(function) => function(&scope),
                };
                let id = index_in(frame.params, param);
                let taken = match side {
                    Side::Source => node.field,
                    Side::Destination => pair.after.field,
                };
                let name = (id, frame.element);
                frame.put(param, self.operand(recorded, name, *side, place, rect, taken)?);
            }
            Role::KernelArgs { form, .. } => {
                frame.put(param, self.kernel_args(recorded, *form, node)?);
            }
            Role::Tagged { by, table, behind } => {
                let tag = scope::value(&scope, *by);
                self.tagged(frame, param, pair, tag, table, *behind)?;
            }
            Role::JitOptions { keys, count, table } => {
                let count = lives(count).ok_or_else(unknown_length)?;
                let keys = frame.params.get(usize::from(*keys)).map(|param| frame.at(param));
                frame.put(param, self.jit_options(recorded, keys, count, table, node)?);
            }
            Role::Scalar(_)
            | Role::Struct(_)
            | Role::InHandle { .. }
            | Role::OutHandle { count: None, .. }
            | Role::Pointee { .. }
            | Role::Array { direction: Direction::In, .. }
            | Role::String
            | Role::DevicePointer { .. }
            | Role::DevicePointerArray { .. }
            | Role::OutDevicePointer { .. }
            | Role::UnregistersHost
            | Role::HostIn { .. }
            | Role::HostSymbol
            | Role::DefinesHostSymbol { .. }
            | Role::Image(_)
            | Role::Callback
            | Role::UserData
            | Role::EntryPoint { .. }
            | Role::OsHandle { .. }
            | Role::Opaque { .. }
            | Role::Device => {}
        }
        Ok(())
    }

    // ---- values ------------------------------------------------------------------------------

    /// Makes the live value of a payload at `live`.
    fn value(
        &mut self,
        payload: &'static PayloadDesc,
        recorded: &[u8],
        live: *mut u8,
        (nodes, after): (&[Node<'_>], &[Node<'_>]),
        outer: &Scope<'_>,
        element: u32,
    ) -> Result<(), Refusal> {
        match &payload.shape {
            Shape::Scalar(_) => {
                let bytes = recorded.len().min(payload.bytes as usize);
                // SAFETY: `live` has room for the payload.
                unsafe { std::ptr::copy_nonoverlapping(recorded.as_ptr(), live, bytes) };
            }
            Shape::Handle(handle) => {
                let value = self.handle(handle, word(recorded, 0, 8))?.to_le_bytes();
                // SAFETY: a handle is 8 bytes, for which `live` has room.
                unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), live, 8) };
            }
            Shape::Struct(params) => {
                let (base, outer) = (live, Some(outer));
                self.frame(&Frame { params, recorded, base, nodes, after, outer, element })?;
            }
        }
        Ok(())
    }

    /// The live handle of a recorded one.
    fn handle(&self, desc: &HandleDesc, recorded: u64) -> Result<u64, Refusal> {
        match self.world.handles.resolve(desc, recorded)? {
            Some(live) => Ok(live),
            None => self.poison(|| {
                format!("no recorded call made the {} {recorded:#x} that it uses", desc.name)
            }),
        }
    }

    /// A stand-in for something unknown, if the call failed when recorded and its function checks
    /// what it is given.
    fn poison(&self, reason: impl FnOnce() -> String) -> Result<u64, Refusal> {
        if self.failed && self.desc.validated {
            Ok(POISON.as_ptr() as u64)
        } else {
            Err(Refusal::new(reason()))
        }
    }

    fn find(&self, recorded: u64) -> Result<Option<Found>, Refusal> {
        self.world.memory.resolve(recorded)
    }

    /// The live address of a recorded one.
    fn address(&self, recorded: u64) -> Result<u64, Refusal> {
        if recorded == 0 {
            return Ok(0);
        }
        match self.find(recorded)? {
            Some(found) => Ok(found.live),
            None => self.poison(|| {
                format!("the address {recorded:#x} is in no allocation that the recording holds")
            }),
        }
    }

    fn device(&self, recorded: u64, bytes: u32) -> Result<u64, Refusal> {
        let ordinal = if bytes == 4 { i64::from(recorded as i32) } else { recorded as i64 };
        let mapped = u32::try_from(ordinal)
            .ok()
            .and_then(|ordinal| self.shared.options.device_map.get(&ordinal).copied());
        if let Some(device) = mapped {
            if device >= self.shared.devices && !self.failed {
                return Err(Refusal::new(format!(
                    "device {ordinal} is mapped to device {device}, which is not there"
                )));
            }
            return Ok(device.into());
        }
        let there = (0..i64::from(self.shared.devices)).contains(&ordinal);
        if there || self.failed {
            return Ok(recorded);
        }
        Err(Refusal::new(format!(
            "device {ordinal} is not there: the runtime has {} (map it with `--device-map`)",
            self.shared.devices
        )))
    }

    // ---- contents ----------------------------------------------------------------------------

    /// The whole content of a field.
    fn whole(&self, field: &Field) -> Result<Arc<[u8]>, Refusal> {
        if let Body::Absent(reason) = field.body {
            return Err(Refusal::new(format!(
                "the recording lacks its content: {}",
                reason.text()
            )));
        }
        if let Some(clipped) = field.clipped() {
            return Err(Refusal::new(format!("the recording holds {clipped}")));
        }
        self.held(field)
    }

    /// The recorded bytes of a field, which may be clipped.
    fn held(&self, field: &Field) -> Result<Arc<[u8]>, Refusal> {
        self.shared
            .content(&field.body)?
            .ok_or_else(|| Refusal::new("the recording holds no content for it"))
    }

    /// The bytes behind a pointer: `None` for null.
    fn bytes(&self, recorded: u64, node: &Node<'_>) -> Result<Option<Arc<[u8]>>, Refusal> {
        if recorded == 0 {
            return Ok(None);
        }
        match node.field {
            Some(Field { body: Body::Null, .. }) => Ok(None),
            Some(field) => self.whole(field).map(Some),
            None => Err(Refusal::new("the recording lacks its content")),
        }
    }

    fn buffer(&mut self, bytes: u64) -> Result<*mut u8, Refusal> {
        let buffer = Buffer::new(bytes, &self.world.budget).map_err(Refusal::new)?;
        let at = buffer.as_ptr();
        self.call.arena.push(buffer);
        Ok(at)
    }

    fn buffer_of(&mut self, content: &[u8]) -> Result<u64, Refusal> {
        let at = self.buffer(content.len() as u64)?;
        // SAFETY: the new buffer has this many bytes and nobody else's pointer into it.
        unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), at, content.len()) };
        Ok(at as u64)
    }

    /// Room for an output; null stays null.
    fn room(&mut self, recorded: u64, bytes: u64) -> Result<u64, Refusal> {
        if recorded == 0 {
            return Ok(0);
        }
        let at = self.buffer(bytes)? as u64;
        if let Some(buffer) = self.call.arena.last() {
            buffer.mark_unwritten();
        }
        Ok(at)
    }

    fn out_room(&mut self, recorded: u64, bytes: Option<u64>) -> Result<u64, Refusal> {
        if recorded == 0 {
            return Ok(0);
        }
        self.room(recorded, bytes.ok_or_else(unknown_length)?)
    }

    /// The elements behind a pointer, rebuilt, with room for at least `count_min`.
    fn input(
        &mut self,
        recorded: u64,
        payload: &'static PayloadDesc,
        pair: Pair<'_>,
        count_min: u64,
        frame: &Frame<'_>,
    ) -> Result<u64, Refusal> {
        let Some(content) = self.bytes(recorded, pair.before)? else { return Ok(0) };
        let size = payload.bytes as usize;
        if size == 0 || content.len() % size != 0 {
            return Err(Refusal::new(format!(
                "its content of {} bytes is no number of `{}` of {size} bytes",
                content.len(),
                payload.name
            )));
        }
        let room = count_min.checked_mul(size as u64).ok_or_else(unknown_length)?;
        let at = self.buffer(room.max(content.len() as u64))?;
        let single = content.len() == size;
        for (index, element) in content.chunks_exact(size).enumerate() {
            let below = u32::try_from(index).map_or((&[][..], &[][..]), |index| pair.below(index));
            // SAFETY: element `index` lies inside the buffer, which holds all of `content`.
            let live = unsafe { at.add(index * size) };
            let scope = self.scope(frame, &[]);
            let number = if single { frame.element } else { index as u32 };
            self.value(payload, element, live, below, &scope, number)?;
        }
        Ok(at as u64)
    }

    // ---- roles with rules of their own ---------------------------------------------------------

    fn image(&mut self, recorded: u64, form: ImageForm, node: &Node<'_>) -> Result<u64, Refusal> {
        if form == ImageForm::File && !self.by_hand {
            return Err(Refusal::new("a path of the recorded machine is never opened"));
        }
        let Some(field) = node.field.filter(|field| field.body != Body::Null) else {
            return Ok(0);
        };
        if recorded == 0 {
            return Ok(0);
        }
        if self.failed {
            return self.refused_image(field, form);
        }
        let content = self.whole(field)?;
        let hash = match field.body {
            Body::Blob { hash, .. } => hash,
            Body::Bytes(_) | Body::Null | Body::Device | Body::Absent(_) => {
                crate::archive::blob_hash(&content)
            }
        };
        if !self.world.images.contains_key(&hash) {
            let bytes = content.len() as u64;
            let buffer = Buffer::like(0, bytes, &self.world.budget).map_err(Refusal::new)?;
            buffer.write(0, &content).map_err(Refusal::new)?;
            self.world.images.insert(hash, buffer);
        }
        let at = self.world.images[&hash].as_ptr() as u64;
        match form {
            ImageForm::Data | ImageForm::File => Ok(at),
            ImageForm::Wrapper => self.wrapper(at),
        }
    }

    /// The image of a load that failed: what is recorded of it, be it all or not, and zeros. It must
    /// fail again.
    fn refused_image(&mut self, field: &Field, form: ImageForm) -> Result<u64, Refusal> {
        let content = match field.body {
            Body::Absent(_) => self.whole(field)?,
            Body::Bytes(_) | Body::Blob { .. } | Body::Null | Body::Device => self.held(field)?,
        };
        let mut content = content.to_vec();
        let no_wrapper = form == ImageForm::Wrapper && field.element == ELEMENT_WRAPPER;
        if no_wrapper && let Some(pointer) = content.get_mut(8..16) {
            // A recorded address is never one of this process.
            pointer.fill(0);
        }
        let image = ZeroExtended::new(&content, &self.world.budget).map_err(Refusal::new)?;
        let at = image.address();
        if form == ImageForm::Wrapper && !no_wrapper {
            // A runtime that takes it now reads it later.
            std::mem::forget(image);
            return self.wrapper(at);
        }
        self.call.refused.push(image);
        Ok(at)
    }

    /// A wrapper of an image as the compiler makes it.
    fn wrapper(&mut self, image: u64) -> Result<u64, Refusal> {
        let words = [WRAPPER_HEAD, image, 0];
        let wrapper =
            Buffer::new(WRAPPER_BYTES as u64, &self.world.budget).map_err(Refusal::new)?;
        wrapper.write(0, words.map(u64::to_le_bytes).as_flattened()).map_err(Refusal::new)?;
        let at = wrapper.as_ptr() as u64;
        // Runtimes read the image when they first need it.
        self.world.forever.push(wrapper);
        Ok(at)
    }

    fn symbol_of(&self, field: &Field) -> Option<Identity> {
        let content = self.shared.content(&field.body).ok()??;
        Identity::decode(&content)
    }

    fn symbol(&self, recorded: u64, node: &Node<'_>) -> Result<u64, Refusal> {
        if recorded == 0 {
            return Ok(0);
        }
        let symbol = node.field.and_then(|field| self.symbol_of(field));
        match self.world.symbols.resolve(recorded, symbol.as_ref())? {
            Some(live) => Ok(live),
            None => self.poison(|| match &symbol {
                Some(symbol) => format!(
                    "no recorded call registered `{}` of the image {:032x}",
                    symbol.name, symbol.image
                ),
                None => format!("no recorded call registered the symbol at {recorded:#x}"),
            }),
        }
    }

    fn operand(
        &mut self,
        recorded: u64,
        (id, element): (u16, u32),
        side: Side,
        place: Option<Place>,
        rect: Option<Rect>,
        taken: Option<&Field>,
    ) -> Result<u64, Refusal> {
        if recorded == 0 {
            return Ok(0);
        }
        let found = self.find(recorded);
        let host = match (taken.map(|field| &field.body), place) {
            (Some(Body::Device), _) => false,
            (Some(Body::Bytes(_) | Body::Blob { .. } | Body::Absent(_)), _) => true,
            (Some(Body::Null) | None, Some(Place::Host)) => true,
            (Some(Body::Null) | None, Some(Place::Device)) => false,
            (Some(Body::Null) | None, Some(Place::Tracked)) => {
                !matches!(found, Ok(Some(found)) if !found.host)
            }
            // A direction that the runtime refused.
            (Some(Body::Null) | None, None) if self.failed => {
                !matches!(found, Ok(Some(found)) if !found.host)
            }
            (Some(Body::Null) | None, None) => {
                return Err(Refusal::new("on which side of the bus it lies cannot be known"));
            }
        };
        if !host {
            if side == Side::Source
                && let Some(rect) = rect
            {
                self.call.device_reads.push((recorded, rect));
            }
            return self.address(recorded);
        }
        let rect = rect.ok_or_else(unknown_length)?;
        let needed = scope::footprint(&rect).ok_or_else(unknown_length)?;
        if needed == 0 {
            // A runtime that uses it all the same faults, and overwrites nothing.
            return Ok(GUARD);
        }
        let tracked = found.ok().flatten().filter(|found| found.host);
        let (kept, live) = match tracked {
            Some(found) if found.rest >= needed => (Kept::Tracked(recorded), found.live as *mut u8),
            // Rows that reach beyond their allocation may be why the copy was refused. Nothing of
            // it is read or compared.
            Some(found) if self.failed => return Ok(found.live),
            Some(_) | None => {
                let buffer =
                    Buffer::like(recorded, needed, &self.world.budget).map_err(Refusal::new)?;
                let live = buffer.as_ptr();
                (Kept::Own(buffer), live)
            }
        };
        if side == Side::Source {
            match taken {
                // What a refused copy would have read does not matter.
                Some(Field { body: Body::Absent(_), .. }) if self.failed => {}
                // It is there, or will be.
                Some(Field { body: Body::Absent(AbsentReason::EarlierWork), .. })
                    if matches!(kept, Kept::Tracked(_)) => {}
                Some(field) => {
                    let content = self.whole(field)?;
                    let tracked = matches!(kept, Kept::Tracked(_)).then_some(recorded);
                    self.fill_rows(&content, live, &rect, tracked)?;
                }
                // Kernels reach a tracked range, so its content has fields of its own.
                None if matches!(kept, Kept::Tracked(_)) => {}
                None => return Err(Refusal::new("the recording lacks its content")),
            }
        }
        let (stream, graph, function) = (self.stream, self.graph, self.desc);
        self.call.operands.push(HostOperand {
            id,
            element,
            kept,
            rect,
            address: recorded,
            stream,
            graph,
            destination: side == Side::Destination,
            since: 0,
            function,
        });
        Ok(live as u64)
    }

    /// Puts packed rows where they belong. `tracked`: they were at this recorded address of memory in
    /// which callbacks store.
    fn fill_rows(
        &mut self,
        content: &[u8],
        live: *mut u8,
        rect: &Rect,
        tracked: Option<u64>,
    ) -> Result<(), Refusal> {
        if scope::packed_bytes(rect) != Some(content.len() as u64) {
            return Err(Refusal::new(format!(
                "its content has {} bytes, its rows {}",
                content.len(),
                scope::packed_bytes(rect).unwrap_or(u64::MAX)
            )));
        }
        let content = self.world.rewrite_words(content);
        for (row, bytes) in scope::rows(rect).zip(content.chunks(rect.width as usize)) {
            let parts = match tracked {
                Some(address) => self.shared.callback_stores.untouched(
                    address.saturating_add(row),
                    bytes.len() as u64,
                    self.event.enter,
                ),
                None => Vec::from([Range { start: 0, end: bytes.len() }]),
            };
            for part in parts {
                // SAFETY: the caller's memory holds the footprint of the rectangle, and so each row.
                unsafe {
                    let to = live.add(row as usize + part.start);
                    std::ptr::copy_nonoverlapping(bytes[part.clone()].as_ptr(), to, part.len());
                }
            }
        }
        Ok(())
    }

    fn tagged(
        &mut self,
        frame: &Frame<'_>,
        param: &'static ParamDesc,
        pair: Pair<'_>,
        tag: Option<i64>,
        table: &'static [TagDesc],
        behind: Option<Direction>,
    ) -> Result<(), Refusal> {
        let recorded = frame.recorded_word(param);
        if behind.is_some() && recorded == 0 {
            return Ok(());
        }
        let known = tag.and_then(|tag| table.iter().find(|row| row.tag == tag));
        let Some(row) = known else {
            let tag = tag.map_or("?".to_owned(), |tag| tag.to_string());
            return Err(Refusal::new(format!("the tag {tag} is not in its table")));
        };
        let payload = row.payload;
        match behind {
            None => {
                let offset = param.offset as usize;
                let bytes = (payload.bytes as usize).min(param.bytes as usize);
                let bytes = &frame.recorded[offset..offset + bytes];
                let scope = self.scope(frame, &[]);
                // What hangs below a union by value is not sorted to it: if the call needs it, its
                // field refuses.
                self.value(payload, bytes, frame.at(param), (&[], &[]), &scope, frame.element)?;
            }
            Some(Direction::Out) => {
                frame.put(param, self.room(recorded, payload.bytes.into())?);
            }
            Some(Direction::In | Direction::InOut) => {
                let node = pair.before;
                let elements = [(0, tree::below(payload, &node.below))].into();
                let before = &Node { field: node.field, elements, below: Vec::new() };
                let pair = Pair { before, after: pair.after };
                frame.put(param, self.input(recorded, payload, pair, 1, frame)?);
            }
        }
        Ok(())
    }

    fn jit_options(
        &mut self,
        recorded: u64,
        keys: Option<*mut u8>,
        count: u64,
        table: &'static [JitOptionDesc],
        node: &Node<'_>,
    ) -> Result<u64, Refusal> {
        let Some(content) = self.bytes(recorded, node)? else { return Ok(0) };
        // SAFETY: the slot of the keys' pointer holds 8 bytes.
        let keys = keys.and_then(|at| unsafe { scope::word_at(at, 8) }).unwrap_or(0) as *const i32;
        if content.len() as u64 / 8 < count || (keys.is_null() && count > 0) {
            return Err(Refusal::new(format!(
                "the recording holds {} of {count} option values",
                content.len() / 8
            )));
        }
        let count = count as usize;
        let options: Vec<(i64, u64)> = (0..count)
            // SAFETY: the rebuilt array of keys has `count` elements, the length that both
            // parameters share; refused above if it is null.
            .map(|i| (i64::from(unsafe { keys.add(i).read_unaligned() }), word(&content, i * 8, 8)))
            .collect();
        let mut live = Vec::with_capacity(count * 8);
        for &(key, value) in &options {
            let Some(option) = table.iter().find(|option| option.option == key) else {
                return Err(Refusal::new(format!("the option {key} is not known")));
            };
            let value = match option.value {
                JitValue::Integer | JitValue::Float => value,
                JitValue::OutBuffer { bytes_option } => {
                    let bytes = options.iter().find(|(key, _)| *key == bytes_option);
                    let Some((_, bytes)) = bytes else {
                        return Err(Refusal::new(format!(
                            "no option gives the size of `{}`",
                            option.name
                        )));
                    };
                    // The size is an `unsigned int` in a pointer's place.
                    self.room(value, *bytes & 0xffff_ffff)?
                }
            };
            live.extend_from_slice(&value.to_le_bytes());
        }
        self.buffer_of(&live)
    }

    // ---- kernels -------------------------------------------------------------------------------

    /// Refuses a kernel that its recorded code image does not have: the runtime would only say that
    /// something was not found.
    fn check_kernel(&mut self, identity: &Identity) -> Result<(), Refusal> {
        let recording = &self.shared.recording;
        let parsed = self.world.parsed.entry(identity.image).or_insert_with(|| {
            let content = recording.blob(identity.image).ok()?;
            (code::parser()?.parse)(&content).ok()
        });
        match parsed {
            Some(image) if image.kernel(&identity.name).is_none() => Err(Refusal::new(format!(
                "the recorded code object has no kernel `{}`, so the archive's code and calls do \
                 not belong together: record again",
                identity.name
            ))),
            Some(_) | None => Ok(()),
        }
    }

    fn kernel_args(
        &mut self,
        recorded: u64,
        form: KernelArgsForm,
        node: &Node<'_>,
    ) -> Result<u64, Refusal> {
        if recorded == 0 {
            return Ok(0);
        }
        let Some(field) = node.field else {
            return Err(Refusal::new("the recording lacks the kernel's arguments"));
        };
        if field.body == Body::Null {
            return Ok(0);
        }
        let mut args: Vec<&Field> = node.below.to_vec();
        if field.element == ELEMENT_IDENTITY {
            let content = self.whole(field)?;
            if let Some(identity) = Identity::decode(&content) {
                self.check_kernel(&identity)?;
            }
        } else {
            args.push(field);
        }
        args.sort_by_key(|arg| arg.element);
        // Told in the place of all arguments.
        if let [Field { body: Body::Absent(reason @ AbsentReason::NoMetadata), .. }] = args[..] {
            return Err(Refusal::new(reason.text()));
        }
        let mut values = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let lost = |what: String| Refusal::new(format!("argument {index}: {what}"));
            if arg.element as usize != index {
                return Err(lost("the recording lacks it".to_owned()));
            }
            let value = self.kernel_arg(arg).map_err(|refusal| Refusal {
                reason: format!("argument {index}: {}", refusal.reason),
                ..refusal
            })?;
            values.push((arg.address, value));
        }
        match form {
            KernelArgsForm::Pointers => {
                let mut pointers = Vec::with_capacity(values.len() * 8);
                for (_, value) in &values {
                    pointers.extend_from_slice(&self.buffer_of(value)?.to_le_bytes());
                }
                self.buffer_of(&pointers)
            }
            KernelArgsForm::Extra => self.extra(&values),
        }
    }

    /// The `extra` list over one packed buffer.
    fn extra(&mut self, values: &[(u64, Vec<u8>)]) -> Result<u64, Refusal> {
        let ends = values.iter().map(|(offset, value)| offset.checked_add(value.len() as u64));
        let bytes = ends.collect::<Option<Vec<u64>>>().ok_or_else(unknown_length)?;
        let bytes = bytes.into_iter().max().unwrap_or(0);
        let packed = self.buffer(bytes)?;
        for (offset, value) in values {
            // SAFETY: the buffer reaches to the end of the furthest argument.
            unsafe {
                let at = packed.add(*offset as usize);
                std::ptr::copy_nonoverlapping(value.as_ptr(), at, value.len());
            }
        }
        let size = self.buffer_of(&bytes.to_le_bytes())?;
        let list = [EXTRA_BUFFER, packed as u64, EXTRA_SIZE, size, EXTRA_END];
        self.buffer_of(list.map(u64::to_le_bytes).as_flattened())
    }

    fn kernel_arg(&mut self, field: &Field) -> Result<Vec<u8>, Refusal> {
        let content = self.whole(field)?;
        let Some((kind, bytes)) = decode_arg(&content) else {
            return Err(Refusal::new("its value kind is not known"));
        };
        if bytes.len() as u64 != field.original {
            return Err(Refusal::new(format!(
                "{} of {} bytes were recorded",
                bytes.len(),
                field.original
            )));
        }
        let mut value = bytes.to_vec();
        match kind {
            ValueKind::Pointer | ValueKind::Other => {
                let Ok(bytes) = <[u8; 8]>::try_from(bytes) else {
                    return Err(Refusal::new(format!(
                        "a pointer of {} bytes cannot be translated",
                        bytes.len()
                    )));
                };
                value = self.kernel_pointer(u64::from_le_bytes(bytes))?.to_le_bytes().to_vec();
            }
            ValueKind::ByValue => {
                let skip = (field.address.wrapping_neg() % 8) as usize;
                let mut unaligned = 0;
                for at in 0..value.len().saturating_sub(7) {
                    let recorded = word(bytes, at, 8);
                    let Some(live) = self.world.memory.moved_word(recorded) else { continue };
                    if at % 8 == skip {
                        value[at..at + 8].copy_from_slice(&live.to_le_bytes());
                        self.world.report.untranslated.rewritten_words += 1;
                    } else {
                        unaligned += 1;
                    }
                }
                if unaligned > 0 {
                    self.unaligned(unaligned);
                }
            }
        }
        Ok(value)
    }

    /// Tells of words that may be addresses of moved memory, but do not lie where compilers put
    /// addresses: a packed struct, or a number that happens to look like one.
    fn unaligned(&mut self, words: u64) {
        self.world.report.untranslated.unaligned_words += words;
        let text = format!(
            "{words} words at odd offsets of by-value arguments look like addresses of memory that \
             is not at its recorded address; they were left as they are"
        );
        self.world.find(self.event.id, &name(self.desc), FindingKind::Note, text);
    }

    fn kernel_pointer(&mut self, recorded: u64) -> Result<u64, Refusal> {
        if recorded == 0 {
            return Ok(0);
        }
        if let Some(found) = self.find(recorded)? {
            return Ok(found.live);
        }
        if let Some(live) = self.world.handles.resolve_untyped(recorded) {
            return Ok(live);
        }
        if !(LITERAL_MAX..ADDRESS_MAX).contains(&recorded) {
            self.world.report.untranslated.literals += 1;
            return Ok(recorded);
        }
        if let Some(live) = self.world.memory.past_end(recorded) {
            self.world.report.untranslated.past_end += 1;
            return Ok(live);
        }
        self.world.report.untranslated.unknown += 1;
        let text = format!(
            "a kernel argument points to {recorded:#x}, which no recorded call allocated; the \
             kernel gets the guard address {GUARD:#x}"
        );
        self.world.find(self.event.id, &name(self.desc), FindingKind::Note, text);
        Ok(GUARD)
    }
}

impl World {
    /// Rewrites the words of a host buffer that point into memory that is not at its recorded
    /// address.
    pub(super) fn rewrite_words<'c>(&mut self, content: &'c [u8]) -> Cow<'c, [u8]> {
        let Some((low, high)) = self.memory.moved_bounds() else { return Cow::Borrowed(content) };
        // Nearly every word is outside the bounds: one comparison each.
        let candidates = content.chunks_exact(8).enumerate().filter_map(|(i, chunk)| {
            let word = u64::from_le_bytes(chunk.try_into().ok()?);
            (low..high).contains(&word).then_some((i * 8, word))
        });
        let found: Vec<(usize, u64)> =
            candidates.filter_map(|(at, word)| Some((at, self.memory.moved_word(word)?))).collect();
        let mut content = Cow::Borrowed(content);
        for (at, live) in found {
            content.to_mut()[at..at + 8].copy_from_slice(&live.to_le_bytes());
            self.report.untranslated.rewritten_words += 1;
        }
        content
    }
}

fn unknown_length() -> Refusal {
    Refusal::new("its length cannot be computed")
}

fn index_in(params: &'static [ParamDesc], param: &'static ParamDesc) -> u16 {
    params.iter().position(|other| std::ptr::eq(other, param)).unwrap_or(0) as u16
}
