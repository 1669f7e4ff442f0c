//! Several operations in one call.

use core::ffi::{c_uint, c_ulonglong, c_void};

use hrr_macros::api;

use crate::types::{
    hipDeviceptr_t, hipError_t, hipMemLocation, hipMemRangeAttribute, hipMemcpy3DBatchOp,
    hipMemcpyAttributes, hipPointer_attribute, hipStream_t,
};

#[api(group = "batch")]
unsafe extern "C" {
    /// Copies between addresses of the device; writes the number of the copy that failed. An
    /// address that is not the device's is refused at replay. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyBatchAsync(
        #[deref(count = count, each = device_ptr)] dsts: *mut *mut c_void,
        #[deref(count = count, each = device_ptr)] srcs: *mut *mut c_void,
        #[deref(count = count)] sizes: *mut usize,
        count: usize,
        #[deref(count = numAttrs)] attrs: *mut hipMemcpyAttributes,
        #[deref(count = numAttrs)] attrsIdxs: *mut usize,
        numAttrs: usize,
        #[out] failIdx: *mut usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies boxes; writes the number of the copy that failed. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpy3DBatchAsync(
        numOps: usize,
        #[deref(count = numOps)] opList: *mut hipMemcpy3DBatchOp,
        #[out] failIdx: *mut usize,
        flags: c_ulonglong,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Moves ranges to places. (HIP 7.14)
    #[effect(enqueues = stream)]
    pub fn hipMemPrefetchBatchAsync(
        #[deref(count = count, each = device_ptr)] dev_ptrs: *mut *mut c_void,
        #[deref(count = count)] sizes: *mut usize,
        count: usize,
        #[deref(count = num_prefetch_locs)] prefetch_locs: *mut hipMemLocation,
        #[deref(count = num_prefetch_locs)] prefetch_loc_idxs: *mut usize,
        num_prefetch_locs: usize,
        flags: c_ulonglong,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Says that the contents of ranges are not needed. (HIP 7.14)
    #[effect(enqueues = stream)]
    pub fn hipMemDiscardBatchAsync(
        #[deref(count = count, each = device_ptr)] dev_ptrs: *mut *mut c_void,
        #[deref(count = count)] sizes: *mut usize,
        count: usize,
        flags: c_ulonglong,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Says that the contents of ranges are not needed. (HIP 7.14)
    #[effect(enqueues = stream)]
    pub fn hipDrvMemDiscardBatchAsync(
        #[deref(count = count, each = device_ptr)] dptrs: *mut hipDeviceptr_t,
        #[deref(count = count)] sizes: *mut usize,
        count: usize,
        flags: c_ulonglong,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Says that the contents of ranges are not needed, and moves them to places. (HIP 7.14)
    #[effect(enqueues = stream)]
    pub fn hipMemDiscardAndPrefetchBatchAsync(
        #[deref(count = count, each = device_ptr)] dptrs: *mut *mut c_void,
        #[deref(count = count)] sizes: *mut usize,
        count: usize,
        #[deref(count = numPrefetchLocs)] prefetchLocs: *mut hipMemLocation,
        #[deref(count = numPrefetchLocs)] prefetchLocIdxs: *mut usize,
        numPrefetchLocs: usize,
        flags: c_ulonglong,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Says that the contents of ranges are not needed, and moves them to places. (HIP 7.14)
    #[effect(enqueues = stream)]
    pub fn hipDrvMemDiscardAndPrefetchBatchAsync(
        #[deref(count = count, each = device_ptr)] dptrs: *mut hipDeviceptr_t,
        #[deref(count = count)] sizes: *mut usize,
        count: usize,
        #[deref(count = numPrefetchLocs)] prefetchLocs: *mut hipMemLocation,
        #[deref(count = numPrefetchLocs)] prefetchLocIdxs: *mut usize,
        numPrefetchLocs: usize,
        flags: c_ulonglong,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Writes several properties of a range. (HIP 7.1)
    #[host(reason = "asks for facts of the machine, through an array of pointers to answers")]
    pub fn hipMemRangeGetAttributes(
        #[opaque(reason = "an array of pointers to answers, which are facts of the machine")] data: *mut *mut c_void,
        #[deref(count = num_attributes)] data_sizes: *mut usize,
        #[deref(count = num_attributes)] attributes: *mut hipMemRangeAttribute,
        num_attributes: usize,
        #[device_ptr] dev_ptr: *const c_void,
        count: usize,
    ) -> hipError_t;

    /// Writes several properties of an address. (HIP 7.1)
    #[host(reason = "asks for facts of the machine, through an array of pointers to answers")]
    pub fn hipDrvPointerGetAttributes(
        numAttributes: c_uint,
        #[deref(count = numAttributes)] attributes: *mut hipPointer_attribute,
        #[opaque(reason = "an array of pointers to answers, which are facts of the machine")] data: *mut *mut c_void,
        #[device_ptr] ptr: hipDeviceptr_t,
    ) -> hipError_t;

    /// Maps parts of sparse arrays. (HIP 7.1)
    #[unreplayable(
        reason = "the list holds arrays and memory in unions whose layout belongs to the runtime"
    )]
    #[effect(enqueues = stream)]
    pub fn hipMemMapArrayAsync(
        #[host_in(bytes = count * 152)] mapInfoList: *mut c_void,
        count: c_uint,
        stream: hipStream_t,
    ) -> hipError_t;
}
