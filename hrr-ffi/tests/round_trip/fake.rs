//! The runtime of the test: it notes what it is given, and writes what its declaration says.
//!
//! What it notes does not depend on where things are: handles and addresses are named by the call
//! that gave them out, so that a recorded and a replayed call look the same.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

use hrr_core::desc::{
    ApiDesc, Direction, Extent, ImageForm, KernelArgsForm, Len, ParamDesc, PayloadDesc, Rect,
    RetKind, Role, Scope, Shape, Side,
};

use super::IMAGE;

/// One call, as the runtime saw it.
#[derive(Debug)]
pub(crate) struct Call {
    /// One entry for each parameter.
    pub(crate) seen: Vec<String>,
}

/// The calls of one pass, and what was given out in it.
#[derive(Default)]
struct Pass {
    calls: HashMap<&'static str, Vec<Call>>,
    /// What the handles are called, by their number.
    handles: Vec<String>,
    /// Starts of allocations, and what they are called.
    memory: Vec<(u64, String)>,
    /// Passes before this one: handles of each have numbers of their own.
    number: u64,
}

const ALLOCATION_BYTES: u64 = 1 << 16;
const HANDLES: u64 = 0x10_0000_0000;

impl Pass {
    fn handle(&mut self, name: String) -> u64 {
        self.handles.push(name);
        HANDLES * (1 + self.number) + 16 * self.handles.len() as u64
    }

    fn allocation(&mut self, name: String) -> u64 {
        let memory = vec![0u64; ALLOCATION_BYTES as usize / 8].leak().as_ptr() as u64;
        self.memory.push((memory, name));
        memory
    }

    /// What a handle or an address of this pass is called: by the call that gave it out.
    fn name(&self, word: u64) -> Option<String> {
        if word == 0 {
            return Some("null".to_owned());
        }
        let handle = word.checked_sub(HANDLES * (1 + self.number) + 16).map(|at| at / 16);
        if let Some(name) = handle.and_then(|at| self.handles.get(at as usize)) {
            return Some(name.clone());
        }
        let holds = |start: u64| word >= start && word - start < ALLOCATION_BYTES;
        let (start, name) = self.memory.iter().find(|(start, _)| holds(*start))?;
        Some(format!("{name} + {}", word - start))
    }
}

pub(crate) struct Fake {
    pass: Mutex<Pass>,
}

/// A list of parameters or fields, and where they stand.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(crate) params: &'static [ParamDesc],
    pub(crate) base: *const u8,
}

impl Block {
    /// The bytes of a parameter, at most 8, zero-extended.
    pub(crate) fn word(&self, index: usize) -> u64 {
        let param = &self.params[index];
        // SAFETY: the block holds its parameters.
        unsafe { word_at(self.base.add(param.offset as usize), param.bytes.min(8) as usize) }
    }

    /// A length, computed from the block as it is now.
    pub(crate) fn len(&self, len: &Len) -> u64 {
        match len {
            Len::Const(n) => *n,
            Len::Param(index) => self.word(usize::from(*index)),
            Len::Before(index) | Len::After(index) => {
                let Role::Pointee { payload, .. } = self.params[usize::from(*index)].role else {
                    return 0;
                };
                match self.word(usize::from(*index)) as *const u8 {
                    at if at.is_null() => 0,
                    // SAFETY: the pointee of a length is an integer of this size.
                    at => unsafe { word_at(at, payload.bytes as usize) },
                }
            }
            Len::Product(parts) => parts.iter().map(|part| self.len(part)).product(),
            Len::Min(parts) => parts.iter().map(|part| self.len(part)).min().unwrap_or(0),
            Len::Call(call) => call(&self.scope()).unwrap_or(0),
        }
    }

    fn scope(&self) -> Scope<'_> {
        let (params, base) = (self.params, self.base);
        Scope { params, base, outer: None, before: &[], returned: true }
    }

    /// The payload that a tag stands for.
    fn tagged(&self, by: u16, table: &'static [hrr_core::desc::TagDesc]) -> &'static PayloadDesc {
        let tag = i64::from(self.word(usize::from(by)) as i32);
        table.iter().find(|row| row.tag == tag).map(|row| row.payload).expect("a tag of the table")
    }
}

/// # Safety
/// `at` is readable for `bytes` bytes, at most 8.
unsafe fn word_at(at: *const u8, bytes: usize) -> u64 {
    let mut word = [0; 8];
    // SAFETY: the caller's.
    unsafe { std::ptr::copy_nonoverlapping(at, word.as_mut_ptr(), bytes) };
    u64::from_le_bytes(word)
}

/// # Safety
/// `at` is readable for `bytes` bytes.
unsafe fn bytes_at(at: *const u8, bytes: u64) -> String {
    // SAFETY: the caller's.
    format!("{:02x?}", unsafe { std::slice::from_raw_parts(at, bytes as usize) })
}

impl Fake {
    pub(crate) fn new() -> Fake {
        Fake { pass: Mutex::default() }
    }

    /// Ends a pass: what it saw.
    pub(crate) fn take_calls(&self) -> HashMap<&'static str, Vec<Call>> {
        let mut pass = self.pass.lock().unwrap_or_else(PoisonError::into_inner);
        let number = pass.number + 1;
        std::mem::replace(&mut *pass, Pass { number, ..Pass::default() }).calls
    }

    /// Notes a call and answers it.
    pub(crate) fn answer(&self, api: &'static ApiDesc, args: *const u8, ret: *mut u8) {
        let mut pass = self.pass.lock().unwrap_or_else(PoisonError::into_inner);
        let block = Block { params: api.params, base: args };
        let seen = see_block(&pass, &block);
        let name = api.name.to_str().expect("a C identifier is UTF-8");
        let calls = pass.calls.entry(name).or_default();
        calls.push(Call { seen });
        let this = format!("{name}#{}", calls.len());
        // Lengths may stand behind other outputs, so those come first.
        for plain in [true, false] {
            for (index, param) in api.params.iter().enumerate() {
                if matches!(param.role, Role::Pointee { .. }) == plain {
                    write(&mut pass, &block, index, &this);
                }
            }
        }
        let answer = match api.ret.kind {
            RetKind::Handle(_) => pass.handle(this),
            RetKind::Str => c"text".as_ptr() as u64,
            RetKind::Void | RetKind::Status { .. } | RetKind::Value(_) => return,
        };
        // SAFETY: both are pointers, for which the room is made.
        unsafe { ret.cast::<u64>().write_unaligned(answer) };
    }
}

fn see_block(pass: &Pass, block: &Block) -> Vec<String> {
    (0..block.params.len())
        .map(|index| format!("{}: {}", block.params[index].name, see(pass, block, index)))
        .collect()
}

fn see_value(pass: &Pass, payload: &'static PayloadDesc, at: *const u8) -> String {
    match &payload.shape {
        // SAFETY: a value of this payload stands here.
        Shape::Scalar(_) => unsafe { bytes_at(at, payload.bytes.into()) },
        Shape::Handle(_) => {
            // SAFETY: a handle stands here.
            let word = unsafe { word_at(at, 8) };
            pass.name(word).unwrap_or_else(|| format!("unknown handle {word:#x}"))
        }
        Shape::Struct(fields) => {
            format!("{:?}", see_block(pass, &Block { params: fields, base: at }))
        }
    }
}

/// What a parameter looks like to the callee.
fn see(pass: &Pass, block: &Block, index: usize) -> String {
    let param = &block.params[index];
    let word = block.word(index);
    let at = word as *const u8;
    // SAFETY: a parameter stands inside its block.
    let here = unsafe { block.base.add(param.offset as usize) };
    let given = if word == 0 { "null" } else { "given" }.to_owned();
    let each = |count: u64, payload: &'static PayloadDesc| {
        let element = |i: u64| {
            // SAFETY: the array has as many elements as its count says.
            let at = unsafe { at.add((i * u64::from(payload.bytes)) as usize) };
            see_value(pass, payload, at)
        };
        (0..count).map(element).collect::<Vec<_>>().join(", ")
    };
    match &param.role {
        Role::Scalar(payload) | Role::Struct(payload) => see_value(pass, payload, here),
        Role::Device => format!("{}", word as u32),
        Role::InHandle { .. } | Role::DevicePointer { .. } => {
            pass.name(word).unwrap_or_else(|| format!("unknown {word:#x}"))
        }
        Role::Pointee { direction: Direction::In | Direction::InOut, payload, .. } if word != 0 => {
            each(1, payload)
        }
        Role::Array { direction: Direction::In | Direction::InOut, payload, count, .. }
            if word != 0 =>
        {
            each(block.len(count), payload)
        }
        // SAFETY: a string stands there.
        Role::String if word != 0 => format!("{:?}", unsafe { CStr::from_ptr(at.cast()) }),
        Role::DevicePointerArray { count, .. } if word != 0 => (0..block.len(count))
            // SAFETY: the array has as many elements as its count says.
            .map(|i| unsafe { word_at(at.add(8 * i as usize), 8) })
            .map(|word| pass.name(word).unwrap_or_else(|| format!("unknown {word:#x}")))
            .collect::<Vec<_>>()
            .join(", "),
        // SAFETY: as many bytes stand there.
        Role::HostIn { bytes } if word != 0 => unsafe { bytes_at(at, block.len(bytes)) },
        Role::Operand { side, extent, .. } => match (pass.name(word), side, extent) {
            (Some(name), ..) => name,
            // SAFETY: as many bytes stand there.
            (None, Side::Source, Extent::Bytes(len)) => unsafe { bytes_at(at, block.len(len)) },
            (None, ..) => given,
        },
        Role::KernelArgs { form: KernelArgsForm::Pointers, .. } if word != 0 => {
            // SAFETY: the kernel of the test has two arguments, of 8 and 4 bytes.
            let (pointer, number) = unsafe {
                let list = at.cast::<*const u8>();
                (word_at(*list, 8), word_at(*list.add(1), 4))
            };
            format!("{:?}, {number}", pass.name(pointer))
        }
        Role::Image(form) => match form {
            // SAFETY: an image of the test stands there.
            ImageForm::Data => unsafe { bytes_at(at, IMAGE.len() as u64) },
            // SAFETY: as above, behind a pointer.
            ImageForm::Wrapper => unsafe {
                bytes_at(word_at(at.add(8), 8) as *const u8, IMAGE.len() as u64)
            },
            ImageForm::File => given,
        },
        Role::Tagged { by, table, behind } => {
            let payload = block.tagged(*by, table);
            match behind {
                None => see_value(pass, payload, here),
                Some(Direction::In | Direction::InOut) if word != 0 => see_value(pass, payload, at),
                Some(_) => given,
            }
        }
        Role::JitOptions { count, .. } if word != 0 => {
            // SAFETY: as many values stand there.
            unsafe { bytes_at(at, 8 * block.len(count)) }
        }
        Role::Opaque { .. } | Role::OsHandle { .. } | Role::UserData => "-".to_owned(),
        _ => given,
    }
}

/// Writes what the declaration says that the callee writes.
fn write(pass: &mut Pass, block: &Block, index: usize, this: &str) {
    let param = &block.params[index];
    let at = block.word(index) as *mut u8;
    if at.is_null() || param.bytes != 8 {
        return;
    }
    // SAFETY, of every block below: the program, or the engine in its place, made room for what its
    // declaration says.
    match &param.role {
        Role::OutHandle { count, .. } => {
            for i in 0..count.as_ref().map_or(1, |len| block.len(len)) as usize {
                let handle = pass.handle(format!("{this}.{}[{i}]", param.name));
                // SAFETY: see above.
                unsafe { at.cast::<u64>().add(i).write_unaligned(handle) };
            }
        }
        Role::Pointee { direction: Direction::Out, payload, .. } => {
            // SAFETY: see above.
            unsafe { at.write_bytes(0, payload.bytes as usize) };
            match &payload.shape {
                // SAFETY: see above. A version is that of a runtime since HIP 6.0.
                Shape::Scalar(_) if param.name == "runtimeVersion" => unsafe {
                    at.cast::<i32>().write_unaligned(70_000_000);
                },
                // SAFETY: see above.
                Shape::Scalar(_) => unsafe { at.write(1) },
                Shape::Handle(_) | Shape::Struct(_) => {}
            }
        }
        Role::Pointee { direction: Direction::In, payload, .. } => {
            if let Shape::Struct(fields) = payload.shape {
                let inner = Block { params: fields, base: at };
                (0..fields.len()).for_each(|index| write(pass, &inner, index, this));
            }
        }
        Role::Array { direction: Direction::Out, payload, count, .. } => {
            let bytes = block.len(count) * u64::from(payload.bytes);
            // SAFETY: see above.
            unsafe { at.write_bytes(0, bytes as usize) };
        }
        Role::OutString { bytes, .. } => {
            let text = b"t\0";
            let bytes = (block.len(bytes) as usize).min(text.len());
            // SAFETY: see above.
            unsafe { at.copy_from_nonoverlapping(text[text.len() - bytes..].as_ptr(), bytes) };
        }
        Role::OutDevicePointer { .. } => {
            let memory = pass.allocation(format!("{this}.{}", param.name));
            // SAFETY: see above.
            unsafe { at.cast::<u64>().write_unaligned(memory) };
        }
        Role::HostOut { bytes, .. } => {
            // SAFETY: see above.
            unsafe { at.write_bytes(7, block.len(bytes) as usize) };
        }
        Role::Operand { side: Side::Destination, extent, .. } if pass.name(at as u64).is_none() => {
            let rect = match extent {
                Extent::Bytes(len) => {
                    let width = block.len(len);
                    Some(Rect { width, height: 1, depth: 1, ..Rect::default() })
                }
                Extent::Rows { pitch, width, height } => Some(Rect {
                    width: block.len(width),
                    height: block.len(height),
                    depth: 1,
                    pitch: block.len(pitch),
                    ..Rect::default()
                }),
                Extent::Call(rect) => rect(&block.scope()),
            }
            .unwrap_or_default();
            for slice in 0..rect.depth {
                for row in 0..rect.height {
                    let offset = rect.offset + slice * rect.slice + row * rect.pitch;
                    // SAFETY: see above.
                    unsafe { at.add(offset as usize).write_bytes(7, rect.width as usize) };
                }
            }
        }
        Role::Tagged { by, table, behind: Some(Direction::Out) } => {
            // SAFETY: see above.
            unsafe { at.write_bytes(0, block.tagged(*by, table).bytes as usize) };
        }
        Role::EntryPoint { .. } => {
            let api = hrr_ffi::ALL[0];
            // SAFETY: see above.
            unsafe { at.cast::<*const ()>().write_unaligned(api.receive.0) };
        }
        _ => {}
    }
}
