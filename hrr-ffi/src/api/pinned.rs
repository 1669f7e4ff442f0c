//! Host memory that the device reaches: allocated by the runtime, or registered with it.

use core::ffi::{c_uint, c_void};

use hrr_macros::api;

use crate::types::hipError_t;

#[api(group = "pinned")]
unsafe extern "C" {
    /// Writes the address of new host memory. (HIP 7.1)
    pub fn hipHostMalloc(
        #[out_alloc(bytes = size, space = pinned)] ptr: *mut *mut c_void,
        size: usize,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes the address of new host memory. (HIP 7.1)
    pub fn hipHostAlloc(
        #[out_alloc(bytes = size, space = pinned)] ptr: *mut *mut c_void,
        size: usize,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes the address of new host memory; the signature is the dispatch table's. (HIP 7.1)
    pub fn hipExtHostAlloc(
        #[out_alloc(bytes = size, space = pinned)] ptr: *mut *mut c_void,
        size: usize,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes the address of new host memory; deprecated. (HIP 7.1)
    pub fn hipMallocHost(
        #[out_alloc(bytes = size, space = pinned)] ptr: *mut *mut c_void,
        size: usize,
    ) -> hipError_t;

    /// Writes the address of new host memory; deprecated. (HIP 7.1)
    pub fn hipMemAllocHost(
        #[out_alloc(bytes = size, space = pinned)] ptr: *mut *mut c_void,
        size: usize,
    ) -> hipError_t;

    /// Ends an allocation of host memory, once the device's work is done. (HIP 7.1)
    #[effect(completes_device)]
    #[validated]
    pub fn hipHostFree(#[frees] ptr: *mut c_void) -> hipError_t;

    /// Ends an allocation of host memory, once the device's work is done. (HIP 7.1)
    #[effect(completes_device)]
    #[validated]
    pub fn hipFreeHost(#[frees] ptr: *mut c_void) -> hipError_t;

    /// Lets the device reach memory of the program. (HIP 7.1)
    pub fn hipHostRegister(
        #[registers_host(bytes = sizeBytes)] hostPtr: *mut c_void,
        sizeBytes: usize,
        flags: c_uint,
    ) -> hipError_t;

    /// Ends what `hipHostRegister` began. (HIP 7.1)
    #[validated]
    pub fn hipHostUnregister(#[unregisters_host] hostPtr: *mut c_void) -> hipError_t;

    /// Writes the address by which the device reaches host memory. (HIP 7.1)
    #[validated]
    pub fn hipHostGetDevicePointer(
        #[out_device_ptr] devPtr: *mut *mut c_void,
        #[device_ptr] hstPtr: *mut c_void,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes the flags of an allocation of host memory. (HIP 7.1)
    #[validated]
    pub fn hipHostGetFlags(
        #[out] flagsPtr: *mut c_uint,
        #[device_ptr] hostPtr: *mut c_void,
    ) -> hipError_t;
}
