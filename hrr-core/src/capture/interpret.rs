//! The one interpreter over descriptors: takes what hangs below the arguments of a call.
//!
//! It walks parameters, and the fields of structs behind them, in the order of the declaration, and
//! writes one field for each content. A struct is read once, and walked in our copy, so that a
//! program that changes it meanwhile cannot confuse the walk. What cannot be taken is a field too,
//! with the reason.

use core::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

use super::callback;
use super::fields::{Fields, INLINE_BYTES_MAX, Meta};
use super::memory::Memory;
use super::recorder::Recorder;
use super::thread::Thread;
use super::track::{Copy, Tracker};
use crate::archive::event::{AbsentReason, Body, EventId, FIELD_RET, ORIGINAL_UNKNOWN, Phase};
use crate::code::{
    self, ELEMENT_IDENTITY, ELEMENT_WRAPPER, Identity, WRAPPER_BYTES, WRAPPER_HEAD, encode_arg,
};
use crate::desc::{
    ApiDesc, Direction, Extent, ImageForm, JitOptionDesc, JitValue, KernelArgsForm, Len,
    OperandPlace, ParamDesc, PayloadDesc, Place, Rect, RetKind, Role, ScalarKind, Scope, Shape,
    Side, Space, TagDesc,
};
use crate::loader;

/// A single content longer than this is not taken.
const CONTENT_BYTES_MAX: u64 = 1 << 36;
/// So much is taken of an image whose length is not known: its magic and its tables, if there are
/// any. It stays in the record.
const BEGINNING_BYTES_MAX: usize = INLINE_BYTES_MAX;

/// The contents of one phase of one call.
pub(crate) struct Taking<'t> {
    pub(crate) api: &'static ApiDesc,
    pub(crate) args: *const u8,
    pub(crate) thread: &'t mut Thread,
    pub(crate) recorder: &'static Recorder,
    pub(crate) memory: Memory,
    pub(crate) id: EventId,
    pub(crate) phase: Phase,
    /// What the call returned, its first 8 bytes.
    pub(crate) ret: u64,
    /// Whether the call has returned success.
    pub(crate) succeeded: bool,
    before: Vec<(u16, u64)>,
}

/// Whether a function that returned this word succeeded.
fn succeeded(api: &ApiDesc, word: u64) -> bool {
    match api.ret.kind {
        RetKind::Status { not_ready } => {
            let status = signed(word, api.ret.bytes as usize);
            status == 0 || status == not_ready
        }
        RetKind::Void | RetKind::Value(_) | RetKind::Str | RetKind::Handle(_) => true,
    }
}

/// Sign-extends a number of `bytes` bytes.
fn signed(word: u64, bytes: usize) -> i64 {
    match bytes {
        1 => word as i8 as i64,
        2 => word as i16 as i64,
        4 => word as i32 as i64,
        _ => word as i64,
    }
}

/// Reads up to 8 bytes of a parameter's own value.
fn value_of(scope: &Scope<'_>, param: &ParamDesc) -> u64 {
    let mut word = [0u8; 8];
    let bytes = (param.bytes as usize).min(8);
    // SAFETY: a scope's base is readable for the extent of its parameters.
    unsafe {
        let from = scope.base.add(param.offset as usize);
        core::ptr::copy_nonoverlapping(from, word.as_mut_ptr(), bytes);
    }
    u64::from_le_bytes(word)
}

/// The value of the parameter with this index; 0 for an index that the declaration got wrong.
pub(crate) fn value_at(scope: &Scope<'_>, index: u16) -> u64 {
    scope.params.get(index as usize).map_or(0, |param| value_of(scope, param))
}

/// The value of an integer parameter as a signed number.
fn number_at(scope: &Scope<'_>, index: u16) -> Option<i64> {
    let param = scope.params.get(index as usize)?;
    let word = value_of(scope, param);
    match param.role {
        Role::Scalar(payload) => match payload.shape {
            Shape::Scalar(ScalarKind::Signed) => Some(signed(word, param.bytes as usize)),
            Shape::Scalar(_) | Shape::Handle(_) | Shape::Struct(_) => Some(word as i64),
        },
        _ => Some(word as i64),
    }
}

/// Reads the integer behind a pointer parameter.
fn pointed_number(memory: &Memory, scope: &Scope<'_>, index: u16) -> Option<u64> {
    let param = scope.params.get(index as usize)?;
    let bytes = match param.role {
        Role::Pointee { payload, .. } | Role::Array { payload, .. } => payload.bytes as usize,
        _ => 8,
    };
    let address = value_of(scope, param);
    if address == 0 {
        return None;
    }
    memory.read_word(address, bytes.min(8))
}

/// Computes a length.
pub(crate) fn length(memory: &Memory, len: &Len, scope: &Scope<'_>) -> Option<u64> {
    match len {
        Len::Const(n) => Some(*n),
        Len::Param(index) => u64::try_from(number_at(scope, *index)?).ok(),
        Len::Before(index) => before(memory, scope, *index),
        Len::After(index) if !scope.returned => before(memory, scope, *index),
        Len::After(index) => {
            let now = pointed_number(memory, scope, *index)?;
            Some(before(memory, scope, *index).map_or(now, |before| before.min(now)))
        }
        Len::Product(factors) => factors
            .iter()
            .try_fold(1u64, |product, factor| product.checked_mul(length(memory, factor, scope)?)),
        Len::Min(all) => all.iter().filter_map(|len| length(memory, len, scope)).min(),
        Len::Call(function) => function(scope),
    }
}

fn before(memory: &Memory, scope: &Scope<'_>, index: u16) -> Option<u64> {
    let kept = scope.before.iter().find(|(of, _)| *of == index);
    match kept {
        Some((_, value)) => Some(*value),
        None => pointed_number(memory, scope, index),
    }
}

/// Keeps the integers behind pointers that lengths of the call will ask for.
pub(crate) fn read_before(api: &'static ApiDesc, args: *const u8, thread: &mut Thread) {
    let scope = Scope { params: api.params, base: args, outer: None, before: &[], returned: false };
    let mut wanted = Vec::new();
    for param in api.params {
        for_each_len(&param.role, &mut |len| wanted_by(len, &mut wanted));
    }
    for index in wanted {
        if let Some(value) = pointed_number(&thread.memory, &scope, index) {
            thread.open.before.push((index, value));
        }
    }
}

fn wanted_by(len: &Len, wanted: &mut Vec<u16>) {
    match len {
        Len::Before(index) | Len::After(index) => {
            if !wanted.contains(index) {
                wanted.push(*index);
            }
        }
        Len::Product(all) | Len::Min(all) => all.iter().for_each(|len| wanted_by(len, wanted)),
        Len::Const(_) | Len::Param(_) | Len::Call(_) => {}
    }
}

fn for_each_len(role: &'static Role, each: &mut dyn FnMut(&'static Len)) {
    match role {
        Role::OutHandle { count: Some(len), .. }
        | Role::Array { count: len, .. }
        | Role::OutString { bytes: len, .. }
        | Role::DevicePointerArray { count: len }
        | Role::OutDevicePointer { bytes: Some(len), .. }
        | Role::RegistersHost { bytes: len }
        | Role::HostIn { bytes: len }
        | Role::HostOut { bytes: len, .. }
        | Role::JitOptions { count: len, .. }
        | Role::OsHandle { bytes: Some(len) } => each(len),
        Role::Operand { extent, .. } => match extent {
            Extent::Bytes(len) => each(len),
            Extent::Rows { pitch, width, height } => {
                each(pitch);
                each(width);
                each(height);
            }
            Extent::Call(_) => {}
        },
        Role::OutHandle { count: None, .. }
        | Role::OutDevicePointer { bytes: None, .. }
        | Role::OsHandle { bytes: None }
        | Role::Scalar(_)
        | Role::Struct(_)
        | Role::InHandle { .. }
        | Role::Pointee { .. }
        | Role::String
        | Role::DevicePointer { .. }
        | Role::UnregistersHost
        | Role::KernelArgs { .. }
        | Role::HostSymbol
        | Role::DefinesHostSymbol { .. }
        | Role::Image(_)
        | Role::Tagged { .. }
        | Role::Callback
        | Role::UserData
        | Role::EntryPoint { .. }
        | Role::Opaque { .. }
        | Role::Device => {}
    }
}

/// Where one parameter stands in the walk.
#[derive(Clone, Copy)]
struct At<'s> {
    scope: &'s Scope<'s>,
    index: u16,
    depth: u8,
    element: u32,
    param: &'s ParamDesc,
}

impl At<'_> {
    fn value(&self) -> u64 {
        value_of(self.scope, self.param)
    }
}

impl<'t> Taking<'t> {
    pub(crate) fn new(
        api: &'static ApiDesc,
        args: *const u8,
        thread: &'t mut Thread,
        id: EventId,
        phase: Phase,
        ret: u64,
    ) -> Taking<'t> {
        let before = thread.open.before.clone();
        let (recorder, memory) = (thread.recorder, thread.memory);
        let succeeded = phase == Phase::After && succeeded(api, ret);
        Taking { api, args, thread, recorder, memory, id, phase, ret, succeeded, before }
    }

    /// The status that the call returned.
    pub(crate) fn status(&self) -> i64 {
        signed(self.ret, self.api.ret.bytes as usize)
    }

    /// Where to append fields.
    pub(crate) fn fields(&mut self) -> Fields<'_> {
        Fields::new(&mut self.thread.fields, self.recorder)
    }

    /// Calls `each` with the scope of the call's parameters.
    pub(crate) fn with_scope<R>(&mut self, each: impl FnOnce(&mut Self, &Scope<'_>) -> R) -> R {
        let before = core::mem::take(&mut self.before);
        let scope = Scope {
            params: self.api.params,
            base: self.args,
            outer: None,
            before: &before,
            returned: self.phase == Phase::After,
        };
        let answer = each(self, &scope);
        self.before = before;
        answer
    }

    /// Takes every parameter of the call.
    pub(crate) fn parameters(&mut self) {
        self.with_scope(|taking, scope| taking.walk(scope, 0, 0));
    }

    /// Takes one parameter of the call.
    pub(crate) fn parameter(&mut self, index: u16) {
        self.with_scope(|taking, scope| {
            if let Some(param) = scope.params.get(index as usize) {
                taking.one(At { scope, index, depth: 0, element: 0, param });
            }
        });
    }

    fn walk(&mut self, scope: &Scope<'_>, depth: u8, element: u32) {
        for (index, param) in scope.params.iter().enumerate() {
            self.one(At { scope, index: index as u16, depth, element, param });
        }
    }

    fn one(&mut self, at: At<'_>) {
        match self.phase {
            Phase::Before if at.param.role.has_input() => self.input(at),
            // A failed call has written nothing that its declaration knows of.
            Phase::After if self.succeeded && at.param.role.has_output() => self.output(at),
            Phase::Before | Phase::After => {}
        }
    }

    fn meta(&self, at: At<'_>) -> Meta {
        Meta {
            id: at.index,
            depth: at.depth,
            phase: self.phase,
            element: at.element,
            address: 0,
            owner: None,
        }
    }

    fn length(&self, len: &Len, at: At<'_>) -> Option<u64> {
        length(&self.memory, len, at.scope)
    }

    fn input(&mut self, at: At<'_>) {
        let meta = self.meta(at);
        match &at.param.role {
            Role::Struct(payload) => self.inside(payload, at, at_value(at)),
            Role::Pointee { payload, .. } => self.elements(at, payload, Some(1)),
            Role::Array { payload, count, .. } => {
                let count = self.length(count, at);
                self.elements(at, payload, count);
            }
            Role::String => self.string(meta, at.value(), None),
            Role::DevicePointerArray { count } => {
                let count = self.length(count, at);
                self.bytes(meta, at.value(), count, 8);
            }
            Role::HostIn { bytes } => {
                let bytes = self.length(bytes, at);
                self.bytes(meta, at.value(), bytes, 1);
            }
            Role::Operand { side: Side::Source, place, extent } => {
                self.operand(at, place, extent, Side::Source);
            }
            // What the call may write, and so waits for or supersedes, is asked before it.
            Role::Operand { side: Side::Destination, place, extent } => {
                if let Some(copy) = self.host_side(at, place, extent, Side::Destination) {
                    self.thread.open.copies.push(copy);
                }
            }
            Role::KernelArgs { function, form } => self.kernel_args(at, *function, *form),
            Role::HostSymbol => {
                let identity = self.recorder.tracker().symbol(at.value());
                self.identity(meta, identity);
            }
            Role::DefinesHostSymbol { image, name } => self.define_symbol(at, *image, *name),
            Role::Image(form) => self.image(meta, at.value(), *form),
            Role::Tagged { by, table, behind } => {
                self.tagged(at, *by, table, *behind);
            }
            Role::JitOptions { keys, count, table } => {
                let count = self.length(count, at);
                self.jit_inputs(at, *keys, count, table);
            }
            Role::Scalar(_)
            | Role::InHandle { .. }
            | Role::OutHandle { .. }
            | Role::OutString { .. }
            | Role::DevicePointer { .. }
            | Role::OutDevicePointer { .. }
            | Role::RegistersHost { .. }
            | Role::UnregistersHost
            | Role::HostOut { .. }
            | Role::Callback
            | Role::UserData
            | Role::EntryPoint { .. }
            | Role::OsHandle { .. }
            | Role::Opaque { .. }
            | Role::Device => {}
        }
    }

    fn output(&mut self, at: At<'_>) {
        let meta = self.meta(at);
        match &at.param.role {
            Role::Struct(payload) => self.inside(payload, at, at_value(at)),
            Role::Pointee { direction, payload, .. } => match direction {
                Direction::In => self.below(at, payload, Some(1)),
                Direction::Out | Direction::InOut => {
                    callback::restore(&self.memory, payload, at.value());
                    self.elements(at, payload, Some(1));
                }
            },
            Role::Array { direction, payload, count, .. } => {
                let count = self.length(count, at);
                match direction {
                    Direction::In => self.below(at, payload, count),
                    Direction::Out | Direction::InOut => self.elements(at, payload, count),
                }
            }
            Role::OutHandle { count, .. } => {
                let count = count.as_ref().map_or(Some(1), |count| self.length(count, at));
                self.bytes(meta, at.value(), count, 8);
            }
            Role::OutString { bytes, .. } => match self.length(bytes, at) {
                Some(limit) => self.string(meta, at.value(), Some(limit)),
                None => self.fields().absent(meta, 0, AbsentReason::UnknownLength),
            },
            Role::OutDevicePointer { bytes, allocates } => {
                self.bytes(meta, at.value(), Some(1), 8);
                if let Some(bytes) = bytes {
                    let bytes = self.length(bytes, at);
                    let start = self.memory.read_word(at.value(), 8);
                    if let (Some(start), Some(bytes)) = (start, bytes) {
                        let mut tracker = self.recorder.tracker();
                        match allocates {
                            Some(space) => tracker.add_range(start, bytes, space.of(at.scope)),
                            None => tracker.add_part(start, bytes),
                        }
                    }
                } else if let Some(alias) = self.memory.read_word(at.value(), 8) {
                    let of = at.scope.params.iter().enumerate().find_map(|(index, param)| {
                        matches!(param.role, Role::DevicePointer { .. })
                            .then(|| value_at(at.scope, index as u16))
                    });
                    if let Some(of) = of {
                        self.recorder.tracker().add_alias(alias, of);
                    }
                }
            }
            Role::RegistersHost { bytes } => {
                if let Some(bytes) = self.length(bytes, at) {
                    self.recorder.tracker().add_range(at.value(), bytes, Space::Pinned);
                }
            }
            Role::HostOut { bytes, .. } => {
                let bytes = self.length(bytes, at);
                self.bytes(meta, at.value(), bytes, 1);
            }
            Role::Operand { side: Side::Destination, place, extent } => {
                self.operand(at, place, extent, Side::Destination);
            }
            Role::Operand { side: Side::Source, .. } => {}
            Role::Tagged { by, table, behind } => self.tagged(at, *by, table, *behind),
            Role::JitOptions { keys, count, table } => {
                let count = self.length(count, at);
                self.jit_outputs(at, *keys, count, table);
            }
            Role::EntryPoint { name } => self.entry_point(at, *name),
            Role::OsHandle { .. } => self.fields().absent(meta, 1, AbsentReason::NotKept),
            // What these change is in the tracker: see `track::after_call`.
            Role::InHandle { .. }
            | Role::DevicePointer { .. }
            | Role::UnregistersHost
            | Role::DefinesHostSymbol { .. }
            | Role::Image(_) => {}
            Role::Scalar(_)
            | Role::String
            | Role::DevicePointerArray { .. }
            | Role::HostIn { .. }
            | Role::KernelArgs { .. }
            | Role::HostSymbol
            | Role::Callback
            | Role::UserData
            | Role::Opaque { .. }
            | Role::Device => {}
        }
    }

    /// Takes what hangs below a struct at `base`, which is ours.
    fn inside(&mut self, payload: &PayloadDesc, at: At<'_>, base: *const u8) {
        if let Shape::Struct(fields) = payload.shape {
            let scope = Scope {
                params: fields,
                base,
                outer: Some(at.scope),
                before: &[],
                returned: at.scope.returned,
            };
            self.walk(&scope, at.depth + 1, at.element);
        }
    }

    /// Takes elements behind a pointer, and what hangs below each.
    fn elements(&mut self, at: At<'_>, payload: &PayloadDesc, count: Option<u64>) {
        let meta = self.meta(at);
        let Some(content) = self.bytes(meta, at.value(), count, payload.bytes.into()) else {
            return;
        };
        self.below_copy(at, payload, &content);
    }

    /// Takes what hangs below elements behind a pointer, without the elements.
    fn below(&mut self, at: At<'_>, payload: &PayloadDesc, count: Option<u64>) {
        let (Some(count), address) = (count, at.value()) else { return };
        let Some(bytes) = count.checked_mul(payload.bytes.into()) else { return };
        let mut content = Vec::new();
        let readable = address != 0 && bytes <= CONTENT_BYTES_MAX;
        if readable && self.memory.read(address, bytes as usize, &mut content) {
            self.below_copy(at, payload, &content);
        }
    }

    fn below_copy(&mut self, at: At<'_>, payload: &PayloadDesc, content: &[u8]) {
        let wanted = match self.phase {
            Phase::Before => payload.has_input(),
            Phase::After => payload.has_output(),
        };
        if !wanted || payload.bytes == 0 {
            return;
        }
        let single = content.len() == payload.bytes as usize;
        for (element, one) in content.chunks_exact(payload.bytes as usize).enumerate() {
            let element = if single { at.element } else { element as u32 };
            self.inside(payload, At { element, ..at }, one.as_ptr());
        }
    }

    /// Takes `count` elements of `size` bytes from `address`, and answers them.
    fn bytes(
        &mut self,
        meta: Meta,
        address: u64,
        count: Option<u64>,
        size: u64,
    ) -> Option<Vec<u8>> {
        let total = count.and_then(|count| count.checked_mul(size));
        let (Some(count), Some(total)) = (count, total.filter(|n| *n <= CONTENT_BYTES_MAX)) else {
            let reason = AbsentReason::UnknownLength;
            self.fields().absent(meta, count.unwrap_or(0), reason);
            return None;
        };
        if address == 0 {
            self.fields().null(meta, count);
            return None;
        }
        let mut content = Vec::new();
        if !self.memory.read(address, total as usize, &mut content) {
            self.fields().absent(meta, count, AbsentReason::Unreadable);
            return None;
        }
        self.fields().content(meta, count, &content);
        Some(content)
    }

    fn string(&mut self, meta: Meta, address: u64, limit: Option<u64>) {
        if address == 0 {
            return self.fields().null(meta, 0);
        }
        let mut content = Vec::new();
        if self.memory.read_string(address, limit, &mut content) {
            self.fields().content(meta, content.len() as u64, &content);
        } else {
            self.fields().absent(meta, 0, AbsentReason::Unreadable);
        }
    }

    fn identity(&mut self, meta: Meta, identity: Option<Identity>) {
        match identity {
            Some(identity) => {
                let content = identity.encode();
                self.fields().content(meta, content.len() as u64, &content);
            }
            None => self.fields().absent(meta, 0, AbsentReason::UnknownOrigin),
        }
    }

    fn define_symbol(&mut self, at: At<'_>, image: u16, name: u16) {
        let meta = self.meta(at);
        let mut text = Vec::new();
        let address = value_at(at.scope, name);
        let read = address != 0 && self.memory.read_string(address, None, &mut text);
        let image = self.recorder.tracker().image(value_at(at.scope, image));
        let identity = match (image, String::from_utf8(text)) {
            (Some(image), Ok(name)) if read => Some(Identity { image, name }),
            _ => None,
        };
        if let Some(identity) = &identity {
            self.recorder.tracker().define_symbol(at.value(), identity.clone());
        }
        self.identity(meta, identity);
    }

    fn image(&mut self, meta: Meta, address: u64, form: ImageForm) {
        self.thread.open.image = None;
        if address == 0 {
            return self.fields().null(meta, 0);
        }
        let (start, content) = match form {
            ImageForm::Data => (address, self.copy_image(address)),
            ImageForm::Wrapper => match self.wrapped(address) {
                Some(inner) => (inner, self.copy_image(inner)),
                None => {
                    let meta = Meta { element: ELEMENT_WRAPPER, ..meta };
                    return self.beginning(meta, address, WRAPPER_BYTES);
                }
            },
            ImageForm::File => (address, self.read_image_file(address)),
        };
        match content {
            Ok(content) => {
                let hash = self.recorder.tracker().add_image(&content);
                self.thread.open.image = Some(hash);
                self.fields().blob(meta, &content);
            }
            Err(AbsentReason::UnknownLength) => self.beginning(meta, start, BEGINNING_BYTES_MAX),
            Err(reason) => self.fields().absent(meta, 0, reason),
        }
    }

    /// The image that the compiler's wrapper at an address leads to; `None`: it is no wrapper.
    fn wrapped(&self, address: u64) -> Option<u64> {
        let head = self.memory.read_word(address, 8)?;
        let inner = self.memory.read_word(address.wrapping_add(8), 8)?;
        (head == WRAPPER_HEAD).then_some(inner)
    }

    /// Takes the first bytes of what has no length that could be found: by these a runtime refuses
    /// it.
    fn beginning(&mut self, meta: Meta, address: u64, bytes_max: usize) {
        let content = self.memory.read_beginning(address, bytes_max);
        let recorded = content.len() as u64;
        if content.is_empty() {
            return self.fields().absent(meta, 0, AbsentReason::Unreadable);
        }
        let body = Body::Bytes(Arc::from(content));
        self.fields().field(meta, ORIGINAL_UNKNOWN, recorded, body);
    }

    fn copy_image(&self, address: u64) -> Result<Vec<u8>, AbsentReason> {
        let parser = code::parser().ok_or(AbsentReason::NoMetadata)?;
        // SAFETY: the parser reads nothing that is not mapped.
        unsafe { (parser.copy)(address as *const u8) }.ok_or(AbsentReason::UnknownLength)
    }

    /// Reads the file that the program names for the runtime to load.
    fn read_image_file(&self, address: u64) -> Result<Vec<u8>, AbsentReason> {
        use std::os::unix::ffi::OsStrExt;
        let mut path = Vec::new();
        if !self.memory.read_string(address, None, &mut path) {
            return Err(AbsentReason::Unreadable);
        }
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(&path));
        let is_file = path.metadata().is_ok_and(|meta| meta.is_file());
        let content = if is_file { std::fs::read(path).ok() } else { None };
        content.ok_or(AbsentReason::Unreadable)
    }

    fn tagged(
        &mut self,
        at: At<'_>,
        by: u16,
        table: &'static [TagDesc],
        behind: Option<Direction>,
    ) {
        let meta = self.meta(at);
        let tag = signed(value_at(at.scope, by), tag_bytes(at.scope, by));
        let known = table.iter().find(|row| row.tag == tag);
        let Some(row) = known else {
            return self.fields().absent(meta, 1, AbsentReason::UnknownTag);
        };
        match behind {
            None => self.inside(row.payload, at, at_value(at)),
            Some(Direction::In) if self.phase == Phase::After => {}
            Some(Direction::Out) if self.phase == Phase::Before => {}
            Some(_) => self.elements(at, row.payload, Some(1)),
        }
    }

    fn jit_keys(&self, at: At<'_>, keys: u16, count: Option<u64>) -> Option<Vec<i64>> {
        let (count, keys) = (count?.min(1 << 16) as usize, value_at(at.scope, keys));
        let mut content = Vec::new();
        if count > 0 && (keys == 0 || !self.memory.read(keys, count * 4, &mut content)) {
            return None;
        }
        let number =
            |four: &[u8]| i64::from(i32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        Some(content.chunks_exact(4).map(number).collect())
    }

    /// The values as words in element 0; an unknown option is absent in element 1 + its place.
    fn jit_inputs(
        &mut self,
        at: At<'_>,
        keys: u16,
        count: Option<u64>,
        table: &'static [JitOptionDesc],
    ) {
        let meta = self.meta(at);
        self.bytes(meta, at.value(), count, 8);
        for (place, key) in self.jit_keys(at, keys, count).into_iter().flatten().enumerate() {
            if !table.iter().any(|row| row.option == key) {
                let meta = Meta { element: place as u32 + 1, ..meta };
                self.fields().absent(meta, 1, AbsentReason::UnknownTag);
            }
        }
    }

    /// The content of each buffer that the call wrote, in element 1 + its place.
    fn jit_outputs(
        &mut self,
        at: At<'_>,
        keys: u16,
        count: Option<u64>,
        table: &'static [JitOptionDesc],
    ) {
        let meta = self.meta(at);
        let Some(all) = self.jit_keys(at, keys, count) else { return };
        let values = at.value();
        let value_of = |place: usize| {
            let address = values.wrapping_add(place as u64 * 8);
            self.memory.read_word(address, 8)
        };
        let mut buffers = Vec::new();
        for (place, key) in all.iter().enumerate() {
            let row = table.iter().find(|row| row.option == *key);
            if let Some(JitValue::OutBuffer { bytes_option }) = row.map(|row| row.value) {
                let size_place = all.iter().position(|key| *key == bytes_option);
                let size = size_place.and_then(value_of);
                buffers.push((place, value_of(place), size));
            }
        }
        for (place, address, size) in buffers {
            let meta = Meta { element: place as u32 + 1, ..meta };
            match (address, size) {
                (Some(0), _) => self.fields().null(meta, 0),
                (Some(address), Some(size)) => self.string(meta, address, Some(size)),
                (None, _) => self.fields().absent(meta, 0, AbsentReason::Unreadable),
                (_, None) => self.fields().absent(meta, 0, AbsentReason::UnknownLength),
            }
        }
    }

    /// Hands the program our recorded function in the place of the real one.
    fn entry_point(&mut self, at: At<'_>, name: u16) {
        let meta = self.meta(at);
        self.fields().absent(meta, 1, AbsentReason::NotKept);
        let address = at.value();
        let (mut text, place) = (Vec::new(), value_at(at.scope, name));
        let found = self.memory.read_word(address, 8).filter(|real| *real != 0);
        if place == 0 || !self.memory.read_string(place, None, &mut text) {
            return;
        }
        let api = std::ffi::CString::new(text).ok().and_then(|name| loader::find(&name));
        let (Some(api), Some(real)) = (api, found) else { return };
        if loader::bind_to(api, real as *const ()) && api.header.load(Relaxed) != 0 {
            // SAFETY: the successful call has just written a pointer there.
            unsafe { (address as *mut *const ()).write_unaligned(api.wrapper.0) };
        }
    }

    /// A string or a long value that the function returned.
    ///
    /// # Safety
    /// `ret` leads to what the call returned.
    pub(crate) unsafe fn returned(&mut self, ret: *const u8) {
        let meta = Meta { id: FIELD_RET, phase: Phase::After, ..Meta::default() };
        match self.api.ret.kind {
            RetKind::Str => self.string(meta, self.ret, None),
            _ => {
                let bytes = self.api.ret.bytes as usize;
                // SAFETY: the caller's obligation.
                let content = unsafe { core::slice::from_raw_parts(ret, bytes) }.to_vec();
                self.fields().content(meta, 1, &content);
            }
        }
    }

    /// The side of a copy, if it lies in host memory.
    fn host_side(
        &self,
        at: At<'_>,
        place: &OperandPlace,
        extent: &Extent,
        side: Side,
    ) -> Option<Copy> {
        let address = at.value();
        let rect = self.rect(extent, at)?;
        let total = rect_bytes(&rect).filter(|total| *total <= CONTENT_BYTES_MAX)?;
        let place = self.place(place, at, address, side)?;
        let held = matches!(place, Place::Host | Place::Tracked) && total > 0 && address != 0;
        held.then_some(Copy { id: at.index, element: at.element, address, rect, side })
    }

    /// Takes one side of a copy.
    fn operand(&mut self, at: At<'_>, place: &OperandPlace, extent: &Extent, side: Side) {
        let address = at.value();
        let meta = Meta { address, ..self.meta(at) };
        let Some(rect) = self.rect(extent, at) else {
            return self.fields().absent(meta, 0, AbsentReason::UnknownLength);
        };
        let Some(total) = rect_bytes(&rect).filter(|total| *total <= CONTENT_BYTES_MAX) else {
            return self.fields().absent(meta, 0, AbsentReason::UnknownLength);
        };
        match self.place(place, at, address, side) {
            None => self.fields().absent(meta, total, AbsentReason::UnknownTag),
            Some(Place::Device) => self.fields().field(meta, total, total, Body::Device),
            Some(Place::Host | Place::Tracked) if total == 0 => {
                self.fields().field(meta, 0, 0, Body::Bytes(Arc::from([])));
            }
            Some(Place::Host | Place::Tracked) if address == 0 => self.fields().null(meta, total),
            Some(Place::Host | Place::Tracked) => {
                let copy = Copy { id: at.index, element: at.element, address, rect, side };
                if !self.thread.open.copies.contains(&copy) {
                    self.thread.open.copies.push(copy);
                }
                if side == Side::Destination && self.is_deferred() {
                    return self.fields().absent(meta, total, AbsentReason::Deferred);
                }
                // The tracker's lock ends with the statement: what follows takes it again.
                let earlier = self.recorder.tracker().earlier_writer(&copy);
                if let (Side::Source, Some(since)) = (side, earlier) {
                    if let Some(since) = since {
                        super::track::look_at_source(self, &copy, since);
                    }
                    return self.fields().absent(meta, total, AbsentReason::EarlierWork);
                }
                let mut content = Vec::new();
                if read_rect(&self.memory, address, &rect, &mut content) {
                    self.fields().content(meta, total, &content);
                } else {
                    self.fields().absent(meta, total, AbsentReason::Unreadable);
                }
            }
        }
    }

    /// Whether the call's copies may run after it has returned.
    fn is_deferred(&self) -> bool {
        self.api.effects.iter().any(|effect| effect.defers())
    }

    fn rect(&self, extent: &Extent, at: At<'_>) -> Option<Rect> {
        match extent {
            Extent::Bytes(len) => {
                let width = self.length(len, at)?;
                Some(Rect { width, height: 1, depth: 1, pitch: width, slice: width, offset: 0 })
            }
            Extent::Rows { pitch, width, height } => {
                let (pitch, width) = (self.length(pitch, at)?, self.length(width, at)?);
                let height = self.length(height, at)?;
                let slice = pitch.checked_mul(height)?;
                Some(Rect { width, height, depth: 1, pitch, slice, offset: 0 })
            }
            Extent::Call(function) => function(at.scope),
        }
    }

    fn place(&self, place: &OperandPlace, at: At<'_>, address: u64, side: Side) -> Option<Place> {
        let found = match place {
            OperandPlace::Fixed(place) => Some(*place),
            OperandPlace::Kind(index, kinds) => {
                let value = signed(value_at(at.scope, *index), tag_bytes(at.scope, *index));
                let row = kinds.rows.iter().find(|(kind, ..)| *kind == value)?;
                Some(if side == Side::Source { row.1 } else { row.2 })
            }
            OperandPlace::Call(function) => function(at.scope),
        };
        match found? {
            Place::Tracked => Some(match self.recorder.tracker().space_of(address) {
                Some(Space::Device) => Place::Device,
                Some(Space::Pinned | Space::Managed) | None => Place::Host,
            }),
            place @ (Place::Host | Place::Device) => Some(place),
        }
    }

    fn kernel_args(&mut self, at: At<'_>, function: u16, form: KernelArgsForm) {
        let meta = self.meta(at);
        if at.value() == 0 {
            return self.fields().null(meta, 0);
        }
        let of = value_at(at.scope, function);
        let by_symbol = at
            .scope
            .params
            .get(function as usize)
            .is_some_and(|param| matches!(param.role, Role::HostSymbol));
        let identity = {
            let tracker = self.recorder.tracker();
            if by_symbol { tracker.symbol(of) } else { tracker.kernel(of) }
        };
        self.kernel_args_of(meta, identity, at.value(), form);
    }

    /// Takes the identity of a kernel and its visible arguments.
    pub(crate) fn kernel_args_of(
        &mut self,
        meta: Meta,
        identity: Option<Identity>,
        list: u64,
        form: KernelArgsForm,
    ) {
        let named = Meta { element: ELEMENT_IDENTITY, ..meta };
        self.identity(named, identity.clone());
        let Some(identity) = identity else {
            self.thread.open.unknown_args = true;
            return;
        };
        let image = Tracker::parsed(self.recorder, identity.image);
        let Some(kernel) = image.as_ref().and_then(|image| image.kernel(&identity.name)) else {
            self.thread.open.unknown_args = true;
            return self.fields().absent(meta, 0, AbsentReason::NoMetadata);
        };
        let buffer = match form {
            KernelArgsForm::Pointers => None,
            KernelArgsForm::Extra => Some(self.packed_args(list)),
        };
        for (place, arg) in kernel.args.iter().enumerate() {
            let meta = Meta { element: place as u32, address: arg.offset, ..meta };
            let value = match &buffer {
                None => self.pointed_arg(list, place as u64, arg.bytes),
                Some(None) => Err(AbsentReason::Unreadable),
                Some(Some(buffer)) => buffer
                    .get(arg.offset as usize..)
                    .and_then(|rest| rest.get(..arg.bytes as usize))
                    .map(<[u8]>::to_vec)
                    .ok_or(AbsentReason::ShortBuffer),
            };
            match value {
                Ok(value) => {
                    self.recorder.tracker().note_words(&mut self.thread.open.reached, &value);
                    let content = encode_arg(arg.kind, &value);
                    self.fields().content(meta, arg.bytes, &content);
                }
                Err(reason) => self.fields().absent(meta, arg.bytes, reason),
            }
        }
    }

    fn pointed_arg(&self, list: u64, place: u64, bytes: u64) -> Result<Vec<u8>, AbsentReason> {
        let pointer = self.memory.read_word(list.wrapping_add(place * 8), 8);
        let mut value = Vec::new();
        match pointer {
            Some(pointer) if pointer != 0 && bytes <= 1 << 20 => {
                let read = self.memory.read(pointer, bytes as usize, &mut value);
                read.then_some(value).ok_or(AbsentReason::Unreadable)
            }
            _ => Err(AbsentReason::Unreadable),
        }
    }

    /// Reads the buffer that a list of (key, value) names: key 1 is followed by its address, key 2
    /// by the address of its size; key 3, or null, ends the list.
    fn packed_args(&self, list: u64) -> Option<Vec<u8>> {
        let (mut buffer, mut size) = (None, None);
        let word = |place: u64| self.memory.read_word(list.wrapping_add(place * 8), 8);
        for pair in 0..8 {
            match word(pair * 2)? {
                1 => buffer = Some(word(pair * 2 + 1)?),
                2 => size = Some(self.memory.read_word(word(pair * 2 + 1)?, 8)?),
                _ => break,
            }
        }
        let (buffer, size) = (buffer?, size?);
        let mut content = Vec::new();
        let read = size <= 1 << 20 && self.memory.read(buffer, size as usize, &mut content);
        read.then_some(content)
    }
}

/// Where the value of a parameter itself stands.
fn at_value(at: At<'_>) -> *const u8 {
    at.scope.base.wrapping_add(at.param.offset as usize)
}

fn tag_bytes(scope: &Scope<'_>, index: u16) -> usize {
    scope.params.get(index as usize).map_or(8, |param| param.bytes as usize)
}

/// The bytes that a rectangle covers; `None` if no memory can hold it.
pub(crate) fn rect_bytes(rect: &Rect) -> Option<u64> {
    let total = rect.width.checked_mul(rect.height)?.checked_mul(rect.depth)?;
    let last = rect.pitch.checked_mul(rect.height.saturating_sub(1))?;
    let slices = rect.slice.checked_mul(rect.depth.saturating_sub(1))?;
    last.checked_add(slices)?.checked_add(rect.width)?.checked_add(rect.offset)?;
    Some(total)
}

/// Appends the rows of a rectangle, one after the other. The rows of a rectangle without gaps are
/// read at once.
pub(crate) fn read_rect(memory: &Memory, address: u64, rect: &Rect, out: &mut Vec<u8>) -> bool {
    let start = address.wrapping_add(rect.offset);
    let dense_rows = rect.pitch == rect.width || rect.height <= 1;
    let dense = dense_rows && (rect.slice == rect.width * rect.height || rect.depth <= 1);
    if dense {
        let total = rect.width * rect.height * rect.depth;
        return memory.read(start, total as usize, out);
    }
    for slice in 0..rect.depth {
        for row in 0..rect.height {
            let at = start.wrapping_add(slice * rect.slice).wrapping_add(row * rect.pitch);
            if !memory.read(at, rect.width as usize, out) {
                return false;
            }
        }
    }
    true
}
