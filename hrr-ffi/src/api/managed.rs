//! Memory that host and device reach at one address.

use core::ffi::{c_int, c_uint, c_void};

use hrr_macros::api;

use crate::types::{
    hipError_t, hipMemLocation, hipMemRangeAttribute, hipMemoryAdvise, hipStream_t,
};

#[api(group = "managed")]
unsafe extern "C" {
    /// Writes the address of new managed memory. (HIP 7.1)
    pub fn hipMallocManaged(
        #[out_alloc(bytes = size, space = managed)] dev_ptr: *mut *mut c_void,
        size: usize,
        flags: c_uint,
    ) -> hipError_t;

    /// Moves a range to a device; device -1 is the host. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemPrefetchAsync(
        #[device_ptr] dev_ptr: *const c_void,
        count: usize,
        device: c_int,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Moves a range to a place. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemPrefetchAsync_v2(
        #[device_ptr] dev_ptr: *const c_void,
        count: usize,
        location: hipMemLocation,
        flags: c_uint,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Gives a hint on the use of a range; device -1 is the host. (HIP 7.1)
    pub fn hipMemAdvise(
        #[device_ptr] dev_ptr: *const c_void,
        count: usize,
        advice: hipMemoryAdvise,
        device: c_int,
    ) -> hipError_t;

    /// Gives a hint on the use of a range. (HIP 7.1)
    pub fn hipMemAdvise_v2(
        #[device_ptr] dev_ptr: *const c_void,
        count: usize,
        advice: hipMemoryAdvise,
        location: hipMemLocation,
    ) -> hipError_t;

    /// Writes a property of a range, `data_size` bytes. (HIP 7.1)
    pub fn hipMemRangeGetAttribute(
        #[host_out(bytes = data_size, machine)] data: *mut c_void,
        data_size: usize,
        attribute: hipMemRangeAttribute,
        #[device_ptr] dev_ptr: *const c_void,
        count: usize,
    ) -> hipError_t;
}
