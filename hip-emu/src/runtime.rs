//! The process-wide state: devices, the address space, and every live object.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use gfx_emu::memory::{self, AddressSpace, MemoryError};
use hrr_ffi::types::*;

use crate::abi::by_version;
use crate::allocations::{Allocation, Allocations, Kind};
use crate::api::Answer;
use crate::config::Config;
use crate::events::Event;
use crate::functions::context::Context;
use crate::functions::pool::Pool;
use crate::functions::virtual_memory::Physical;
use crate::graphs::{Capture, Graph, GraphExec};
use crate::handles::{HandleSource, Handles};
use crate::modules::{Function, Module, Registry};
use crate::streams::{self, Stream, lock};
use crate::thread;

/// Memory that a device says it has: that of an MI210.
pub(crate) const DEVICE_BYTES: u64 = 64 << 30;
/// `ROCm` gives device memory in this alignment at least.
const ALLOCATION_ALIGN: u64 = 4096;
/// Size of the books of device `malloc` (`ROCclr` gives that much to ockl's `heap_t`).
const HEAP_BYTES: u64 = 128 << 10;

/// Everything there is.
pub(crate) struct Runtime {
    pub(crate) config: Config,
    pub(crate) space: AddressSpace,
    pub(crate) handles: HandleSource,
    pub(crate) allocations: Allocations,
    pub(crate) streams: Handles<Stream>,
    pub(crate) events: Handles<Event>,
    pub(crate) modules: Handles<Module>,
    pub(crate) functions: Handles<Function>,
    pub(crate) graphs: Handles<Graph>,
    /// The graph that each node is in, by the node's handle.
    pub(crate) nodes: Handles<Graph>,
    pub(crate) execs: Handles<GraphExec>,
    pub(crate) pools: Handles<Pool>,
    pub(crate) contexts: Handles<Context>,
    pub(crate) physical: Handles<Physical>,
    pub(crate) captures: Mutex<Vec<Weak<Capture>>>,
    devices: Vec<Device>,
    next_id: AtomicU64,
}

/// One emulated GPU.
pub(crate) struct Device {
    id: usize,
    null: OnceLock<Arc<Stream>>,
    streams: Mutex<Vec<Weak<Stream>>>,
    order: Mutex<()>,
    /// The first fault of a kernel, which every later call answers.
    fault: AtomicU32,
    used: AtomicU64,
    /// What device `malloc` of code objects of version 5 keeps its books in.
    heap: OnceLock<Answer<u64>>,
    /// Bit n: peer access to device n is on.
    pub(crate) peers: AtomicU32,
    pub(crate) settings: Mutex<Settings>,
}

/// What programs set and get, mostly without effect on the emulation.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) flags: u32,
    pub(crate) cache: u32,
    pub(crate) shared: u32,
    pub(crate) stack_bytes: usize,
    pub(crate) printf_bytes: usize,
    pub(crate) heap_bytes: usize,
    /// The handle of the pool that stream-ordered allocations are from, if it was set.
    pub(crate) pool: Option<usize>,
}

static RUNTIME: OnceLock<Answer<&'static Runtime>> = OnceLock::new();

/// The state, made at the first call that needs it. A process that was forked from one that had
/// it gets an error: the device's memory and the workers stayed with the parent.
pub(crate) fn runtime() -> Answer<&'static Runtime> {
    let runtime = (*RUNTIME.get_or_init(Runtime::start))?;
    if runtime.space.is_ours() { Ok(runtime) } else { Err(hipErrorNotInitialized) }
}

/// The state and the calling thread's device, if the device works.
pub(crate) fn current() -> Answer<(&'static Runtime, &'static Device)> {
    let runtime = runtime()?;
    let device = runtime.device(thread::device())?;
    device.check()?;
    Ok((runtime, device))
}

/// What `HIP_EMU_LOG` says, without making the state.
pub(crate) fn log_level() -> u32 {
    match RUNTIME.get() {
        Some(Ok(runtime)) => runtime.config.log,
        Some(Err(_)) | None => 0,
    }
}

impl Runtime {
    fn start() -> Answer<&'static Self> {
        let config = Config::from_environment();
        let layout = memory::Config { seed: config.seed, ..memory::Config::default() };
        let space = AddressSpace::with_arena(layout).map_err(|error| {
            eprintln!("hip-emu: {error}");
            hipErrorOutOfMemory
        })?;
        let devices = (0..config.gpus).map(Device::new).collect();
        Ok(Box::leak(Box::new(Self {
            handles: HandleSource::new(config.seed),
            config,
            space,
            allocations: Allocations::default(),
            streams: Handles::default(),
            events: Handles::default(),
            modules: Handles::default(),
            functions: Handles::default(),
            graphs: Handles::default(),
            nodes: Handles::default(),
            execs: Handles::default(),
            pools: Handles::default(),
            contexts: Handles::default(),
            physical: Handles::default(),
            captures: Mutex::default(),
            devices,
            next_id: AtomicU64::new(1),
        })))
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn device_count(&self) -> usize {
        self.devices.len()
    }

    pub(crate) fn device(&self, id: usize) -> Answer<&Device> {
        let none = if self.devices.is_empty() { hipErrorNoDevice } else { hipErrorInvalidDevice };
        self.devices.get(id).ok_or(none)
    }

    /// The device of a number that a program gave.
    pub(crate) fn device_of(&self, ordinal: i32) -> Answer<&Device> {
        self.device(usize::try_from(ordinal).map_err(|_| hipErrorInvalidDevice)?)
    }

    /// The stream of a handle: 0 and 1 are the null stream of the thread's device, 2 the
    /// thread's own stream.
    pub(crate) fn stream(&'static self, handle: hipStream_t) -> Answer<Arc<Stream>> {
        match handle.0.addr() {
            0 | 1 => self.device(thread::device())?.null_stream(self),
            2 => self.thread_stream(),
            _other => self.streams.get(handle.0).ok_or(no_stream()),
        }
    }

    fn thread_stream(&'static self) -> Answer<Arc<Stream>> {
        let device = thread::device();
        if let Some(stream) = thread::stream(device) {
            return Ok(stream);
        }
        let stream =
            Stream::new(self, device, streams::Ordering::Blocking, hipStreamDefault, 0, None)?;
        thread::set_stream(device, Arc::clone(&stream));
        Ok(stream)
    }

    pub(crate) fn event(&self, handle: hipEvent_t) -> Answer<Arc<Event>> {
        self.events.get(handle.0).ok_or(hipErrorInvalidHandle)
    }

    /// Allocates device memory and enters it in the table.
    pub(crate) fn allocate(&self, device: &Device, bytes: u64, kind: Kind) -> Answer<u64> {
        self.allocate_aligned(device, bytes, ALLOCATION_ALIGN, kind)
    }

    /// As [`Runtime::allocate`], at a multiple of `align`.
    pub(crate) fn allocate_aligned(
        &self,
        device: &Device,
        bytes: u64,
        align: u64,
        kind: Kind,
    ) -> Answer<u64> {
        device.charge(bytes)?;
        let base = self.space.alloc(bytes, align).map_err(|error| {
            device.refund(bytes);
            memory_error(&error)
        })?;
        let device = device.id;
        self.allocations.insert(Allocation { base, bytes, kind, device, flags: 0 });
        Ok(base)
    }

    /// Frees device memory that no work uses any more.
    pub(crate) fn release(&self, allocation: &Allocation) -> Answer {
        self.allocations.remove(allocation.base);
        if let Ok(device) = self.device(allocation.device) {
            device.refund(allocation.bytes);
        }
        self.space.free(allocation.base).map_err(|error| memory_error(&error))
    }

    /// The captures that go on.
    pub(crate) fn active_captures(&self) -> Vec<Arc<Capture>> {
        let mut captures = lock(&self.captures);
        captures.retain(|capture| capture.upgrade().is_some_and(|c| !c.has_ended()));
        captures.iter().filter_map(Weak::upgrade).collect()
    }

    /// Refuses a call that would synchronise, or that cannot be part of a graph, while a capture
    /// forbids it: any capture in the global mode, those of this thread in the thread-local one,
    /// none in the relaxed one. A refused call invalidates the captures it would have broken.
    pub(crate) fn check_no_capture(&self) -> Answer {
        let mode = thread::capture_mode();
        if mode == hipStreamCaptureModeRelaxed {
            return Ok(());
        }
        let this_thread = std::thread::current().id();
        let forbidding = |capture: &Arc<Capture>| {
            capture.mode != hipStreamCaptureModeRelaxed
                && (capture.thread == this_thread
                    || (mode == hipStreamCaptureModeGlobal
                        && capture.mode == hipStreamCaptureModeGlobal))
        };
        let broken: Vec<_> = self.active_captures().into_iter().filter(forbidding).collect();
        // HIP 5 refuses the call and lets the capture go on.
        if crate::abi::major() > 5 {
            broken.iter().for_each(|capture| capture.invalidate());
        }
        if broken.is_empty() { Ok(()) } else { Err(hipErrorStreamCaptureUnsupported) }
    }
}

/// What a stream that does not exist, or no more, is.
pub(crate) fn no_stream() -> hipError_t {
    by_version(hipErrorContextIsDestroyed, hipErrorInvalidHandle)
}

impl Device {
    fn new(id: usize) -> Self {
        Self {
            id,
            null: OnceLock::new(),
            streams: Mutex::default(),
            order: Mutex::default(),
            fault: AtomicU32::new(0),
            used: AtomicU64::new(0),
            heap: OnceLock::new(),
            peers: AtomicU32::new(0),
            settings: Mutex::new(Settings {
                flags: 0,
                cache: 0,
                shared: hipSharedMemBankSizeFourByte.0,
                stack_bytes: 1024,
                printf_bytes: 4 << 20,
                heap_bytes: 4 << 20,
                pool: None,
            }),
        }
    }

    pub(crate) fn id(&self) -> usize {
        self.id
    }

    /// The sticky fault, if a kernel has left one.
    pub(crate) fn check(&self) -> Answer {
        match self.fault.load(Ordering::Acquire) {
            0 => Ok(()),
            fault => Err(hipError_t(fault)),
        }
    }

    /// Leaves a fault; the first one stays.
    pub(crate) fn set_fault(&self, error: hipError_t) {
        // Only the first store counts, and what lost the race is a later fault.
        let _later = self.fault.compare_exchange(0, error.0, Ordering::AcqRel, Ordering::Acquire);
    }

    pub(crate) fn clear_fault(&self) {
        self.fault.store(0, Ordering::Release);
    }

    /// Held while work is submitted, so that its order is that of the calls.
    pub(crate) fn order(&self) -> MutexGuard<'_, ()> {
        lock(&self.order)
    }

    pub(crate) fn null_stream(&self, runtime: &'static Runtime) -> Answer<Arc<Stream>> {
        if let Some(stream) = self.null.get() {
            return Ok(Arc::clone(stream));
        }
        let stream =
            Stream::new(runtime, self.id, streams::Ordering::Null, hipStreamDefault, 0, None)?;
        Ok(Arc::clone(self.null.get_or_init(|| stream)))
    }

    pub(crate) fn existing_null_stream(&self) -> Option<&Arc<Stream>> {
        self.null.get()
    }

    pub(crate) fn add_stream(&self, stream: &Arc<Stream>) {
        let mut streams = lock(&self.streams);
        streams.retain(|stream| stream.strong_count() != 0);
        streams.push(Arc::downgrade(stream));
    }

    /// The streams that are alive.
    pub(crate) fn streams(&self) -> Vec<Arc<Stream>> {
        lock(&self.streams).iter().filter_map(Weak::upgrade).collect()
    }

    /// Waits until all work of the device so far has ended, even if it has faulted.
    pub(crate) fn drain(&self) {
        let tails: Vec<_> = {
            let _order = self.order();
            self.streams().iter().map(|stream| stream.tail()).collect()
        };
        tails.iter().for_each(gfx_emu::queue::Signal::wait);
    }

    /// Waits until all work of the device so far has ended.
    pub(crate) fn synchronize(&self) -> Answer {
        self.drain();
        self.check()
    }

    /// The books of device `malloc`. Zeroes are what it begins with.
    pub(crate) fn heap(&self, runtime: &Runtime) -> Answer<u64> {
        *self.heap.get_or_init(|| runtime.allocate(self, HEAP_BYTES, Kind::Heap))
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn charge(&self, bytes: u64) -> Answer {
        let add = |used: u64| used.checked_add(bytes).filter(|&total| total <= DEVICE_BYTES);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add) {
            Ok(_before) => Ok(()),
            Err(_full) => Err(hipErrorOutOfMemory),
        }
    }

    pub(crate) fn refund(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The registry of what the program's own code registered, which exists before the state does.
pub(crate) fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(Registry::default)
}

/// What HIP says when memory fails.
pub(crate) fn memory_error(error: &MemoryError) -> hipError_t {
    match error {
        MemoryError::OutOfMemory { .. } | MemoryError::Os(_) => hipErrorOutOfMemory,
        MemoryError::Forked => hipErrorNotInitialized,
        MemoryError::InvalidRange { .. }
        | MemoryError::Occupied { .. }
        | MemoryError::Unmapped { .. }
        | MemoryError::Denied { .. }
        | MemoryError::NotAStart { .. }
        | MemoryError::StillMapped { .. }
        | MemoryError::NoSuchPhysical { .. } => hipErrorInvalidValue,
    }
}
