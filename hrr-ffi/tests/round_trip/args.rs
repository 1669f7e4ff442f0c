//! Arguments for any declared function, made from the roles of its parameters: handles and addresses
//! that earlier calls gave out, buffers of enough room, and numbers that are good as lengths.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::path::Path;

use hrr_core::desc::{
    ApiDesc, Direction, HandleDesc, ImageForm, JitValue, KernelArgsForm, OperandPlace, ParamDesc,
    PayloadDesc, Place, RetKind, Role, ScalarKind, Shape, Side,
};

use super::fake::Block;
use super::{IMAGE, KERNEL};

/// Room behind every pointer: more than any length of the test needs.
const ROOM: usize = 4096;
/// Elements of every array.
const ELEMENTS: usize = 32;

/// Makes calls.
pub(crate) struct Maker {
    apis: HashMap<&'static str, &'static ApiDesc>,
    /// The path of a file that holds the image.
    file: CString,
    random: u64,
    symbol: Option<u64>,
    /// Calls that are being made because another needs what they give.
    depth: usize,
}

/// A call that was made.
struct Made {
    args: Block,
    ret: u64,
}

/// Whether a call of the test hands over something of the operating system.
pub(crate) fn has_os_handle(api: &ApiDesc) -> bool {
    api.params.iter().any(|param| matches!(param.role, Role::OsHandle { .. }))
}

extern "C" fn nothing(_: *mut c_void) {}

fn room(bytes: usize) -> *mut u8 {
    vec![0u64; bytes.div_ceil(8)].leak().as_mut_ptr().cast()
}

impl Maker {
    pub(crate) fn new(folder: &Path) -> Maker {
        let path = folder.with_extension("image");
        std::fs::write(&path, IMAGE).expect("the folder is writable");
        let file = CString::new(path.into_os_string().into_encoded_bytes()).expect("no NUL");
        let name = |api: &&'static ApiDesc| (api.name.to_str().expect("UTF-8"), *api);
        let apis = hrr_ffi::ALL.iter().map(name).collect();
        Maker { apis, file, random: 0x9e37_79b9_7f4a_7c15, symbol: None, depth: 0 }
    }

    /// A number below `end`: splitmix64.
    fn below(&mut self, end: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    /// Calls a function through its exported name.
    pub(crate) fn call(&mut self, api: &'static ApiDesc) {
        self.make(api);
    }

    fn make(&mut self, api: &'static ApiDesc) -> Made {
        self.depth += 1;
        let base = room(api.args_bytes as usize);
        let number = 1 + self.below(3);
        self.fill(api.params, base, number);
        let mut ret = [0u128; 4];
        let slot = api.slot.load(std::sync::atomic::Ordering::Acquire);
        // SAFETY: the slot holds a function of this signature; the block is filled by the roles of
        // the parameters; the room for the answer is larger than any answer.
        unsafe { (api.invoke)(slot, base, ret.as_mut_ptr().cast()) };
        self.depth -= 1;
        Made { args: Block { params: api.params, base }, ret: ret[0] as u64 }
    }

    fn make_named(&mut self, name: &str) -> Made {
        self.make(self.apis[name])
    }

    /// A handle that a call gave out just now: null where handles need each other without end.
    fn handle(&mut self, handle: &HandleDesc) -> u64 {
        if self.depth > 3 {
            return 0;
        }
        let creator = match handle.name {
            "hipStream_t" => "hipStreamCreate",
            "hipEvent_t" => "hipEventCreate",
            "hipModule_t" => "hipModuleLoadData",
            "hipFunction_t" => "hipModuleGetFunction",
            "hipGraph_t" => "hipGraphCreate",
            "hipGraphExec_t" => "hipGraphInstantiateWithFlags",
            "hipGraphNode_t" => "hipGraphAddEmptyNode",
            "hipFatBinaryHandle" => "__hipRegisterFatBinary",
            "hipExternalMemory_t"
            | "hipExternalSemaphore_t"
            | "hiprtcProgram"
            | "hiprtcLinkState"
            | "hipUserObject_t" => return 0,
            _ => "",
        };
        let makes = |param: &ParamDesc| match &param.role {
            Role::OutHandle { handle: made, count: None } => made.name == handle.name,
            _ => false,
        };
        let api = self.apis.get(creator).copied().unwrap_or_else(|| {
            let makers = hrr_ffi::ALL.iter().filter(|api| api.params.iter().any(makes));
            makers.min_by_key(|api| handles_in(api)).unwrap_or_else(|| panic!("{}", handle.name))
        });
        let made = self.make(api);
        if let RetKind::Handle(_) = api.ret.kind {
            return made.ret;
        }
        let index = api.params.iter().position(makes).expect("the creator makes it");
        // SAFETY: the call wrote a handle behind its parameter.
        unsafe { (made.args.word(index) as *const u64).read_unaligned() }
    }

    /// The start of memory that a call gave out just now.
    fn memory(&mut self, allocator: &str) -> u64 {
        let made = self.make_named(allocator);
        // SAFETY: the call wrote an address behind its first parameter.
        unsafe { (made.args.word(0) as *const u64).read_unaligned() }
    }

    /// An address that stands for the kernel of the test.
    fn symbol(&mut self) -> u64 {
        if let Some(symbol) = self.symbol {
            return symbol;
        }
        let made = self.make_named("__hipRegisterFunction");
        let symbol = made.args.word(1);
        self.symbol = Some(symbol);
        symbol
    }

    /// Fills parameters or fields: the numbers first, since the others depend on them.
    fn fill(&mut self, params: &'static [ParamDesc], base: *mut u8, number: u64) {
        for (index, param) in params.iter().enumerate() {
            // SAFETY: the caller's block holds its parameters.
            let at = unsafe { base.add(param.offset as usize) };
            if let Role::Scalar(payload) = &param.role {
                self.scalar(params, index, payload, at, number);
            }
        }
        let block = Block { params, base };
        for (index, param) in params.iter().enumerate() {
            // SAFETY: as above.
            let at = unsafe { base.add(param.offset as usize) };
            match &param.role {
                Role::Scalar(_) | Role::Device => {}
                Role::Struct(payload) => self.value(payload, at, number),
                Role::Tagged { by, table, behind: None } => {
                    let tag = i64::from(block.word(usize::from(*by)) as i32);
                    if let Some(row) = table.iter().find(|row| row.tag == tag) {
                        self.value(row.payload, at, number);
                    }
                }
                _ if param.bytes == 8 => {
                    let word = self.word(&block, index, number);
                    // SAFETY: a pointer or a handle stands here.
                    unsafe { at.cast::<u64>().write_unaligned(word) };
                }
                // A handle of the operating system by value: zeros.
                _ => {}
            }
        }
    }

    fn scalar(
        &mut self,
        params: &'static [ParamDesc],
        index: usize,
        payload: &'static PayloadDesc,
        at: *mut u8,
        number: u64,
    ) {
        let table = params.iter().find_map(|param| match &param.role {
            Role::Tagged { by, table, .. } if usize::from(*by) == index => Some(*table),
            _ => None,
        });
        let value = match (table, payload.name, params[index].name) {
            (Some(table), ..) => table[self.below(table.len() as u64) as usize].tag as u64,
            (None, "hipMemoryType", "dstMemoryType") => 2,
            (None, "hipMemoryType", _) => 1,
            _ => number,
        };
        put(payload, at, value);
    }

    fn value(&mut self, payload: &'static PayloadDesc, at: *mut u8, number: u64) {
        match &payload.shape {
            Shape::Scalar(_) => put(payload, at, number),
            Shape::Handle(handle) => {
                let handle = self.handle(handle);
                // SAFETY: a handle stands here.
                unsafe { at.cast::<u64>().write_unaligned(handle) };
            }
            Shape::Struct(fields) => self.fill(fields, at, number),
        }
    }

    /// A pointer or a handle.
    fn word(&mut self, block: &Block, index: usize, number: u64) -> u64 {
        let param = &block.params[index];
        let siblings = block.params;
        match &param.role {
            // A box is copied between memory alone: the other side's sizes would count elements.
            Role::InHandle { .. } if matches!(param.name, "srcArray" | "dstArray") => 0,
            Role::InHandle { handle, .. } => self.handle(handle),
            Role::Pointee { direction, payload, .. } => {
                self.array(payload, *direction, 1, number) as u64
            }
            Role::Array { direction, payload, .. } => {
                let list = self.array(payload, *direction, ELEMENTS, number);
                self.keys(siblings, index, list.cast());
                list as u64
            }
            Role::String => {
                let entry = |sibling: &ParamDesc| match sibling.role {
                    Role::EntryPoint { name } => usize::from(name) == index,
                    _ => false,
                };
                if siblings.iter().any(entry) {
                    hrr_ffi::ALL[0].name.as_ptr() as u64
                } else {
                    KERNEL.as_ptr() as u64
                }
            }
            Role::DevicePointer { frees } => match (frees, param.name) {
                (true, "ptr") if number == 1 => self.memory("hipHostMalloc"),
                (true, _) => self.memory("hipMalloc"),
                (false, _) => self.memory("hipMalloc"),
            },
            Role::DevicePointerArray { .. } => {
                let list = room(8 * ELEMENTS).cast::<u64>();
                for i in 0..ELEMENTS {
                    // SAFETY: made with as many elements.
                    unsafe { list.add(i).write(self.memory("hipMalloc")) };
                }
                list as u64
            }
            Role::UnregistersHost => self.make_named("hipHostRegister").args.word(0),
            Role::HostIn { .. } => filled(number),
            Role::Operand { side, place, .. } => self.operand(block, param, *side, place, number),
            Role::KernelArgs { form: KernelArgsForm::Pointers, .. } => {
                let list = room(16).cast::<*mut u8>();
                let pointer = self.memory("hipMalloc");
                // SAFETY: made with room for two pointers, and each for its value.
                unsafe {
                    list.write(room(8));
                    (*list).cast::<u64>().write(pointer);
                    list.add(1).write(filled(number) as *mut u8);
                }
                list as u64
            }
            Role::KernelArgs { form: KernelArgsForm::Extra, .. } => 0,
            Role::HostSymbol => self.symbol(),
            Role::Image(ImageForm::Data) => IMAGE.as_ptr() as u64,
            Role::Image(ImageForm::Wrapper) => {
                let wrapper = room(24).cast::<u64>();
                // SAFETY: made with room for three words: magic and version, and the image.
                unsafe {
                    wrapper.write(0x4849_5046 | 1 << 32);
                    wrapper.add(1).write(IMAGE.as_ptr() as u64);
                }
                wrapper as u64
            }
            Role::Image(ImageForm::File) => self.file.as_ptr() as u64,
            Role::Tagged { by, table, behind } => {
                let tag = i64::from(block.word(usize::from(*by)) as i32);
                let at = room(ROOM);
                if let Some(row) = table.iter().find(|row| row.tag == tag)
                    && *behind != Some(Direction::Out)
                {
                    self.value(row.payload, at, number);
                }
                at as u64
            }
            Role::Callback => nothing as extern "C" fn(*mut c_void) as usize as u64,
            Role::OutHandle { .. }
            | Role::OutString { .. }
            | Role::OutDevicePointer { .. }
            | Role::RegistersHost { .. }
            | Role::HostOut { .. }
            | Role::DefinesHostSymbol { .. }
            | Role::JitOptions { .. }
            | Role::UserData
            | Role::EntryPoint { .. }
            | Role::OsHandle { .. }
            | Role::Opaque { .. } => room(ROOM) as u64,
            Role::Scalar(_) | Role::Struct(_) | Role::Device => 0,
        }
    }

    fn array(
        &mut self,
        payload: &'static PayloadDesc,
        direction: Direction,
        count: usize,
        number: u64,
    ) -> *mut u8 {
        let bytes = payload.bytes as usize;
        let list = room((bytes * count).max(ROOM));
        if direction != Direction::Out {
            // More elements than any count of the test.
            for i in 0..count.min(4) {
                // SAFETY: made with as many elements.
                self.value(payload, unsafe { list.add(i * bytes) }, number);
            }
        }
        list
    }

    /// Keys of compiler options must be options whose values are numbers.
    fn keys(&mut self, siblings: &'static [ParamDesc], index: usize, list: *mut i32) {
        let table = siblings.iter().find_map(|sibling| match &sibling.role {
            Role::JitOptions { keys, table, .. } if usize::from(*keys) == index => Some(*table),
            _ => None,
        });
        let Some(table) = table else { return };
        let numbers: Vec<i64> = table
            .iter()
            .filter(|option| option.value == JitValue::Integer)
            .map(|option| option.option)
            .collect();
        for i in 0..ELEMENTS {
            let key = numbers[self.below(numbers.len() as u64) as usize];
            // SAFETY: made with as many elements.
            unsafe { list.add(i).write(key as i32) };
        }
    }

    fn operand(
        &mut self,
        block: &Block,
        param: &ParamDesc,
        side: Side,
        place: &OperandPlace,
        number: u64,
    ) -> u64 {
        let place = match place {
            OperandPlace::Fixed(_) if param.name == "dstHost" => return 0,
            OperandPlace::Fixed(place) => *place,
            OperandPlace::Kind(index, kinds) => {
                let kind = i64::from(block.word(usize::from(*index)) as i32);
                let row = kinds.rows.iter().find(|row| row.0 == kind).expect("a known kind");
                if side == Side::Source { row.1 } else { row.2 }
            }
            // The test's driver copies go from the host to the device.
            OperandPlace::Call(_) if side == Side::Source => return 0,
            OperandPlace::Call(_) => Place::Device,
        };
        match place {
            Place::Host => filled(number),
            Place::Device | Place::Tracked => self.memory("hipMalloc"),
        }
    }
}

/// How many handles a function takes: the fewer, the better it is to make others.
fn handles_in(api: &ApiDesc) -> usize {
    let costly = |param: &&ParamDesc| {
        matches!(param.role, Role::InHandle { .. } | Role::OsHandle { .. } | Role::HostSymbol)
    };
    api.params.iter().filter(costly).count() * 8 + api.params.len()
}

/// A buffer with content.
fn filled(number: u64) -> u64 {
    let at = room(ROOM);
    // SAFETY: made with as many bytes.
    unsafe { at.write_bytes(number as u8, ROOM) };
    at as u64
}

/// Writes a number as a scalar.
fn put(payload: &PayloadDesc, at: *mut u8, value: u64) {
    let bytes = payload.bytes as usize;
    match payload.shape {
        Shape::Scalar(ScalarKind::Float) if bytes == 4 => {
            // SAFETY: a float stands here.
            unsafe { at.cast::<f32>().write_unaligned(value as f32) };
        }
        Shape::Scalar(ScalarKind::Bytes) => {
            // SAFETY: an array of this size stands here.
            unsafe { at.write_bytes(value as u8, bytes) };
        }
        _ => {
            // SAFETY: an integer of this size stands here.
            unsafe { at.copy_from_nonoverlapping(value.to_le_bytes().as_ptr(), bytes.min(8)) };
        }
    }
}
