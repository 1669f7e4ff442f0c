//! Signals: 64-bit values that host and device change and wait for.
//!
//! A signal is an `amd_signal_t`, whose address is its handle: device code (hostcall) reads and
//! writes it by the same layout, so all signals lie in one area that kernels can reach. Waiting
//! sleeps on a futex in words of the structure that AMD reserves.

use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use gfx_emu::dispatch::Host;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::thread::futex;
use rustix::time::Timespec;

use crate::abi::{AgentHandle, Answer, SignalHandle, Status, put};
use crate::memory::Memory;
use crate::runtime::{now_ns, runtime};

/// Address space for signals; pages are only used when signals are.
const AREA_BYTES: usize = 256 << 20;
const SIGNAL_BYTES: usize = size_of::<Signal>();
/// `AMD_SIGNAL_KIND_USER`; memory that holds no signal has zero there.
const KIND_USER: i64 = 1;
/// A kernel may change a signal without telling us, and of two that tell us at once we hear one:
/// sleeping waits look again this often.
const LOOK_AGAIN_NS: u64 = 1_000_000;
/// Longest sleep in one piece.
const SLEEP_MAX_NS: u64 = 3_600_000_000_000;
/// For `sleep_until`: only the host changes the signal.
pub(crate) const ONLY_WHEN_CHANGED: u64 = u64::MAX;

/// `amd_signal_t`.
#[repr(C, align(64))]
pub(crate) struct Signal {
    kind: AtomicI64,
    value: AtomicI64,
    /// Where device code stores `event_id` to say that it changed the value. Device code leaves
    /// out its message to the host if this is zero.
    event_mailbox_ptr: AtomicU64,
    /// The signal's own index.
    event_id: AtomicU32,
    /// Reserved by AMD. Here: how many handlers wait for the signal.
    handlers: AtomicU32,
    start_ts: AtomicU64,
    end_ts: AtomicU64,
    queue_ptr: AtomicU64,
    /// Reserved by AMD. Here: what waiting threads sleep on.
    sequence: AtomicU32,
    /// Reserved by AMD. Here: how many threads sleep.
    sleepers: AtomicU32,
}

const _: () = assert!(SIGNAL_BYTES == 64);
const _: () = assert!(std::mem::offset_of!(Signal, value) == 8);
const _: () = assert!(std::mem::offset_of!(Signal, event_id) == 24);
const _: () = assert!(std::mem::offset_of!(Signal, start_ts) == 32);
const _: () = assert!(std::mem::offset_of!(Signal, queue_ptr) == 48);

/// `hsa_signal_condition_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Equal,
    NotEqual,
    Less,
    GreaterOrEqual,
}

impl Condition {
    pub(crate) fn from_raw(raw: u32) -> Answer<Self> {
        match raw {
            0 => Ok(Self::Equal),
            1 => Ok(Self::NotEqual),
            2 => Ok(Self::Less),
            3 => Ok(Self::GreaterOrEqual),
            _unknown => Err(Status::ERROR_INVALID_ARGUMENT),
        }
    }

    pub(crate) fn holds(self, value: i64, compare: i64) -> bool {
        match self {
            Self::Equal => value == compare,
            Self::NotEqual => value != compare,
            Self::Less => value < compare,
            Self::GreaterOrEqual => value >= compare,
        }
    }
}

/// The area that all signals lie in.
pub(crate) struct Signals {
    base: usize,
    book: Mutex<Book>,
}

struct Book {
    /// Index of the first slot that was never used.
    fresh: usize,
    free: Vec<usize>,
}

impl Signals {
    /// Maps the area and makes it reachable from kernels.
    pub(crate) fn new(memory: &Memory, seed: u64) -> Result<Self, String> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: an anonymous mapping at an address that the kernel chooses.
        let area = unsafe { mmap_anonymous(ptr::null_mut(), AREA_BYTES, access, flags) }
            .map_err(|error| format!("no memory for signals: {error}"))?;
        // SAFETY: the area was mapped above and is never unmapped.
        unsafe { memory.register(area.cast(), AREA_BYTES as u64) }
            .map_err(|error| format!("no memory for signals: {error}"))?;
        // The first slot is the mailbox; the others start where the seed says.
        let fresh = 1 + (seed as usize % 1024);
        Ok(Self {
            base: area.expose_provenance(),
            book: Mutex::new(Book { fresh, free: Vec::new() }),
        })
    }

    /// Makes a signal.
    pub(crate) fn create(&self, value: i64) -> Answer<&'static Signal> {
        let index = {
            let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
            match book.free.pop() {
                Some(index) => index,
                None if (book.fresh + 1) * SIGNAL_BYTES > AREA_BYTES => {
                    return Err(Status::ERROR_OUT_OF_RESOURCES);
                }
                None => {
                    book.fresh += 1;
                    book.fresh - 1
                }
            }
        };
        let signal = self.slot(index);
        signal.value.store(value, Ordering::Relaxed);
        signal.event_mailbox_ptr.store(self.base as u64, Ordering::Relaxed);
        signal.event_id.store(index as u32, Ordering::Relaxed);
        signal.start_ts.store(0, Ordering::Relaxed);
        signal.end_ts.store(0, Ordering::Relaxed);
        signal.queue_ptr.store(0, Ordering::Relaxed);
        signal.kind.store(KIND_USER, Ordering::Release);
        Ok(signal)
    }

    /// Ends a signal; nobody may use it any more.
    fn destroy(&self, signal: &'static Signal) {
        signal.kind.store(0, Ordering::Release);
        let index = (signal.address() as usize - self.base) / SIGNAL_BYTES;
        self.book.lock().unwrap_or_else(PoisonError::into_inner).free.push(index);
    }

    /// The signal behind a handle, if there is one.
    pub(crate) fn get(&self, handle: SignalHandle) -> Answer<&'static Signal> {
        let offset = (handle.0 as usize).wrapping_sub(self.base);
        if offset >= AREA_BYTES || !offset.is_multiple_of(SIGNAL_BYTES) || offset == 0 {
            return Err(Status::ERROR_INVALID_SIGNAL);
        }
        let signal = self.slot(offset / SIGNAL_BYTES);
        if signal.kind.load(Ordering::Acquire) == KIND_USER {
            Ok(signal)
        } else {
            Err(Status::ERROR_INVALID_SIGNAL)
        }
    }

    /// The signal of a field where null means that there is none.
    pub(crate) fn optional(&self, handle: SignalHandle) -> Answer<Option<&'static Signal>> {
        if handle.0 == 0 { Ok(None) } else { self.get(handle).map(Some) }
    }

    /// The signals of a list.
    ///
    /// # Safety
    ///
    /// As for [`crate::abi::list`].
    pub(crate) unsafe fn list(
        &self,
        first: *const SignalHandle,
        count: u32,
    ) -> Answer<Vec<&'static Signal>> {
        // SAFETY: the caller's promise is the same.
        let handles = unsafe { crate::abi::list(first, count as usize) }?;
        handles.iter().map(|handle| self.get(*handle)).collect()
    }

    fn slot(&self, index: usize) -> &'static Signal {
        debug_assert!((index + 1) * SIGNAL_BYTES <= AREA_BYTES);
        let address = self.base + index * SIGNAL_BYTES;
        // SAFETY: the slot lies in the area, which is mapped for ever and zeroed at first; every
        // field is an atomic, for which any bits are a value, and device code that writes there
        // does it as atomically as another thread.
        unsafe { &*ptr::with_exposed_provenance::<Signal>(address) }
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signals").finish_non_exhaustive()
    }
}

impl Host for Signals {
    /// Wakes who waits for the signal that the mailbox names.
    fn interrupt(&self) -> Result<(), String> {
        let index = self.slot(0).kind.load(Ordering::Acquire);
        let index = usize::try_from(index).unwrap_or(0);
        if index != 0 && index < AREA_BYTES / SIGNAL_BYTES {
            let signal = self.slot(index);
            if signal.kind.load(Ordering::Acquire) == KIND_USER {
                signal.changed(signal.load());
            }
        }
        Ok(())
    }
}

impl Signal {
    /// The handle.
    pub(crate) fn handle(&self) -> SignalHandle {
        SignalHandle(self.address())
    }

    fn address(&self) -> u64 {
        ptr::from_ref(self).addr() as u64
    }

    /// The value.
    pub(crate) fn load(&self) -> i64 {
        self.value.load(Ordering::Acquire)
    }

    /// Sets the value and tells nobody.
    pub(crate) fn store_silently(&self, value: i64) {
        self.value.store(value, Ordering::Release);
    }

    /// Sets the value.
    pub(crate) fn store(&self, value: i64) {
        self.value.store(value, Ordering::SeqCst);
        self.changed(value);
    }

    /// Adds to the value.
    pub(crate) fn add(&self, difference: i64) {
        let before = self.value.fetch_add(difference, Ordering::SeqCst);
        self.changed(before.wrapping_add(difference));
    }

    /// Ends a piece of work: its times, and only then the value.
    pub(crate) fn complete(&self, start_ns: u64, end_ns: u64) {
        self.start_ts.store(start_ns, Ordering::Relaxed);
        self.end_ts.store(end_ns, Ordering::Relaxed);
        self.add(-1);
    }

    /// When the work that completed the signal began and ended.
    pub(crate) fn times(&self) -> (u64, u64) {
        (self.start_ts.load(Ordering::Acquire), self.end_ts.load(Ordering::Acquire))
    }

    /// One handler more or fewer waits for the signal.
    pub(crate) fn count_handlers(&self, more: i32) {
        self.handlers.fetch_add(more.cast_unsigned(), Ordering::SeqCst);
    }

    /// Wakes who waits, and starts handlers whose condition `value` meets.
    fn changed(&self, value: i64) {
        self.wake();
        if self.handlers.load(Ordering::SeqCst) != 0
            && let Ok(runtime) = runtime()
        {
            runtime.handlers.changed(self, value);
        }
    }

    /// Lets sleeping threads look at the signal again.
    pub(crate) fn wake(&self) {
        self.sequence.fetch_add(1, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) != 0 {
            // Nothing to do about an error: the word is mapped, so there is none.
            let _ = futex::wake(&self.sequence, futex::Flags::PRIVATE, i32::MAX as u32);
        }
    }

    /// Waits until the condition holds or the time is over; gives the value at that moment.
    pub(crate) fn wait(&self, condition: Condition, compare: i64, timeout_ns: u64) -> i64 {
        let value = self.load();
        if timeout_ns == 0 || condition.holds(value, compare) {
            return value;
        }
        let deadline = now_ns().saturating_add(timeout_ns);
        self.sleep_until(deadline, LOOK_AGAIN_NS, |value| condition.holds(value, compare))
    }

    /// Sleeps until `done` or the deadline; gives the value that it saw last. Looks again at
    /// each change, and at the latest after `look_again_ns`.
    pub(crate) fn sleep_until(
        &self,
        deadline_ns: u64,
        look_again_ns: u64,
        done: impl Fn(i64) -> bool,
    ) -> i64 {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let value = loop {
            let sequence = self.sequence.load(Ordering::SeqCst);
            let value = self.value.load(Ordering::SeqCst);
            let now = now_ns();
            if done(value) || now >= deadline_ns {
                break value;
            }
            let sleep = (deadline_ns - now).min(look_again_ns).min(SLEEP_MAX_NS);
            let span = Timespec {
                tv_sec: (sleep / 1_000_000_000).cast_signed(),
                tv_nsec: (sleep % 1_000_000_000).cast_signed(),
            };
            // Whatever ends the sleep, the loop looks again.
            let _ = futex::wait(&self.sequence, futex::Flags::PRIVATE, sequence, Some(&span));
        };
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        value
    }
}

/// `hsa_signal_create`. Who consumes the signal makes no difference here.
///
/// # Safety
///
/// `out` is null or has room for a handle.
pub(crate) unsafe fn create(
    value: i64,
    count: u32,
    consumers: *const AgentHandle,
    out: *mut SignalHandle,
) -> Answer {
    if out.is_null() || (count > 0 && consumers.is_null()) {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let signal = runtime()?.signals.create(value)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, signal.handle()) }
}

/// `hsa_amd_signal_create`.
///
/// # Safety
///
/// As for [`create`].
pub(crate) unsafe fn create_with_attributes(
    value: i64,
    count: u32,
    consumers: *const AgentHandle,
    attributes: u64,
    out: *mut SignalHandle,
) -> Answer {
    const GPU_ONLY: u64 = 1;
    // HSA_AMD_SIGNAL_IPC needs signals that another process can map, which these are not.
    if attributes & !GPU_ONLY != 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: the caller's promise is the same.
    unsafe { create(value, count, consumers, out) }
}

/// `hsa_signal_destroy`.
pub(crate) fn destroy(handle: SignalHandle) -> Answer {
    if handle.0 == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let runtime = runtime()?;
    let signal = runtime.signals.get(handle)?;
    runtime.handlers.forget(signal);
    runtime.signals.destroy(signal);
    Ok(())
}

/// `hsa_amd_signal_value_pointer`.
///
/// # Safety
///
/// `out` is null or has room for a pointer.
pub(crate) unsafe fn value_pointer(handle: SignalHandle, out: *mut *mut i64) -> Answer {
    let signal = runtime()?.signals.get(handle)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, signal.value.as_ptr()) }
}

/// `hsa_amd_profiling_get_dispatch_time` and `hsa_amd_profiling_get_async_copy_time`.
///
/// # Safety
///
/// `out` is null or has room for the times.
pub(crate) unsafe fn profiling_time(
    handle: SignalHandle,
    out: *mut crate::abi::ProfilingTime,
) -> Answer {
    let (start, end) = runtime()?.signals.get(handle)?.times();
    // SAFETY: the caller's promise.
    unsafe { put(out, crate::abi::ProfilingTime { start, end }) }
}

/// `hsa_amd_signal_async_handler`.
///
/// # Safety
///
/// `handler` may be called with `argument` on any thread, until it returns false.
pub(crate) unsafe fn async_handler(
    handle: SignalHandle,
    condition: u32,
    value: i64,
    handler: Option<crate::abi::SignalCallback>,
    argument: *mut c_void,
) -> Answer {
    let runtime = runtime()?;
    let handler = handler.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    let signal = runtime.signals.get(handle)?;
    let condition = Condition::from_raw(condition)?;
    // SAFETY: the caller's promise is the same.
    unsafe { runtime.handlers.add(signal, condition, value, handler, argument) }
}
