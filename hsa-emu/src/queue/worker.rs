//! The thread of a queue: takes packets in order and does what they ask for.
//!
//! In order and one at a time satisfies every barrier bit, and every fence, since all memory is
//! coherent.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use gfx_emu::dispatch::{self, Dispatch, Fault, FaultKind, Site};
use gfx_emu::memory::MemoryError;

use super::packet::{self, Bytes, DispatchPacket, Packet};
use super::{PACKET_BYTES, Queue};
use crate::abi::{Answer, SignalHandle, Status};
use crate::code::Runnable;
use crate::runtime::{Runtime, now_ns, runtime};
use crate::signal::{Condition, ONLY_WHEN_CHANGED, Signal};
use crate::{log, trace};

/// How long a worker sleeps before it looks whether its queue is to be destroyed, or at the
/// other signals that it waits for.
const LOOK_AGAIN_NS: u64 = 500_000;

/// Works until the queue is destroyed.
pub(super) fn run(queue: &Queue) {
    let worked = catch_unwind(AssertUnwindSafe(|| work(queue)));
    if worked.is_err() {
        log::warn(format_args!("internal error in a queue; it stops here"));
        queue.report(Status::ERROR_FATAL);
    }
    queue.end();
}

fn work(queue: &Queue) {
    let Ok(runtime) = runtime() else { return };
    while let Some(bytes) = next(queue) {
        let number = queue.structure().read_dispatch_id.load(Ordering::Relaxed);
        let start = now_ns();
        if let Err(status) = perform(runtime, queue, number, &bytes) {
            if !queue.stop.load(Ordering::Relaxed) {
                log::detail(format_args!("queue {:#x}: {status:?}", queue.address()));
                queue.report(status);
            }
            break;
        }
        // The slot is free before the program can learn that the packet is done.
        queue.header(number).store(packet::INVALID, Ordering::Release);
        queue.structure().read_dispatch_id.store(number + 1, Ordering::Release);
        match runtime.signals.optional(packet::completion(&bytes)) {
            Ok(Some(signal)) => signal.complete(start, now_ns()),
            Ok(None) => {}
            Err(status) => {
                log::warn(format_args!("a packet names a completion signal that is none"));
                queue.report(status);
                break;
            }
        }
    }
    while !queue.stop.load(Ordering::SeqCst) {
        queue
            .doorbell
            .sleep_until(u64::MAX, ONLY_WHEN_CHANGED, |_| queue.stop.load(Ordering::SeqCst));
    }
}

/// The next packet, once it is there; none if the queue is to be destroyed.
///
/// A slot may be reserved long before it is filled, and threads ring the doorbell in any order:
/// only the header says that a packet is there.
fn next(queue: &Queue) -> Option<Bytes> {
    let number = queue.structure().read_dispatch_id.load(Ordering::Relaxed);
    let header = queue.header(number);
    let filled = || packet::kind(header.load(Ordering::Acquire)) != packet::INVALID;
    let stopped = || queue.stop.load(Ordering::SeqCst);
    if !filled() {
        queue.doorbell.sleep_until(u64::MAX, ONLY_WHEN_CHANGED, |_| filled() || stopped());
    }
    if stopped() {
        return None;
    }
    let slot = queue.slot(number).cast::<Bytes>();
    debug_assert!(size_of::<Bytes>() as u64 == PACKET_BYTES);
    // SAFETY: the slot lies in the ring. Its header was read with acquire and is not invalid, so
    // the program has written the packet and leaves it alone until the header is invalid again.
    Some(unsafe { slot.read() })
}

fn perform(runtime: &Runtime, queue: &Queue, number: u64, bytes: &Bytes) -> Answer {
    let packet = Packet::parse(bytes).inspect_err(|_| {
        log::warn(format_args!("malformed packet, first words {:02x?}", &bytes[..16]));
    })?;
    trace::packet(queue.address(), |book| describe(runtime, &packet, bytes, book));
    match packet {
        Packet::Dispatch(dispatch) => {
            launch(runtime, queue, number, &dispatch, packet::completion(bytes))
        }
        Packet::BarrierAnd(signals) => {
            for signal in all(runtime, &signals)? {
                wait(queue, signal, |value| value < 1)?;
            }
            Ok(())
        }
        Packet::BarrierOr(signals) => wait_for_any(queue, &all(runtime, &signals)?),
        Packet::BarrierValue { signal, value, mask, condition } => {
            match runtime.signals.optional(signal)? {
                Some(signal) => wait(queue, signal, |now| condition.holds(now & mask, value)),
                None => Ok(()),
            }
        }
    }
}

/// A packet, as the trace has it.
fn describe(runtime: &Runtime, packet: &Packet, bytes: &Bytes, book: &trace::Book) -> String {
    let waits = |signals: &[SignalHandle]| signals.iter().filter(|signal| signal.0 != 0).count();
    let what = match packet {
        Packet::Dispatch(packet) => {
            let found = runtime.code.kernel(packet.kernel_object);
            format!(
                "dispatch {} grid {:?} workgroup {:?} group {} private {}",
                found.as_ref().map_or("?", |found| found.kernel.kernel.name()),
                packet.grid,
                packet.workgroup,
                packet.group_bytes,
                packet.private_bytes
            )
        }
        Packet::BarrierAnd(signals) => format!("barrier-and {}", waits(signals)),
        Packet::BarrierOr(signals) => format!("barrier-or {}", waits(signals)),
        Packet::BarrierValue { value, mask, condition, .. } => {
            format!("barrier-value {value} {mask} {condition:?}")
        }
    };
    format!("{what} completes {}", book.handle("signal", packet::completion(bytes).0))
}

fn all(runtime: &Runtime, handles: &[SignalHandle]) -> Answer<Vec<&'static Signal>> {
    let found = handles.iter().filter_map(|handle| runtime.signals.optional(*handle).transpose());
    found.collect()
}

/// Waits for a signal. The error ends the worker of a queue that is being destroyed.
fn wait(queue: &Queue, signal: &Signal, done: impl Fn(i64) -> bool) -> Answer {
    let stopped = || queue.stop.load(Ordering::SeqCst);
    while !done(signal.load()) {
        if stopped() {
            return Err(Status::ERROR_INVALID_QUEUE);
        }
        signal.sleep_until(now_ns() + LOOK_AGAIN_NS, LOOK_AGAIN_NS, &done);
    }
    Ok(())
}

fn wait_for_any(queue: &Queue, signals: &[&'static Signal]) -> Answer {
    let Some(first) = signals.first() else { return Ok(()) };
    while !signals.iter().any(|signal| Condition::Less.holds(signal.load(), 1)) {
        if queue.stop.load(Ordering::SeqCst) {
            return Err(Status::ERROR_INVALID_QUEUE);
        }
        first.sleep_until(now_ns() + LOOK_AGAIN_NS, LOOK_AGAIN_NS, |value| value < 1);
    }
    Ok(())
}

fn launch(
    runtime: &Runtime,
    queue: &Queue,
    number: u64,
    packet: &DispatchPacket,
    completion: SignalHandle,
) -> Answer {
    let Some(Runnable { kernel, blit }) = runtime.code.kernel(packet.kernel_object) else {
        log::warn(format_args!("no kernel at {:#x}", packet.kernel_object));
        return Err(Status::ERROR_INVALID_CODE_OBJECT);
    };
    let native = blit.filter(|_| runtime.settings.native_blit);
    log::detail(format_args!(
        "dispatch {}{} grid {:?} workgroup {:?}",
        kernel.kernel.name(),
        if native.is_some() { " (native)" } else { "" },
        packet.grid,
        packet.workgroup
    ));
    let space = runtime.memory.space();
    let descriptor = kernel.kernel.descriptor();
    if let Some(blit) = native {
        let stop = || queue.stop.load(Ordering::SeqCst);
        return blit.run(space, packet.kernarg_address, descriptor.kernarg_size, stop).map_err(
            |error| {
                let fault = memory_fault(&error, kernel.kernel.name());
                report(runtime, &fault)
            },
        );
    }
    let fixed = descriptor.group_segment_fixed_size;
    let launch = Dispatch {
        grid: packet.grid,
        block: packet.workgroup,
        dynamic_lds_bytes: packet.group_bytes.saturating_sub(fixed),
        private_segment_bytes: packet.private_bytes,
        kernarg_address: packet.kernarg_address,
        packet_address: queue.slot(number).addr() as u64,
        queue_address: queue.address(),
        completion_signal: completion.0,
        dispatch_id: number,
        cooperative: queue.cooperative,
        host: Some(&runtime.signals),
    };
    let ran = dispatch::run(space, &kernel.kernel, &launch);
    ran.map(drop).map_err(|fault| report(runtime, &fault))
}

/// A native blit kernel faults as the kernel itself would.
fn memory_fault(error: &MemoryError, kernel: &str) -> Fault {
    let site = Site { kernel: kernel.to_owned(), ..Site::default() };
    let kind = match error {
        MemoryError::Unmapped { address, bytes } | MemoryError::InvalidRange { address, bytes } => {
            let bytes = u32::try_from(*bytes).unwrap_or(u32::MAX);
            FaultKind::IllegalAddress { address: *address, bytes, write: false }
        }
        other => FaultKind::Launch(other.to_string()),
    };
    Fault::at(kind, site)
}

/// Says what went wrong, and gives the status that ROCr has for it.
fn report(runtime: &Runtime, fault: &Fault) -> Status {
    log::warn(format_args!("{fault} (HIP_EMU_SEED={})", runtime.settings.seed));
    match &fault.kind {
        FaultKind::IllegalAddress { .. } | FaultKind::Unaligned { .. } => {
            Status::ERROR_MEMORY_FAULT
        }
        FaultKind::LdsOutOfRange { .. } => Status::ERROR_MEMORY_APERTURE_VIOLATION,
        FaultKind::IllegalPc { .. }
        | FaultKind::UnknownInstruction { .. }
        | FaultKind::Unsupported { .. } => Status::ERROR_ILLEGAL_INSTRUCTION,
        FaultKind::Trap { .. } | FaultKind::Host(_) => Status::ERROR_EXCEPTION,
        FaultKind::Launch(_) => Status::ERROR_INVALID_PACKET_FORMAT,
    }
}
