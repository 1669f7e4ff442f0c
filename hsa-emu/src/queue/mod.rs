//! User queues: rings of packets in memory that the program writes and a worker of ours reads.
//!
//! `packet` knows the layout of packets, `worker` what they ask for. This module owns the
//! structure that program and kernels see (`amd_queue_t`), creation and destruction.

mod packet;
mod worker;

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use gfx_emu::memory::PAGE_BYTES;

use crate::abi::{
    AgentHandle, Answer, HsaQueue, QUEUE_FEATURE_KERNEL_DISPATCH, QUEUE_TYPE_COOPERATIVE,
    QueueCallback, SignalHandle, Status, put,
};
use crate::agent::compute_units;
use crate::memory::{map_host, unmap_host};
use crate::runtime::{Runtime, runtime};
use crate::signal::Signal;
use crate::{log, thread};

/// Most packets of a queue.
pub(crate) const SIZE_MAX: u32 = 131_072;
const PACKET_BYTES: u64 = 64;

/// The windows of the flat address space that mean LDS and scratch, as gfx-emu has them:
/// kernels for gfx906 read them from the queue.
const GROUP_APERTURE_HI: u32 = 0x0001_0000;
const PRIVATE_APERTURE_HI: u32 = 0x0002_0000;

/// `AMD_QUEUE_PROPERTIES_IS_PTR64` and `_ENABLE_PROFILING`.
const PROPERTIES: u32 = 1 << 1 | 1 << 3;

/// `amd_queue_t`.
#[repr(C, align(64))]
struct AmdQueue {
    hsa_queue: HsaQueue,
    reserved1: [u32; 4],
    write_dispatch_id: AtomicU64,
    group_segment_aperture_base_hi: u32,
    private_segment_aperture_base_hi: u32,
    max_cu_id: u32,
    max_wave_id: u32,
    max_legacy_doorbell_dispatch_id_plus_1: u64,
    legacy_doorbell_lock: u32,
    reserved2: [u32; 9],
    read_dispatch_id: AtomicU64,
    read_dispatch_id_field_base_byte_offset: u32,
    compute_tmpring_size: u32,
    scratch_resource_descriptor: [u32; 4],
    scratch_backing_memory_location: u64,
    scratch_backing_memory_byte_size: u64,
    scratch_wave64_lane_byte_size: u32,
    queue_properties: u32,
    reserved3: [u32; 2],
    queue_inactive_signal: SignalHandle,
    reserved4: [u32; 14],
}

const READ_ID_OFFSET: usize = std::mem::offset_of!(AmdQueue, read_dispatch_id);
const _: () = assert!(size_of::<AmdQueue>() == 256);
const _: () = assert!(std::mem::offset_of!(AmdQueue, write_dispatch_id) == 56);
const _: () = assert!(std::mem::offset_of!(AmdQueue, group_segment_aperture_base_hi) == 64);
const _: () = assert!(READ_ID_OFFSET == 128);
const _: () = assert!(std::mem::offset_of!(AmdQueue, queue_inactive_signal) == 192);

/// The queues of the process, by the address of their structure.
#[derive(Default)]
pub(crate) struct Queues {
    live: Mutex<HashMap<u64, Arc<Queue>>>,
}

/// A queue, shared by its worker and whoever destroys it.
struct Queue {
    /// The structure, followed by the ring on pages of its own.
    memory: *mut AmdQueue,
    pages: u64,
    size: u32,
    doorbell: &'static Signal,
    cooperative: bool,
    callback: Option<QueueCallback>,
    data: *mut c_void,
    stop: AtomicBool,
    ended: Mutex<bool>,
    has_ended: Condvar,
}

// SAFETY: the memory is shared with the program by design and only touched through atomics or
// before the queue is published; the callback's data is a word of the program, which promised
// that the callback may be called on any thread.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

impl Queue {
    fn structure(&self) -> &AmdQueue {
        // SAFETY: the memory is mapped and initialised as long as `self` is; what others write
        // are the two counters, which are atomics, and fields that this library never reads.
        unsafe { &*self.memory }
    }

    /// Address of the packet of that number.
    fn slot(&self, number: u64) -> *mut u8 {
        let index = number & u64::from(self.size - 1);
        let ring = self.memory.cast::<u8>().wrapping_add(PAGE_BYTES as usize);
        ring.wrapping_add((index * PACKET_BYTES) as usize)
    }

    /// The first half of the packet's header, which is written last.
    fn header(&self, number: u64) -> &AtomicU16 {
        // SAFETY: the slot lies in the ring, 64-byte aligned; all use of its header is atomic.
        unsafe { AtomicU16::from_ptr(self.slot(number).cast()) }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if let Ok(runtime) = runtime()
            && let Err(error) = runtime.memory.unregister(self.memory.cast())
        {
            log::warn(format_args!("end of a queue: {error}"));
        }
        unmap_host(self.memory.cast(), self.pages);
    }
}

/// `hsa_queue_create`.
///
/// # Safety
///
/// `callback` may be called with `data` on any thread until the queue is destroyed; `out` is
/// null or has room for a pointer.
pub(crate) unsafe fn create(
    agent: AgentHandle,
    size: u32,
    kind: u32,
    callback: Option<QueueCallback>,
    data: *mut c_void,
    out: *mut *mut HsaQueue,
) -> Answer {
    let runtime = runtime()?;
    runtime.names.gpu(agent)?;
    if !size.is_power_of_two() || size > SIZE_MAX || kind > QUEUE_TYPE_COOPERATIVE || out.is_null()
    {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let queue = Arc::new(build(runtime, size, kind, callback, data)?);
    let address = queue.memory;
    let of_worker = Arc::clone(&queue);
    thread::spawn("hsa-queue", move || worker::run(&of_worker)).map_err(|error| {
        log::warn(format_args!("no thread for a queue: {error}"));
        Status::ERROR_OUT_OF_RESOURCES
    })?;
    let mut live = runtime.queues.live.lock().unwrap_or_else(PoisonError::into_inner);
    live.insert(address.addr() as u64, queue);
    // SAFETY: the caller's promise.
    unsafe { put(out, address.cast()) }
}

fn build(
    runtime: &Runtime,
    size: u32,
    kind: u32,
    callback: Option<QueueCallback>,
    data: *mut c_void,
) -> Answer<Queue> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let ring_bytes = (u64::from(size) * PACKET_BYTES).next_multiple_of(PAGE_BYTES);
    let pages = PAGE_BYTES + ring_bytes;
    let doorbell = runtime.signals.create(-1)?;
    let memory = map_host(pages)?;
    // SAFETY: mapped just above; unmapped by `Queue::drop` after it is unregistered.
    if let Err(error) = unsafe { runtime.memory.register(memory, pages) } {
        unmap_host(memory, pages);
        return Err(crate::memory::status_of(&error));
    }
    let structure = AmdQueue {
        hsa_queue: HsaQueue {
            kind,
            features: QUEUE_FEATURE_KERNEL_DISPATCH,
            base_address: memory.wrapping_add(PAGE_BYTES as usize).cast(),
            doorbell_signal: doorbell.handle(),
            size,
            reserved1: 0,
            id: NUMBER.fetch_add(1, Ordering::Relaxed),
        },
        reserved1: [0; 4],
        write_dispatch_id: AtomicU64::new(0),
        group_segment_aperture_base_hi: GROUP_APERTURE_HI,
        private_segment_aperture_base_hi: PRIVATE_APERTURE_HI,
        max_cu_id: compute_units(runtime.settings.target) - 1,
        max_wave_id: 31,
        max_legacy_doorbell_dispatch_id_plus_1: 0,
        legacy_doorbell_lock: 0,
        reserved2: [0; 9],
        read_dispatch_id: AtomicU64::new(0),
        read_dispatch_id_field_base_byte_offset: READ_ID_OFFSET as u32,
        compute_tmpring_size: 0,
        scratch_resource_descriptor: [0; 4],
        scratch_backing_memory_location: 0,
        scratch_backing_memory_byte_size: 0,
        scratch_wave64_lane_byte_size: 0,
        queue_properties: PROPERTIES,
        reserved3: [0; 2],
        queue_inactive_signal: SignalHandle(0),
        reserved4: [0; 14],
    };
    let memory = memory.cast::<AmdQueue>();
    // SAFETY: the first page of the mapping, which is larger than the structure.
    unsafe { memory.write(structure) };
    let queue = Queue {
        memory,
        pages,
        size,
        doorbell,
        cooperative: kind == QUEUE_TYPE_COOPERATIVE,
        callback,
        data,
        stop: AtomicBool::new(false),
        ended: Mutex::new(false),
        has_ended: Condvar::new(),
    };
    // The type of vendor packets is zero: an empty ring must say that it is empty.
    for number in 0..u64::from(size) {
        queue.header(number).store(packet::INVALID, Ordering::Relaxed);
    }
    Ok(queue)
}

/// `hsa_queue_destroy`. Returns when the worker has ended its current packet.
pub(crate) fn destroy(queue: *mut HsaQueue) -> Answer {
    let runtime = runtime()?;
    let removed = {
        let mut live = runtime.queues.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.remove(&(queue.addr() as u64))
    };
    let queue = removed.ok_or(Status::ERROR_INVALID_QUEUE)?;
    queue.stop.store(true, Ordering::SeqCst);
    queue.doorbell.wake();
    let mut ended = queue.ended.lock().unwrap_or_else(PoisonError::into_inner);
    while !*ended {
        ended = queue.has_ended.wait(ended).unwrap_or_else(PoisonError::into_inner);
    }
    drop(ended);
    crate::signal::destroy(queue.doorbell.handle())
}

/// What the index functions need of a queue.
///
/// # Safety
///
/// `queue` is null or a live queue of this library.
unsafe fn structure<'a>(queue: *const HsaQueue) -> Option<&'a AmdQueue> {
    // SAFETY: the caller's promise: what this library calls a queue starts with an AmdQueue,
    // whose counters are atomics.
    unsafe { queue.cast::<AmdQueue>().as_ref() }
}

/// `hsa_queue_add_write_index_screlease`: the index before.
///
/// # Safety
///
/// `queue` is null or a live queue of this library.
pub(crate) unsafe fn add_write_index(queue: *const HsaQueue, count: u64) -> u64 {
    // SAFETY: the caller's promise is the same.
    let queue = unsafe { structure(queue) };
    queue.map_or(0, |queue| queue.write_dispatch_id.fetch_add(count, Ordering::AcqRel))
}

/// `hsa_queue_load_write_index_relaxed`.
///
/// # Safety
///
/// `queue` is null or a live queue of this library.
pub(crate) unsafe fn write_index(queue: *const HsaQueue) -> u64 {
    // SAFETY: the caller's promise is the same.
    let queue = unsafe { structure(queue) };
    queue.map_or(0, |queue| queue.write_dispatch_id.load(Ordering::Relaxed))
}

/// `hsa_queue_load_read_index_relaxed` and `hsa_queue_load_read_index_scacquire`.
///
/// # Safety
///
/// `queue` is null or a live queue of this library.
pub(crate) unsafe fn read_index(queue: *const HsaQueue) -> u64 {
    // SAFETY: the caller's promise is the same.
    let queue = unsafe { structure(queue) };
    queue.map_or(0, |queue| queue.read_dispatch_id.load(Ordering::Acquire))
}

fn check(queue: *const HsaQueue) -> Answer {
    let live = runtime()?.queues.live.lock().unwrap_or_else(PoisonError::into_inner);
    let known = live.contains_key(&(queue.addr() as u64));
    if known { Ok(()) } else { Err(Status::ERROR_INVALID_QUEUE) }
}

/// `hsa_amd_queue_cu_set_mask`. Any number of workgroups runs at a time here, so the mask only
/// has to be a valid one.
pub(crate) fn set_cu_mask(queue: *const HsaQueue, bits: u32, mask: *const u32) -> Answer {
    check(queue)?;
    if !bits.is_multiple_of(32) || (bits > 0 && mask.is_null()) {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let units = compute_units(runtime()?.settings.target).next_multiple_of(32);
    if bits > units { Err(Status::CU_MASK_REDUCED) } else { Ok(()) }
}

/// `hsa_amd_queue_set_priority`. Each queue has a thread of its own, so none has to wait.
pub(crate) fn set_priority(queue: *mut HsaQueue, priority: u32) -> Answer {
    const HIGH: u32 = 2;
    check(queue)?;
    if priority > HIGH { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(()) }
}

/// `hsa_amd_profiling_set_profiler_enabled`. Times are always taken.
pub(crate) fn set_profiling(queue: *mut HsaQueue) -> Answer {
    check(queue)
}

impl Queue {
    /// Reports a fault to whoever created the queue. Nothing of the queue runs afterwards.
    fn report(&self, status: Status) {
        match self.callback {
            // SAFETY: whoever created the queue promised that the callback may be called with
            // its data on any thread until the queue is destroyed, which waits for us.
            Some(callback) => unsafe { callback(status, self.memory.cast(), self.data) },
            None => log::warn(format_args!("the queue has no callback; it stops here")),
        }
    }

    /// Tells `destroy` that the worker touches the queue no more.
    fn end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.has_ended.notify_all();
    }

    fn address(&self) -> u64 {
        ptr::from_ref(self.structure()).addr() as u64
    }
}
