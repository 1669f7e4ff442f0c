//! Copies that run beside the queues, as a card's DMA engines do them.
//!
//! Each device has one engine for each direction between it and the host, and all devices share
//! one for copies between them. An engine is a thread that works strictly in order, waits for
//! the signals that a copy depends on, and completes the copy's own. HIP counts on that order:
//! it leaves out the dependency of a copy on the one before it on the same engine.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::fmt::Arguments;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, PoisonError};

use gfx_emu::memory::MemoryError;

use crate::abi::{AgentHandle, Answer, Dim3, PitchedPtr, SignalHandle, Status};
use crate::agent::Agent;
use crate::memory::Memory;
use crate::runtime::{Runtime, now_ns, runtime};
use crate::signal::{Condition, Signal};
use crate::{log, thread};

/// Which engine of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
}

/// What an engine does.
pub(crate) enum Work {
    Linear {
        to: u64,
        from: u64,
        bytes: u64,
    },
    Rect(Rect),
    /// Only the order matters.
    Nothing,
}

/// Rows of rows, in bytes.
pub(crate) struct Rect {
    to: Side,
    from: Side,
    range: [u64; 3],
}

struct Side {
    start: u64,
    pitch: u64,
    slice: u64,
}

struct Job {
    after: Vec<&'static Signal>,
    done: Option<&'static Signal>,
    work: Work,
}

#[derive(Default)]
struct Engine {
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    started: bool,
}

/// The engines of all devices.
pub(crate) struct Copies {
    engines: Vec<Engine>,
}

impl Copies {
    pub(crate) fn new(gpus: usize) -> Self {
        let engines = std::iter::repeat_with(Engine::default).take(1 + 2 * gpus);
        Self { engines: engines.collect() }
    }

    /// Gives an engine something to do.
    pub(crate) fn submit(
        &self,
        gpu: usize,
        direction: Direction,
        after: Vec<&'static Signal>,
        done: Option<&'static Signal>,
        work: Work,
    ) -> Answer {
        let index = match direction {
            Direction::DeviceToDevice => 0,
            Direction::HostToDevice => 1 + 2 * gpu,
            Direction::DeviceToHost => 2 + 2 * gpu,
        };
        let engine = self.engines.get(index).ok_or(Status::ERROR_INVALID_AGENT)?;
        let mut state = engine.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.started {
            let started = thread::spawn("hsa-copies", move || {
                if let Ok(runtime) = runtime()
                    && let Some(engine) = runtime.copies.engines.get(index)
                {
                    engine.run(&runtime.memory);
                }
            });
            if let Err(error) = started {
                log::warn(format_args!("no thread for copies: {error}"));
                return Err(Status::ERROR_OUT_OF_RESOURCES);
            }
            state.started = true;
        }
        state.jobs.push_back(Job { after, done, work });
        drop(state);
        engine.ready.notify_one();
        Ok(())
    }
}

impl Engine {
    fn run(&self, memory: &Memory) {
        loop {
            let job = self.next();
            for signal in job.after {
                signal.wait(Condition::Less, 1, u64::MAX);
            }
            let start = now_ns();
            match catch_unwind(AssertUnwindSafe(|| job.work.perform(memory))) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => fault(format_args!("memory access fault in a copy: {error}")),
                Err(_) => fault(format_args!("internal error in a copy")),
            }
            if let Some(done) = job.done {
                done.complete(start, now_ns());
            }
        }
    }

    fn next(&self) -> Job {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return job;
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A copy that cannot be done ends the process, as ROCr ends it when its DMA engines report a
/// memory fault: the interface has no other way to say so.
fn fault(what: Arguments<'_>) -> ! {
    log::warn(what);
    std::process::abort()
}

impl Work {
    fn perform(&self, memory: &Memory) -> Result<(), MemoryError> {
        let space = memory.space();
        match self {
            Self::Nothing => Ok(()),
            Self::Linear { to, from, bytes } => space.copy(*to, *from, *bytes),
            Self::Rect(rect) => {
                let [columns, rows, layers] = rect.range;
                for z in 0..layers {
                    for y in 0..rows {
                        space.copy(rect.to.row(y, z), rect.from.row(y, z), columns)?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl Side {
    /// # Safety
    ///
    /// `pointer` and `offset` are null or point at their structures.
    unsafe fn read(pointer: *const PitchedPtr, offset: *const Dim3) -> Answer<Self> {
        if pointer.is_null() || offset.is_null() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        // SAFETY: the caller's promise.
        let (pointer, offset) = unsafe { (pointer.read_unaligned(), offset.read_unaligned()) };
        let mut side = Self {
            start: pointer.base.addr() as u64,
            pitch: pointer.pitch as u64,
            slice: pointer.slice as u64,
        };
        side.start = side.row(offset.y.into(), offset.z.into()).wrapping_add(u64::from(offset.x));
        Ok(side)
    }

    fn row(&self, y: u64, z: u64) -> u64 {
        let bytes = y.wrapping_mul(self.pitch).wrapping_add(z.wrapping_mul(self.slice));
        self.start.wrapping_add(bytes)
    }
}

/// Which engine copies between two agents.
fn engine(runtime: &Runtime, to: AgentHandle, from: AgentHandle) -> Answer<(usize, Direction)> {
    Ok(match (runtime.names.agent(to)?, runtime.names.agent(from)?) {
        (Agent::Gpu(gpu), Agent::Cpu) => (gpu, Direction::HostToDevice),
        (Agent::Cpu, Agent::Gpu(gpu)) => (gpu, Direction::DeviceToHost),
        (Agent::Gpu(_), Agent::Gpu(gpu)) => (gpu, Direction::DeviceToDevice),
        (Agent::Cpu, Agent::Cpu) => (0, Direction::HostToDevice),
    })
}

/// `hsa_amd_memory_async_copy`.
///
/// # Safety
///
/// `dependencies` holds `count` handles.
#[expect(clippy::too_many_arguments, reason = "the parameters of the C function")]
pub(crate) unsafe fn copy(
    to: *mut c_void,
    to_agent: AgentHandle,
    from: *const c_void,
    from_agent: AgentHandle,
    bytes: usize,
    count: u32,
    dependencies: *const SignalHandle,
    completion: SignalHandle,
) -> Answer {
    let runtime = runtime()?;
    if to.is_null() || from.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let (gpu, direction) = engine(runtime, to_agent, from_agent)?;
    // SAFETY: the caller's promise.
    let after = unsafe { runtime.signals.list(dependencies, count) }?;
    let done = runtime.signals.optional(completion)?;
    let (to, from) = (to.addr() as u64, from.addr() as u64);
    let work = Work::Linear { to, from, bytes: bytes as u64 };
    runtime.copies.submit(gpu, direction, after, done, work)
}

/// `hsa_amd_memory_async_copy_rect`.
///
/// # Safety
///
/// The pointers are null or point at their structures; `dependencies` holds `count` handles.
#[expect(clippy::too_many_arguments, reason = "the parameters of the C function")]
pub(crate) unsafe fn copy_rect(
    to: *const PitchedPtr,
    to_offset: *const Dim3,
    from: *const PitchedPtr,
    from_offset: *const Dim3,
    range: *const Dim3,
    agent: AgentHandle,
    direction: u32,
    count: u32,
    dependencies: *const SignalHandle,
    completion: SignalHandle,
) -> Answer {
    let runtime = runtime()?;
    if range.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let gpu = runtime.names.gpu(agent)?;
    // SAFETY: the caller's promise.
    let range = unsafe { range.read_unaligned() };
    let rect = Rect {
        // SAFETY: the caller's promise.
        to: unsafe { Side::read(to, to_offset) }?,
        // SAFETY: the caller's promise.
        from: unsafe { Side::read(from, from_offset) }?,
        range: [range.x, range.y, range.z].map(u64::from),
    };
    let direction = match direction {
        0 | 1 => Direction::HostToDevice,
        2 => Direction::DeviceToHost,
        3 => Direction::DeviceToDevice,
        _unknown => return Err(Status::ERROR_INVALID_ARGUMENT),
    };
    // SAFETY: the caller's promise.
    let after = unsafe { runtime.signals.list(dependencies, count) }?;
    let done = runtime.signals.optional(completion)?;
    runtime.copies.submit(gpu, direction, after, done, Work::Rect(rect))
}
