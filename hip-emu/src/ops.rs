//! The work that streams and graphs do.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use gfx_emu::queue::Signal;
use hrr_ffi::types::*;

use crate::api::Answer;
use crate::copies::{Copy, Fill, Staged};
use crate::events::Point;
use crate::graphs::Launched;
use crate::hostcall::Hostcall;
use crate::launches::Launch;
use crate::runtime::Runtime;
use crate::streams::lock;

/// How long a wait for a value in memory sleeps between two looks.
const POLL_INTERVAL: Duration = Duration::from_micros(50);

/// One piece of work.
#[derive(Clone)]
pub(crate) enum Op {
    Copy(Copy),
    Staged(Staged),
    Fill(Fill),
    Kernel(Arc<Launch>),
    Host(HostCall),
    Callback(StreamCallback),
    /// Ends a stream-ordered allocation.
    Free(u64),
    Memory(Arc<[MemoryOp]>),
    Graph(Arc<Launched>),
    /// Completes a record of an event that other processes know.
    Complete(Point),
    /// Waits for one.
    Await(Point),
}

/// A function of the program.
#[derive(Clone, Copy)]
pub(crate) struct HostCall {
    pub(crate) function: unsafe extern "C" fn(*mut c_void),
    pub(crate) data: *mut c_void,
}

// SAFETY: the pointer is the program's and only handed back to it; that its function may run on
// another thread is what HIP says.
unsafe impl Send for HostCall {}
// SAFETY: as above.
unsafe impl Sync for HostCall {}

/// A function of the program that is told how the stream is.
#[derive(Clone, Copy)]
pub(crate) struct StreamCallback {
    pub(crate) function: unsafe extern "C" fn(hipStream_t, hipError_t, *mut c_void),
    pub(crate) stream: hipStream_t,
    pub(crate) data: *mut c_void,
}

// SAFETY: as for `HostCall`.
unsafe impl Send for StreamCallback {}
// SAFETY: as for `HostCall`.
unsafe impl Sync for StreamCallback {}

/// An operation on one word of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemoryOp {
    Write {
        address: u64,
        value: u64,
        bytes: usize,
    },
    Wait {
        address: u64,
        value: u64,
        mask: u64,
        bytes: usize,
        condition: Condition,
    },
    /// Work of a stream is in order anyway.
    Barrier,
}

/// When a wait is over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    GreaterOrEqual,
    Equal,
    And,
    Nor,
}

/// The side of a stream that does its work, on the stream's own thread.
pub(crate) struct Worker {
    pub(crate) runtime: &'static Runtime,
    pub(crate) device: usize,
    /// Device memory for kernel arguments: one launch of a stream runs at a time.
    pub(crate) arguments: Mutex<Option<(u64, u64)>>,
    hostcall: OnceLock<Answer<Hostcall>>,
}

impl Worker {
    pub(crate) fn new(runtime: &'static Runtime, device: usize) -> Self {
        Self { runtime, device, arguments: Mutex::new(None), hostcall: OnceLock::new() }
    }

    /// The host, for kernels that call it.
    pub(crate) fn hostcall(&self) -> Answer<&Hostcall> {
        let new = || Hostcall::new(self.runtime, self.runtime.device(self.device)?);
        self.hostcall.get_or_init(new).as_ref().map_err(|error| *error)
    }

    /// Does the work, unless the device has faulted. A failure is a fault.
    pub(crate) fn run(&self, op: &Op) {
        let Ok(device) = self.runtime.device(self.device) else { return };
        let answer = match device.check() {
            Ok(()) => self.attempt(op),
            Err(fault) => {
                self.after_fault(op, fault);
                return;
            }
        };
        if let Err(error) = answer {
            device.set_fault(error);
        }
    }

    fn attempt(&self, op: &Op) -> Answer {
        match op {
            Op::Copy(copy) => copy.run(self.runtime),
            Op::Staged(staged) => staged.run(self.runtime),
            Op::Fill(fill) => fill.run(self.runtime),
            Op::Kernel(launch) => launch.run(self),
            Op::Host(call) => {
                // SAFETY: the program gave the function to be called with this pointer.
                unsafe { (call.function)(call.data) };
                Ok(())
            }
            Op::Callback(callback) => {
                callback.call(hipSuccess);
                Ok(())
            }
            Op::Free(base) => self.free(*base),
            Op::Memory(ops) => ops.iter().try_for_each(|op| self.memory_op(op)),
            Op::Graph(launched) => launched.run(self),
            Op::Complete(point) => {
                point.complete();
                Ok(())
            }
            Op::Await(point) => {
                point.wait();
                Ok(())
            }
        }
    }

    /// What still happens on a device that has faulted: callbacks are told, signals complete.
    fn after_fault(&self, op: &Op, fault: hipError_t) {
        match op {
            Op::Callback(callback) => callback.call(fault),
            Op::Graph(launched) => launched.complete_events(),
            Op::Complete(point) => point.complete(),
            Op::Free(base) => {
                // The fault is what counts; memory that is not there any more is no further one.
                let _fault_counts = self.free(*base);
            }
            Op::Copy(_)
            | Op::Staged(_)
            | Op::Fill(_)
            | Op::Kernel(_)
            | Op::Host(_)
            | Op::Memory(_)
            | Op::Await(_) => {}
        }
    }

    fn free(&self, base: u64) -> Answer {
        match self.runtime.allocations.at(base) {
            Some(allocation) => self.runtime.release(&allocation),
            None => Err(hipErrorInvalidValue),
        }
    }

    fn memory_op(&self, op: &MemoryOp) -> Answer {
        let space = &self.runtime.space;
        let illegal = |_| hipErrorIllegalAddress;
        let on_device = |address| self.runtime.allocations.device_address(address);
        match *op {
            MemoryOp::Barrier => Ok(()),
            MemoryOp::Write { address, value, bytes } => {
                space.write(on_device(address), &value.to_le_bytes()[..bytes]).map_err(illegal)
            }
            MemoryOp::Wait { address, value, mask, bytes, condition } => loop {
                let mut found = [0; 8];
                space.read(on_device(address), &mut found[..bytes]).map_err(illegal)?;
                let (found, value) = (u64::from_le_bytes(found) & mask, value & mask);
                let over = match condition {
                    // Cyclic: the distance is not negative.
                    Condition::GreaterOrEqual if bytes == 4 => {
                        (found as u32).wrapping_sub(value as u32).cast_signed() >= 0
                    }
                    Condition::GreaterOrEqual => found.wrapping_sub(value).cast_signed() >= 0,
                    Condition::Equal => found == value,
                    Condition::And => found & value != 0,
                    Condition::Nor => !(found | value) & mask != 0,
                };
                if over {
                    return Ok(());
                }
                self.runtime.device(self.device)?.check()?;
                std::thread::sleep(POLL_INTERVAL);
            },
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some((base, _)) = lock(&self.arguments).take() {
            // In a forked child, where the memory is not ours, there is nothing to free.
            let _of_the_parent = self.runtime.space.free(base);
        }
    }
}

impl StreamCallback {
    fn call(&self, status: hipError_t) {
        // SAFETY: the program gave the function to be called with these values.
        unsafe { (self.function)(self.stream, status, self.data) };
    }
}

/// Waits for a signal where the caller must not go on before the work is done.
pub(crate) fn wait(signal: Option<Signal>) {
    if let Some(signal) = signal {
        signal.wait();
    }
}
