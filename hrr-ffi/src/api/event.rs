//! Events.

use core::ffi::c_uint;

use hrr_macros::api;

use crate::types::{hipError_t, hipEvent_t, hipStream_t};

#[api(group = "event")]
unsafe extern "C" {
    /// Writes a new event. (HIP 7.1)
    pub fn hipEventCreate(#[out_handle] event: *mut hipEvent_t) -> hipError_t;

    /// Writes a new event. (HIP 7.1)
    pub fn hipEventCreateWithFlags(
        #[out_handle] event: *mut hipEvent_t,
        flags: c_uint,
    ) -> hipError_t;

    /// Ends an event. (HIP 7.1)
    pub fn hipEventDestroy(#[destroys] event: hipEvent_t) -> hipError_t;

    /// Makes the event stand for the stream's work so far. (HIP 7.1)
    #[effect(records_event = (event, stream))]
    pub fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;

    /// Makes the event stand for the stream's work so far. (HIP 7.1)
    #[effect(records_event = (event, stream))]
    pub fn hipEventRecord_spt(event: hipEvent_t, stream: hipStream_t) -> hipError_t;

    /// Makes the event stand for the stream's work so far. (HIP 7.1)
    #[effect(records_event = (event, stream))]
    pub fn hipEventRecordWithFlags(
        event: hipEvent_t,
        stream: hipStream_t,
        flags: c_uint,
    ) -> hipError_t;

    /// Answers whether the work before the event is done. (HIP 7.1)
    #[query(wait = hipEventSynchronize)]
    #[effect(completes_event = event)]
    pub fn hipEventQuery(event: hipEvent_t) -> hipError_t;

    /// Waits until the work before the event is done. (HIP 7.1)
    #[effect(completes_event = event)]
    pub fn hipEventSynchronize(event: hipEvent_t) -> hipError_t;

    /// Writes the milliseconds between two events. (HIP 7.1)
    pub fn hipEventElapsedTime(
        #[out(machine)] ms: *mut f32,
        start: hipEvent_t,
        stop: hipEvent_t,
    ) -> hipError_t;
}
