//! Streams. Handle 1 is the legacy default stream, 2 the default stream of the calling thread; the
//! functions that end in `_spt` take null for the latter.

use core::ffi::{c_int, c_uint, c_ulonglong, c_void};

use hrr_macros::api;

use crate::types::{
    hipDevice_t, hipError_t, hipEvent_t, hipHostFn_t, hipLaunchAttributeID,
    hipLaunchAttributeValue, hipStream_t, hipStreamCallback_t,
};

#[api(group = "stream")]
unsafe extern "C" {
    /// Writes a new stream of the current device. (HIP 7.1)
    #[effect(makes_stream = stream)]
    pub fn hipStreamCreate(#[out_handle] stream: *mut hipStream_t) -> hipError_t;

    /// Writes a new stream, which may be one that the null stream does not wait for. (HIP 7.1)
    #[effect(makes_stream = (stream, flags))]
    pub fn hipStreamCreateWithFlags(
        #[out_handle] stream: *mut hipStream_t,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes a new stream with a priority. (HIP 7.1)
    #[effect(makes_stream = (stream, flags))]
    pub fn hipStreamCreateWithPriority(
        #[out_handle] stream: *mut hipStream_t,
        flags: c_uint,
        priority: c_int,
    ) -> hipError_t;

    /// Writes a new stream that uses only the compute units in the mask. (HIP 7.1)
    #[effect(makes_stream = stream)]
    pub fn hipExtStreamCreateWithCUMask(
        #[out_handle] stream: *mut hipStream_t,
        cuMaskSize: u32,
        #[deref(count = cuMaskSize)] cuMask: *const u32,
    ) -> hipError_t;

    /// Ends a stream; its work goes on to its end. (HIP 7.1)
    #[validated]
    pub fn hipStreamDestroy(#[destroys] stream: hipStream_t) -> hipError_t;

    /// Answers whether all work of the stream is done. (HIP 7.1)
    #[query(wait = hipStreamSynchronize)]
    #[effect(completes_stream = stream)]
    #[validated]
    pub fn hipStreamQuery(stream: hipStream_t) -> hipError_t;

    /// Answers whether all work of the stream is done. (HIP 7.1)
    #[query(wait = hipStreamSynchronize_spt)]
    #[effect(completes_stream = stream)]
    #[validated]
    pub fn hipStreamQuery_spt(stream: hipStream_t) -> hipError_t;

    /// Waits until all work of the stream is done. (HIP 7.1)
    #[effect(completes_stream = stream)]
    #[validated]
    pub fn hipStreamSynchronize(stream: hipStream_t) -> hipError_t;

    /// Waits until all work of the stream is done. (HIP 7.1)
    #[effect(completes_stream = stream)]
    #[validated]
    pub fn hipStreamSynchronize_spt(stream: hipStream_t) -> hipError_t;

    /// Lets later work of the stream wait for an event. (HIP 7.1)
    #[effect(waits_event = (stream, event))]
    pub fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> hipError_t;

    /// Lets later work of the stream wait for an event. (HIP 7.1)
    #[effect(waits_event = (stream, event))]
    pub fn hipStreamWaitEvent_spt(
        stream: hipStream_t,
        event: hipEvent_t,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes the flags that the stream was made with. (HIP 7.1)
    #[validated]
    pub fn hipStreamGetFlags(stream: hipStream_t, #[out] flags: *mut c_uint) -> hipError_t;

    /// Writes the flags that the stream was made with. (HIP 7.1)
    #[validated]
    pub fn hipStreamGetFlags_spt(stream: hipStream_t, #[out] flags: *mut c_uint) -> hipError_t;

    /// Writes the number of the stream, which no other stream of the process has. (HIP 7.1)
    pub fn hipStreamGetId(
        stream: hipStream_t,
        #[out(machine)] streamId: *mut c_ulonglong,
    ) -> hipError_t;

    /// Writes the priority of the stream. (HIP 7.1)
    #[validated]
    pub fn hipStreamGetPriority(
        stream: hipStream_t,
        #[out(machine)] priority: *mut c_int,
    ) -> hipError_t;

    /// Writes the priority of the stream. (HIP 7.1)
    #[validated]
    pub fn hipStreamGetPriority_spt(
        stream: hipStream_t,
        #[out(machine)] priority: *mut c_int,
    ) -> hipError_t;

    /// Writes the device of the stream. (HIP 7.1)
    pub fn hipStreamGetDevice(stream: hipStream_t, #[out] device: *mut hipDevice_t) -> hipError_t;

    /// Answers the ordinal of the device of the stream. (HIP 7.1)
    pub fn hipGetStreamDeviceId(stream: hipStream_t) -> c_int;

    /// Writes which compute units the stream uses. (HIP 7.1)
    pub fn hipExtStreamGetCUMask(
        stream: hipStream_t,
        cuMaskSize: u32,
        #[out(count = cuMaskSize, machine)] cuMask: *mut u32,
    ) -> hipError_t;

    /// Lets a function of the program run when the work so far is done. (HIP 7.1)
    #[ordering]
    #[effect(enqueues = stream)]
    pub fn hipStreamAddCallback(
        stream: hipStream_t,
        #[callback] callback: hipStreamCallback_t,
        #[user_data] userData: *mut c_void,
        flags: c_uint,
    ) -> hipError_t;

    /// Lets a function of the program run when the work so far is done. (HIP 7.1)
    #[ordering]
    #[effect(enqueues = stream)]
    pub fn hipStreamAddCallback_spt(
        stream: hipStream_t,
        #[callback] callback: hipStreamCallback_t,
        #[user_data] userData: *mut c_void,
        flags: c_uint,
    ) -> hipError_t;

    /// Lets a function of the program run as an item of the stream's work. (HIP 7.1)
    #[ordering]
    #[effect(enqueues = stream)]
    pub fn hipLaunchHostFunc(
        stream: hipStream_t,
        #[callback] r#fn: hipHostFn_t,
        #[user_data] userData: *mut c_void,
    ) -> hipError_t;

    /// Lets a function of the program run as an item of the stream's work. (HIP 7.1)
    #[ordering]
    #[effect(enqueues = stream)]
    pub fn hipLaunchHostFunc_spt(
        stream: hipStream_t,
        #[callback] r#fn: hipHostFn_t,
        #[user_data] userData: *mut c_void,
    ) -> hipError_t;

    /// Says which stream uses a managed range; length 0 means all of it. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipStreamAttachMemAsync(
        stream: hipStream_t,
        #[device_ptr] dev_ptr: *mut c_void,
        length: usize,
        flags: c_uint,
    ) -> hipError_t;

    /// Sets an attribute of the stream. (HIP 7.1)
    pub fn hipStreamSetAttribute(
        stream: hipStream_t,
        attr: hipLaunchAttributeID,
        #[tagged(by = attr, table = crate::families::tags::LAUNCH_ATTRIBUTES)]
        value: *const hipLaunchAttributeValue,
    ) -> hipError_t;

    /// Writes an attribute of the stream: as many bytes as its type has. (HIP 7.1)
    pub fn hipStreamGetAttribute(
        stream: hipStream_t,
        attr: hipLaunchAttributeID,
        #[tagged(by = attr, table = crate::families::tags::LAUNCH_ATTRIBUTES, out)]
        value_out: *mut hipLaunchAttributeValue,
    ) -> hipError_t;

    /// Gives one stream the attributes of another. (HIP 7.1)
    pub fn hipStreamCopyAttributes(dst: hipStream_t, src: hipStream_t) -> hipError_t;
}
