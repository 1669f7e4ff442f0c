//! Events.

use std::ffi::c_uint;
use std::sync::Arc;

use hrr_ffi::types::*;

use super::memory::per_thread;
use crate::abi;
use crate::api::{Answer, Out};
use crate::events::{self, Event};
use crate::runtime::{current, runtime};
use crate::shared_events::SharedEvent;

const KNOWN_FLAGS: c_uint = hipEventBlockingSync
    | hipEventDisableTiming
    | hipEventInterprocess
    | hipEventDisableSystemFence
    | hipEventReleaseToDevice
    | hipEventReleaseToSystem;

hip_api! { TABLE;
    fn hipEventCreate(event: Out<hipEvent_t>) {
        create(event, hipEventDefault)
    }

    fn hipEventCreateWithFlags(event: Out<hipEvent_t>, flags: c_uint) {
        create(event, flags)
    }

    fn hipEventDestroy(event: hipEvent_t) {
        let runtime = runtime()?;
        // A pending record keeps its own signal; the handle is gone at once.
        runtime.events.remove(event.0).map(drop).ok_or(hipErrorInvalidHandle)
    }

    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) {
        record(event, stream, hipEventRecordDefault)
    }

    fn hipEventRecord_spt(event: hipEvent_t, stream: hipStream_t) {
        record(event, per_thread(stream), hipEventRecordDefault)
    }

    fn hipEventRecordWithFlags(event: hipEvent_t, stream: hipStream_t, flags: c_uint) {
        record(event, stream, flags)
    }

    fn hipEventQuery(event: hipEvent_t) {
        let (runtime, _) = current()?;
        let event = runtime.event(event)?;
        let complete = event.is_complete()?;
        runtime.device(event.device)?.check()?;
        if complete { Ok(()) } else { Err(hipErrorNotReady) }
    }

    fn hipEventSynchronize(event: hipEvent_t) {
        let (runtime, _) = current()?;
        let event = runtime.event(event)?;
        event.synchronize()?;
        runtime.device(event.device)?.check()
    }

    fn hipEventElapsedTime(milliseconds: Out<f32>, start: hipEvent_t, stop: hipEvent_t) {
        let (runtime, _) = current()?;
        if milliseconds.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (start, stop) = (runtime.event(start)?, runtime.event(stop)?);
        milliseconds.set(start.elapsed_ms(&stop)?)
    }
}

fn create(event: Out<hipEvent_t>, flags: c_uint) -> Answer {
    let (runtime, device) = current()?;
    let release = hipEventReleaseToDevice | hipEventReleaseToSystem;
    // HIP 5 took such a flag without the other.
    let shared = flags & hipEventInterprocess != 0;
    let timed_and_shared = shared && flags & hipEventDisableTiming == 0 && abi::major() >= 6;
    if event.is_null()
        || flags & !KNOWN_FLAGS != 0
        || flags & release == release
        || timed_and_shared
    {
        return Err(hipErrorInvalidValue);
    }
    let shared = match shared.then(SharedEvent::new).transpose() {
        Ok(shared) => shared.map(Arc::new),
        Err(error) => {
            eprintln!("hip-emu: an event for several processes: {error}");
            return Err(hipErrorOutOfMemory);
        }
    };
    event.set(Event::add(runtime, device.id(), flags, shared))
}

fn record(event: hipEvent_t, stream: hipStream_t, flags: c_uint) -> Answer {
    let (runtime, _) = current()?;
    let event = runtime.event(event)?;
    let stream = runtime.stream(stream)?;
    match flags {
        hipEventRecordDefault => event.record(runtime, &stream),
        hipEventRecordExternal => match events::external_record(runtime, &stream, &event)? {
            true => Ok(()),
            false => event.record(runtime, &stream),
        },
        _unknown => Err(hipErrorInvalidValue),
    }
}
