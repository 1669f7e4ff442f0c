//! `HSA_EMU_CALLS`: a file with one line per call of the API and per packet of a queue.
//!
//! A line has five fields with a tab between them: process, thread, the thread's name, what was
//! called, and where the call came from. Addresses and handles are written as the how manieth of
//! their kind they are, so that the lines of two runs can be compared. Where a call came from is
//! the stack, innermost first and without this library: file, offset in it, and the offset where
//! the function begins.
//!
//! Off, each call costs one load.

use std::collections::HashMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::abi::{
    AgentHandle, Dim3, ExecutableHandle, HsaQueue, ImageHandle, IpcMemory, IsaHandle, LoadedHandle,
    PitchedPtr, PointerInfo, PoolHandle, ProfilingTime, ReaderHandle, SamplerHandle, SignalHandle,
    Status, SvmPair, SymbolHandle,
};
use crate::memory::FoundKind;
use crate::runtime::runtime;

static ON: AtomicBool = AtomicBool::new(false);
static TRACE: Mutex<Option<Trace>> = Mutex::new(None);

/// The open file, and what addresses and handles are called in it.
struct Trace {
    file: File,
    book: Book,
}

/// Names of addresses and handles.
#[derive(Default)]
pub(crate) struct Book {
    names: HashMap<u64, String>,
    counts: HashMap<&'static str, u64>,
}

/// Begins to write to a file, behind what is there: several processes may share it.
pub(crate) fn start(path: &Path) -> Result<(), String> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.map_err(|error| format!("HSA_EMU_CALLS={}: {error}", path.display()))?;
    let trace = Trace { file, book: Book::default() };
    *TRACE.lock().unwrap_or_else(PoisonError::into_inner) = Some(trace);
    ON.store(true, Ordering::Release);
    Ok(())
}

/// Whether calls are written.
pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Acquire)
}

/// A call that has begun: its arguments as they were, since the call may end what they name.
pub(crate) struct Begun(Option<String>);

/// Takes the arguments of a call that begins.
///
/// # Safety
///
/// Each argument keeps the promises of the C function that it was passed to.
pub(crate) unsafe fn begin(arguments: &[&dyn Argument]) -> Begun {
    if !is_on() {
        return Begun(None);
    }
    let mut trace = TRACE.lock().unwrap_or_else(PoisonError::into_inner);
    Begun(trace.as_mut().map(|trace| {
        // SAFETY: the caller's promise.
        let all = arguments.iter().map(|one| unsafe { one.before(&mut trace.book) });
        all.collect::<Vec<_>>().join(", ")
    }))
}

/// What a call answered, as the trace has it.
pub(crate) trait Answered {
    /// Whether what it gives was written.
    fn gave(&self) -> bool;
    /// The value.
    fn text(&self) -> String;
}

impl Answered for Result<(), Status> {
    fn gave(&self) -> bool {
        self.is_ok()
    }

    fn text(&self) -> String {
        format!("{:#x}", self.err().unwrap_or(Status::SUCCESS).0)
    }
}

macro_rules! answered {
    ($($type:ty: $text:expr;)*) => {
        $(impl Answered for $type {
            fn gave(&self) -> bool {
                true
            }

            fn text(&self) -> String {
                let text: fn(&$type) -> String = $text;
                text(self)
            }
        })*
    };
}

answered! {
    (): |()| String::new();
    u64: u64::to_string;
    i64: i64::to_string;
}

/// Writes the line of a call that has ended.
///
/// # Safety
///
/// As for [`begin`]; the call answered `answer` and wrote what it says that it gives.
pub(crate) unsafe fn end(
    name: &str,
    begun: Begun,
    arguments: &[&dyn Argument],
    answer: &dyn Answered,
) {
    let before = match begun.0 {
        Some(before) => before,
        // The trace begins within the first call, `hsa_init`, which has no arguments.
        None if is_on() && arguments.is_empty() => String::new(),
        None => return,
    };
    let frames = frames();
    let mut trace = TRACE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(trace) = trace.as_mut() else { return };
    let mut call = format!("{name}({before}) = {}", answer.text());
    if answer.gave() {
        for argument in arguments {
            // SAFETY: the caller's promise.
            if let Some(given) = unsafe { argument.after(&mut trace.book) } {
                call.push(' ');
                call.push_str(&given);
            }
        }
    }
    trace.line(&call, &frames);
}

/// Writes the line of a packet that a queue has come to.
pub(crate) fn packet(queue: u64, what: impl FnOnce(&Book) -> String) {
    if !is_on() {
        return;
    }
    let mut trace = TRACE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(trace) = trace.as_mut() else { return };
    let queue = trace.book.handle("queue", queue);
    let call = format!("packet {queue} {}", what(&trace.book));
    trace.line(&call, "");
}

impl Trace {
    fn line(&mut self, call: &str, frames: &str) {
        let process = rustix::process::getpid().as_raw_nonzero();
        let thread = rustix::thread::gettid().as_raw_nonzero();
        let name = rustix::thread::name();
        let name = name.as_deref().map(CStr::to_string_lossy).unwrap_or_default();
        let line = format!("{process}\t{thread}\t{name}\t{call}\t{frames}\n");
        // A full disk costs the trace its end, and the program nothing.
        let _ = self.file.write_all(line.as_bytes());
    }
}

impl Book {
    /// Names what was created just now; whatever had that value before has ended.
    fn fresh(&mut self, kind: &'static str, value: u64) -> String {
        let count = self.counts.entry(kind).or_default();
        let name = format!("{kind}#{count}");
        *count += 1;
        self.names.insert(value, name.clone());
        name
    }

    /// What a handle is called.
    pub(crate) fn handle(&self, kind: &str, value: u64) -> String {
        match (value, self.names.get(&value)) {
            (0, _) => "none".to_owned(),
            (_, Some(name)) => name.clone(),
            (_, None) => format!("{kind}?"),
        }
    }

    /// A handle of what nobody creates: it has its name from when it is first seen.
    fn standing(&mut self, kind: &'static str, value: u64) -> String {
        if value != 0 && !self.names.contains_key(&value) {
            return self.fresh(kind, value);
        }
        self.handle(kind, value)
    }

    /// What an address points into. Memory of the program has no name: where it lies differs
    /// between any two runs, and so does whether two pieces of it lie at one place.
    fn address(&self, address: u64) -> String {
        if address == 0 {
            return "null".to_owned();
        }
        let found = runtime().ok().and_then(|runtime| runtime.memory.find(address));
        let Some(found) = found else { return "host".to_owned() };
        let offset = address.wrapping_sub(found.agent_base);
        let offset = if offset < found.bytes { offset } else { address - found.host_base };
        let name = self.names.get(&found.agent_base).map_or("memory?", String::as_str);
        if offset == 0 { name.to_owned() } else { format!("{name}+{offset}") }
    }
}

/// An argument of a call.
pub(crate) trait Argument {
    /// The argument, before the call.
    ///
    /// # Safety
    ///
    /// A pointer to what the function reads is null or leads to it.
    unsafe fn before(&self, book: &mut Book) -> String;

    /// What the call gave through it, once it succeeded.
    ///
    /// # Safety
    ///
    /// A pointer to what the function writes is null or leads to what it wrote.
    unsafe fn after(&self, _book: &mut Book) -> Option<String> {
        None
    }
}

/// Declares arguments whose text is all that there is.
macro_rules! plain {
    ($($type:ty: |$value:ident, $book:ident| $text:expr;)*) => {
        $(impl Argument for $type {
            unsafe fn before(&self, $book: &mut Book) -> String {
                let $value = *self;
                $text
            }
        })*
    };
}

plain! {
    u16: |value, _book| value.to_string();
    u32: |value, _book| value.to_string();
    u64: |value, _book| value.to_string();
    i32: |value, _book| value.to_string();
    i64: |value, _book| value.to_string();
    usize: |value, _book| value.to_string();
    bool: |value, _book| value.to_string();
    Status: |value, _book| format!("{:#x}", value.0);
    AgentHandle: |value, book| book.standing("agent", value.0);
    PoolHandle: |value, book| book.standing("pool", value.0);
    IsaHandle: |value, book| book.standing("isa", value.0);
    SignalHandle: |value, book| book.handle("signal", value.0);
    ReaderHandle: |value, book| book.handle("reader", value.0);
    ExecutableHandle: |value, book| book.handle("executable", value.0);
    SymbolHandle: |value, book| book.handle("symbol", value.0);
    ImageHandle: |value, book| book.handle("image", value.0);
    SamplerHandle: |value, book| book.handle("sampler", value.0);
    *const HsaQueue: |value, book| book.handle("queue", value.addr() as u64);
    *mut HsaQueue: |value, book| book.handle("queue", value.addr() as u64);
    *const c_void: |value, book| book.address(value.addr() as u64);
    *mut c_void: |value, book| book.address(value.addr() as u64);
}

/// Declares pointers of which it only matters whether they are null.
macro_rules! opaque {
    ($($type:ty),* $(,)?) => {
        $(impl Argument for $type {
            unsafe fn before(&self, _book: &mut Book) -> String {
                if self.is_null() { "null".to_owned() } else { "host".to_owned() }
            }
        })*
    };
}

opaque!(
    *const u32,
    *mut u32,
    *mut bool,
    *mut usize,
    *const AgentHandle,
    *mut AgentHandle,
    *mut *mut AgentHandle,
    *const SignalHandle,
    *mut ImageHandle,
    *mut SamplerHandle,
    *mut LoadedHandle,
    *mut ProfilingTime,
    *mut PointerInfo,
    *mut SvmPair,
    *const SvmPair,
    *mut IpcMemory,
    *const IpcMemory,
    *mut *mut i64,
    *mut *const c_void,
    *mut *const c_char,
);

impl<T> Argument for Option<T> {
    unsafe fn before(&self, _book: &mut Book) -> String {
        if self.is_some() { "function".to_owned() } else { "null".to_owned() }
    }
}

/// Declares pointers through which a call gives something new.
macro_rules! gives {
    ($($type:ty: $kind:literal, |$value:ident| $word:expr;)*) => {
        $(impl Argument for *mut $type {
            unsafe fn before(&self, _book: &mut Book) -> String {
                "out".to_owned()
            }

            unsafe fn after(&self, book: &mut Book) -> Option<String> {
                if self.is_null() {
                    return None;
                }
                // SAFETY: the caller's promise: it is not null, so the call wrote there.
                let $value = unsafe { self.read_unaligned() };
                Some(book.fresh($kind, $word))
            }
        })*
    };
}

gives! {
    SignalHandle: "signal", |value| value.0;
    ReaderHandle: "reader", |value| value.0;
    ExecutableHandle: "executable", |value| value.0;
    SymbolHandle: "symbol", |value| value.0;
    *mut HsaQueue: "queue", |value| value.addr() as u64;
}

impl Argument for *mut *mut c_void {
    unsafe fn before(&self, _book: &mut Book) -> String {
        "out".to_owned()
    }

    unsafe fn after(&self, book: &mut Book) -> Option<String> {
        if self.is_null() {
            return None;
        }
        // SAFETY: the caller's promise: it is not null, so the call wrote there.
        let address = unsafe { self.read_unaligned() }.addr() as u64;
        let found = runtime().ok().and_then(|runtime| runtime.memory.find(address));
        let is_locked = found.is_some_and(|found| found.kind == FoundKind::Locked);
        Some(book.fresh(if is_locked { "locked" } else { "memory" }, address))
    }
}

impl Argument for *const c_char {
    unsafe fn before(&self, _book: &mut Book) -> String {
        if self.is_null() {
            return "null".to_owned();
        }
        // SAFETY: the caller's promise: not null, so it is a C string.
        format!("{:?}", unsafe { CStr::from_ptr(*self) }.to_string_lossy())
    }
}

impl Argument for *const Dim3 {
    unsafe fn before(&self, _book: &mut Book) -> String {
        // SAFETY: the caller's promise.
        let value = unsafe { self.as_ref() };
        value.map_or_else(|| "null".to_owned(), |dim| format!("{}x{}x{}", dim.x, dim.y, dim.z))
    }
}

impl Argument for *const PitchedPtr {
    unsafe fn before(&self, book: &mut Book) -> String {
        // SAFETY: the caller's promise.
        let value = unsafe { self.as_ref() };
        value.map_or_else(
            || "null".to_owned(),
            |to| {
                let base = book.address(to.base.addr() as u64);
                format!("{base} pitch {} slice {}", to.pitch, to.slice)
            },
        )
    }
}

/// Most frames that are written.
const FRAMES_MAX: usize = 64;

/// The opaque state of libgcc's unwinder, which Rust's own panics use too.
#[repr(C)]
struct Context {
    _opaque: [u8; 0],
}

type Each = extern "C" fn(*mut Context, *mut c_void) -> c_int;

unsafe extern "C" {
    // The Itanium C++ ABI for exception handling, level I, as libgcc_s has it.
    fn _Unwind_Backtrace(each: Each, data: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetRegionStart(context: *mut Context) -> usize;
}

/// The stack above this library.
fn frames() -> String {
    const GO_ON: c_int = 0;
    const STOP: c_int = 4;
    extern "C" fn each(context: *mut Context, data: *mut c_void) -> c_int {
        // SAFETY: the pointer that was passed below, to a list that nobody else uses meanwhile.
        let found = unsafe { &mut *data.cast::<Vec<(usize, usize)>>() };
        // SAFETY: the unwinder passes its state, which is good during this call.
        found.push(unsafe { (_Unwind_GetIP(context), _Unwind_GetRegionStart(context)) });
        if found.len() < FRAMES_MAX { GO_ON } else { STOP }
    }
    let mut found: Vec<(usize, usize)> = Vec::with_capacity(FRAMES_MAX);
    // SAFETY: the callback has the type that the function asks for, and expects this list.
    unsafe { _Unwind_Backtrace(each, ptr::from_mut(&mut found).cast()) };
    let own = file_of(frames as fn() -> String as usize).map(|(_, base)| base);
    let mut text = String::new();
    let mut is_inside = true;
    for (at, function) in found {
        let file = file_of(at);
        is_inside = is_inside && file.is_some_and(|(_, base)| Some(base) == own);
        if is_inside {
            continue;
        }
        let space = if text.is_empty() { "" } else { " " };
        let _ = match file {
            Some((name, base)) => write!(
                text,
                "{space}{}+{:#x}@{:#x}",
                name.display(),
                at.wrapping_sub(base),
                function.wrapping_sub(base)
            ),
            None => write!(text, "{space}?"),
        };
    }
    text
}

/// The file that was mapped at an address, without its folder, and where it begins.
fn file_of(address: usize) -> Option<(&'static Path, usize)> {
    // SAFETY: all-zero is a value of this structure, which dladdr overwrites.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for; the structure is of this frame.
    let known = unsafe { libc::dladdr(ptr::without_provenance(address), &raw mut info) };
    if known == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the linker's own name of a library, which stays as long as the library; what is on
    // the stack is not unloaded, and the name is used at once.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    let name = Path::new(OsStr::from_bytes(name.to_bytes())).file_name()?;
    Some((Path::new(name), info.dli_fbase.addr()))
}
