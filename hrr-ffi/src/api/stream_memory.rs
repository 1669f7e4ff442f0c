//! Streams that wait for words of memory, or write them.

use core::ffi::{c_uint, c_void};

use hrr_macros::api;

use crate::types::{hipError_t, hipStream_t, hipStreamBatchMemOpParams};

#[api(group = "stream_memory")]
unsafe extern "C" {
    /// Lets later work wait until a word meets a condition. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipStreamWaitValue32(
        stream: hipStream_t,
        #[device_ptr] ptr: *mut c_void,
        value: u32,
        flags: c_uint,
        mask: u32,
    ) -> hipError_t;

    /// Lets later work wait until a word meets a condition. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipStreamWaitValue64(
        stream: hipStream_t,
        #[device_ptr] ptr: *mut c_void,
        value: u64,
        flags: c_uint,
        mask: u64,
    ) -> hipError_t;

    /// Writes a word when the work so far is done. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipStreamWriteValue32(
        stream: hipStream_t,
        #[device_ptr] ptr: *mut c_void,
        value: u32,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes a word when the work so far is done. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipStreamWriteValue64(
        stream: hipStream_t,
        #[device_ptr] ptr: *mut c_void,
        value: u64,
        flags: c_uint,
    ) -> hipError_t;

    /// Does several waits and writes. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipStreamBatchMemOp(
        stream: hipStream_t,
        count: c_uint,
        #[deref(count = count)] paramArray: *mut hipStreamBatchMemOpParams,
        flags: c_uint,
    ) -> hipError_t;
}
