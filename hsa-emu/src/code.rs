//! Code objects: readers, executables and the symbols in them.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use gfx_emu::loader::code::{CodeObject, TargetId};
use gfx_emu::loader::{LoadError, LoadedKernel, LoadedObject, Variable};

use crate::abi::{
    AgentHandle, Answer, ExecutableHandle, LoadedHandle, ReaderHandle, Status, SymbolHandle, put,
};
use crate::agent::{target_id, unknown};
use crate::blit::Blit;
use crate::log;
use crate::memory::status_of;
use crate::runtime::{Runtime, handle_value, runtime};

/// Handles of this module count from here, behind those of agents and pools.
const FIRST_INDEX: u64 = 1 << 20;

/// All code of the process.
pub(crate) struct Code {
    seed: u64,
    book: RwLock<Book>,
}

#[derive(Default)]
struct Book {
    handles: u64,
    readers: HashMap<u64, Arc<[u8]>>,
    executables: HashMap<u64, Executable>,
    symbols: HashMap<u64, Symbol>,
    /// By the address of the descriptor, which dispatch packets name.
    kernels: HashMap<u64, Runnable>,
}

#[derive(Default)]
struct Executable {
    frozen: bool,
    objects: Vec<Object>,
    /// Handles that were given out, by device and name.
    symbols: HashMap<(usize, String), u64>,
}

struct Object {
    gpu: usize,
    loaded: LoadedObject,
    elf: Arc<[u8]>,
    bytes: u64,
}

#[derive(Clone)]
struct Symbol {
    executable: u64,
    gpu: usize,
    name: String,
    what: What,
}

#[derive(Clone)]
enum What {
    Kernel(Arc<LoadedKernel>),
    Variable(Variable),
}

/// A kernel that packets may name.
#[derive(Clone)]
pub(crate) struct Runnable {
    pub(crate) kernel: Arc<LoadedKernel>,
    pub(crate) blit: Option<Blit>,
}

impl Code {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, book: RwLock::default() }
    }

    /// The kernel whose descriptor is at that address.
    pub(crate) fn kernel(&self, descriptor: u64) -> Option<Runnable> {
        self.read().kernels.get(&descriptor).cloned()
    }

    fn read(&self) -> RwLockReadGuard<'_, Book> {
        self.book.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Book> {
        self.book.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_handle(&self, book: &mut Book) -> u64 {
        book.handles += 1;
        handle_value(self.seed, FIRST_INDEX + book.handles)
    }
}

fn load_status(error: &LoadError) -> Status {
    match error {
        LoadError::Memory(error) => status_of(error),
        LoadError::Relocation { .. } => Status::ERROR_VARIABLE_UNDEFINED,
        LoadError::Target(_) => Status::ERROR_INCOMPATIBLE_ARGUMENTS,
        LoadError::Code(_) | LoadError::Kernel { .. } | LoadError::Layout(_) => {
            Status::ERROR_INVALID_CODE_OBJECT
        }
    }
}

/// `hsa_code_object_reader_create_from_memory`.
///
/// # Safety
///
/// `bytes` bytes at `code` are readable; `out` is null or has room for a handle.
pub(crate) unsafe fn create_reader(
    code: *const c_void,
    bytes: usize,
    out: *mut ReaderHandle,
) -> Answer {
    let code_of = &runtime()?.code;
    if code.is_null() || bytes == 0 || out.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: the caller's promise.
    let content = unsafe { std::slice::from_raw_parts(code.cast::<u8>(), bytes) };
    let mut book = code_of.write();
    let handle = code_of.next_handle(&mut book);
    book.readers.insert(handle, content.into());
    // SAFETY: the caller's promise.
    unsafe { put(out, ReaderHandle(handle)) }
}

/// `hsa_code_object_reader_destroy`.
pub(crate) fn destroy_reader(reader: ReaderHandle) -> Answer {
    let removed = runtime()?.code.write().readers.remove(&reader.0);
    removed.map(drop).ok_or(Status::ERROR_INVALID_CODE_OBJECT_READER)
}

/// `hsa_executable_create_alt`. The options have no meaning to any loader.
///
/// # Safety
///
/// `out` is null or has room for a handle.
pub(crate) unsafe fn create_executable(
    profile: u32,
    rounding: u32,
    out: *mut ExecutableHandle,
) -> Answer {
    let code = &runtime()?.code;
    if profile > 1 || rounding > 2 || out.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let mut book = code.write();
    let handle = code.next_handle(&mut book);
    book.executables.insert(handle, Executable::default());
    // SAFETY: the caller's promise.
    unsafe { put(out, ExecutableHandle(handle)) }
}

/// `hsa_executable_load_agent_code_object`.
///
/// # Safety
///
/// `out` is null or has room for a handle.
pub(crate) unsafe fn load(
    executable: ExecutableHandle,
    agent: AgentHandle,
    reader: ReaderHandle,
    out: *mut LoadedHandle,
) -> Answer {
    let runtime = runtime()?;
    let gpu = runtime.names.gpu(agent)?;
    let elf = {
        let book = runtime.code.read();
        let target = book.executables.get(&executable.0).ok_or(Status::ERROR_INVALID_EXECUTABLE)?;
        if target.frozen {
            return Err(Status::ERROR_FROZEN_EXECUTABLE);
        }
        let elf = book.readers.get(&reader.0);
        Arc::clone(elf.ok_or(Status::ERROR_INVALID_CODE_OBJECT_READER)?)
    };
    let object = load_object(runtime, gpu, elf)?;
    let mut book = runtime.code.write();
    let handle = runtime.code.next_handle(&mut book);
    for kernel in object.loaded.kernels() {
        let blit = Blit::recognise(&kernel.metadata);
        let runnable = Runnable { kernel: Arc::clone(kernel), blit };
        book.kernels.insert(kernel.descriptor_address, runnable);
    }
    let target = book.executables.get_mut(&executable.0);
    target.ok_or(Status::ERROR_INVALID_EXECUTABLE)?.objects.push(object);
    if out.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { put(out, LoadedHandle(handle)) }
}

fn load_object(runtime: &Runtime, gpu: usize, elf: Arc<[u8]>) -> Answer<Object> {
    let parsed = CodeObject::parse(&elf).map_err(|error| {
        log::warn(format_args!("code object: {error}"));
        Status::ERROR_INVALID_CODE_OBJECT
    })?;
    let device = target_id(runtime.settings.target);
    if !TargetId::parse(device).is_some_and(|device| parsed.target.runs_on(&device)) {
        log::warn(format_args!("code object for {} does not run on {device}", parsed.target));
        return Err(Status::ERROR_INCOMPATIBLE_ARGUMENTS);
    }
    let ends = parsed.segments.iter().map(|segment| segment.address + segment.memory_bytes);
    let bytes = ends.max().unwrap_or(0);
    let loaded = LoadedObject::load(runtime.memory.space(), &elf).map_err(|error| {
        log::warn(format_args!("code object: {error}"));
        load_status(&error)
    })?;
    Ok(Object { gpu, loaded, elf, bytes })
}

/// `hsa_executable_freeze`.
pub(crate) fn freeze(executable: ExecutableHandle) -> Answer {
    let mut book = runtime()?.code.write();
    let found = book.executables.get_mut(&executable.0);
    let found = found.ok_or(Status::ERROR_INVALID_EXECUTABLE)?;
    if found.frozen {
        return Err(Status::ERROR_FROZEN_EXECUTABLE);
    }
    found.frozen = true;
    Ok(())
}

/// `hsa_executable_destroy`. Nothing of it may be in use.
pub(crate) fn destroy_executable(executable: ExecutableHandle) -> Answer {
    let runtime = runtime()?;
    let mut book = runtime.code.write();
    let found = book.executables.remove(&executable.0);
    let found = found.ok_or(Status::ERROR_INVALID_EXECUTABLE)?;
    book.symbols.retain(|_, symbol| symbol.executable != executable.0);
    for object in &found.objects {
        for kernel in object.loaded.kernels() {
            book.kernels.remove(&kernel.descriptor_address);
        }
        object.loaded.unload(runtime.memory.space()).map_err(|error| status_of(&error))?;
    }
    Ok(())
}

/// `hsa_executable_get_symbol_by_name`.
///
/// # Safety
///
/// `name` is null or a C string; `agent` is null or points at a handle; `out` is null or has
/// room for a handle.
pub(crate) unsafe fn symbol_by_name(
    executable: ExecutableHandle,
    name: *const c_char,
    agent: *const AgentHandle,
    out: *mut SymbolHandle,
) -> Answer {
    let runtime = runtime()?;
    if name.is_null() || out.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_str();
    let name = name.map_err(|_| Status::ERROR_INVALID_SYMBOL_NAME)?;
    if agent.is_null() {
        // Symbols of the whole program, which AMD's code objects do not have.
        return Err(Status::ERROR_INVALID_SYMBOL_NAME);
    }
    // SAFETY: the caller's promise.
    let gpu = runtime.names.gpu(unsafe { agent.read_unaligned() })?;
    let mut book = runtime.code.write();
    let found = book.executables.get(&executable.0).ok_or(Status::ERROR_INVALID_EXECUTABLE)?;
    let key = (gpu, name.to_owned());
    let handle = match found.symbols.get(&key) {
        Some(handle) => *handle,
        None => {
            let mut objects = found.objects.iter().filter(|object| object.gpu == gpu);
            let what = objects
                .find_map(|object| object.symbol(name))
                .ok_or(Status::ERROR_INVALID_SYMBOL_NAME)?;
            let handle = runtime.code.next_handle(&mut book);
            let symbol = Symbol { executable: executable.0, gpu, name: name.to_owned(), what };
            book.symbols.insert(handle, symbol);
            if let Some(executable) = book.executables.get_mut(&executable.0) {
                executable.symbols.insert(key, handle);
            }
            handle
        }
    };
    // SAFETY: the caller's promise.
    unsafe { put(out, SymbolHandle(handle)) }
}

impl Object {
    fn symbol(&self, name: &str) -> Option<What> {
        match name.strip_suffix(".kd") {
            Some(kernel) => self.loaded.kernel(kernel).cloned().map(What::Kernel),
            None => self.loaded.variable(name).map(What::Variable),
        }
    }

    fn offset(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.loaded.base()).filter(|offset| *offset < self.bytes)
    }
}

/// `hsa_executable_symbol_get_info`.
///
/// # Safety
///
/// `value` is null or has room for the attribute.
pub(crate) unsafe fn symbol_info(
    symbol: SymbolHandle,
    attribute: u32,
    value: *mut c_void,
) -> Answer {
    const TYPE: u32 = 0;
    const NAME_LENGTH: u32 = 1;
    const NAME: u32 = 2;
    const AGENT: u32 = 20;
    let runtime = runtime()?;
    let found = runtime.code.read().symbols.get(&symbol.0).cloned();
    let found = found.ok_or(Status::ERROR_INVALID_EXECUTABLE_SYMBOL)?;
    match (attribute, &found.what) {
        // SAFETY: the caller's promise; HSA_SYMBOL_KIND_KERNEL.
        (TYPE, What::Kernel(_)) => unsafe { put(value.cast(), 1u32) },
        // SAFETY: the caller's promise; HSA_SYMBOL_KIND_VARIABLE.
        (TYPE, What::Variable(_)) => unsafe { put(value.cast(), 0u32) },
        // SAFETY: the caller's promise.
        (NAME_LENGTH, _) => unsafe { put(value.cast(), found.name.len() as u32) },
        // SAFETY: the caller's promise; the name has no NUL here.
        (NAME, _) => unsafe { crate::agent::put_bytes(value, found.name.as_bytes()) },
        (AGENT, _) => {
            let agent = runtime.names.agent_handle(crate::agent::Agent::Gpu(found.gpu))?;
            // SAFETY: the caller's promise.
            unsafe { put(value.cast(), agent) }
        }
        // SAFETY: the caller's promise is the same.
        (other, What::Kernel(kernel)) => unsafe { kernel_info(kernel, other, value) },
        // SAFETY: the caller's promise is the same.
        (other, What::Variable(variable)) => unsafe { variable_info(*variable, other, value) },
    }
}

/// # Safety
///
/// As for [`symbol_info`].
unsafe fn kernel_info(kernel: &LoadedKernel, attribute: u32, value: *mut c_void) -> Answer {
    const OBJECT: u32 = 22;
    const KERNARG_BYTES: u32 = 11;
    const KERNARG_ALIGN: u32 = 12;
    const GROUP_BYTES: u32 = 13;
    const PRIVATE_BYTES: u32 = 14;
    const DYNAMIC_STACK: u32 = 15;
    let descriptor = kernel.kernel.descriptor();
    let word = match attribute {
        // SAFETY: the caller's promise.
        OBJECT => return unsafe { put(value.cast(), kernel.descriptor_address) },
        // SAFETY: the caller's promise.
        DYNAMIC_STACK => return unsafe { put(value.cast(), kernel.metadata.dynamic_stack) },
        KERNARG_BYTES => descriptor.kernarg_size,
        KERNARG_ALIGN => kernel.metadata.kernarg_align,
        GROUP_BYTES => descriptor.group_segment_fixed_size,
        PRIVATE_BYTES => descriptor.private_segment_fixed_size,
        other => return Err(unknown("hsa_executable_symbol_get_info of a kernel", other)),
    };
    // SAFETY: the caller's promise.
    unsafe { put(value.cast(), word) }
}

/// # Safety
///
/// As for [`symbol_info`].
unsafe fn variable_info(variable: Variable, attribute: u32, value: *mut c_void) -> Answer {
    const ADDRESS: u32 = 21;
    const BYTES: u32 = 9;
    const IS_CONST: u32 = 10;
    match attribute {
        // SAFETY: the caller's promise.
        ADDRESS => unsafe { put(value.cast(), variable.address) },
        // SAFETY: the caller's promise; 32 bits, although HIP offers room for 64.
        BYTES => unsafe { put(value.cast(), variable.bytes as u32) },
        // SAFETY: the caller's promise.
        IS_CONST => unsafe { put(value.cast(), false) },
        other => Err(unknown("hsa_executable_symbol_get_info of a variable", other)),
    }
}

/// The object that a device address lies in: its executable, its ELF file, and the offset.
fn locate(address: u64) -> Answer<(u64, Arc<[u8]>, u64)> {
    let book = runtime()?.code.read();
    let mut all = book.executables.iter().flat_map(|(handle, executable)| {
        executable.objects.iter().map(move |object| (*handle, object))
    });
    all.find_map(|(handle, object)| {
        Some((handle, Arc::clone(&object.elf), object.offset(address)?))
    })
    .ok_or(Status::ERROR_INVALID_ARGUMENT)
}

/// `hsa_ven_amd_loader_query_host_address`: where the file, as loaded, has what is at a device
/// address. The pointer is good while the executable lives.
///
/// # Safety
///
/// `out` is null or has room for a pointer.
pub(crate) unsafe extern "C" fn query_host_address(
    address: *const c_void,
    out: *mut *const c_void,
) -> Status {
    crate::exports::guarded("hsa_ven_amd_loader_query_host_address", || {
        let (_, elf, offset) = locate(address.addr() as u64)?;
        let object = CodeObject::parse(&elf).map_err(|_| Status::ERROR_INVALID_CODE_OBJECT)?;
        let byte = object.bytes_at(offset, 1).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        // SAFETY: the caller's promise.
        unsafe { put(out, byte.as_ptr().cast()) }
    })
}

/// `hsa_ven_amd_loader_query_executable`.
///
/// # Safety
///
/// `out` is null or has room for a handle.
pub(crate) unsafe extern "C" fn query_executable(
    address: *const c_void,
    out: *mut ExecutableHandle,
) -> Status {
    crate::exports::guarded("hsa_ven_amd_loader_query_executable", || {
        let (handle, ..) = locate(address.addr() as u64)?;
        // SAFETY: the caller's promise.
        unsafe { put(out, ExecutableHandle(handle)) }
    })
}

/// `hsa_ven_amd_loader_query_segment_descriptors`, which debuggers call.
///
/// # Safety
///
/// Takes and gives nothing.
pub(crate) unsafe extern "C" fn query_segment_descriptors(
    _descriptors: *mut c_void,
    _count: *mut usize,
) -> Status {
    static SAID: AtomicBool = AtomicBool::new(false);
    let name = "hsa_ven_amd_loader_query_segment_descriptors";
    crate::exports::guarded(name, || {
        crate::image::unsupported(&SAID, name, Status::ERROR_INVALID_ARGUMENT)
    })
}
