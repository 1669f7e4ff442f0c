//! Memory that is allocated and freed in the order of a stream.

use core::ffi::{c_int, c_void};

use hrr_macros::api;

use crate::types::{
    hipError_t, hipMemAccessDesc, hipMemAccessFlags, hipMemAllocationType, hipMemLocation,
    hipMemPool_t, hipMemPoolAttr, hipMemPoolProps, hipStream_t,
};

#[api(group = "pool")]
unsafe extern "C" {
    /// Writes the address of memory that the stream's later work may use. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMallocAsync(
        #[out_alloc(bytes = size, space = device)] dev_ptr: *mut *mut c_void,
        size: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Writes the address of memory of a pool that the stream's later work may use. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMallocFromPoolAsync(
        #[out_alloc(bytes = size, space = device)] dev_ptr: *mut *mut c_void,
        size: usize,
        mem_pool: hipMemPool_t,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Ends an allocation once the stream's work so far is done. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipFreeAsync(#[frees] dev_ptr: *mut c_void, stream: hipStream_t) -> hipError_t;

    /// Writes the pool that a device starts with. (HIP 7.1)
    pub fn hipDeviceGetDefaultMemPool(
        #[out_handle] mem_pool: *mut hipMemPool_t,
        #[device] device: c_int,
    ) -> hipError_t;

    /// Sets the current pool of a device. (HIP 7.1)
    pub fn hipDeviceSetMemPool(#[device] device: c_int, mem_pool: hipMemPool_t) -> hipError_t;

    /// Writes the current pool of a device. (HIP 7.1)
    pub fn hipDeviceGetMemPool(
        #[out_handle] mem_pool: *mut hipMemPool_t,
        #[device] device: c_int,
    ) -> hipError_t;

    /// Writes the current pool of a place. (HIP 7.1)
    pub fn hipMemGetMemPool(
        #[out_handle] pool: *mut hipMemPool_t,
        #[deref] location: *mut hipMemLocation,
        r#type: hipMemAllocationType,
    ) -> hipError_t;

    /// Sets the current pool of a place. (HIP 7.1)
    pub fn hipMemSetMemPool(
        #[deref] location: *mut hipMemLocation,
        r#type: hipMemAllocationType,
        pool: hipMemPool_t,
    ) -> hipError_t;

    /// Writes the pool that a place starts with. (CUDA: cudaMemGetDefaultMemPool)
    pub fn hipMemGetDefaultMemPool(
        #[out_handle] memPool: *mut hipMemPool_t,
        #[deref] location: *mut hipMemLocation,
        r#type: hipMemAllocationType,
    ) -> hipError_t;

    /// Writes a new pool. (HIP 7.1)
    pub fn hipMemPoolCreate(
        #[out_handle] mem_pool: *mut hipMemPool_t,
        #[deref] pool_props: *const hipMemPoolProps,
    ) -> hipError_t;

    /// Ends a pool. (HIP 7.1)
    pub fn hipMemPoolDestroy(#[destroys] mem_pool: hipMemPool_t) -> hipError_t;

    /// Gives memory that the pool does not use back. (HIP 7.1)
    pub fn hipMemPoolTrimTo(mem_pool: hipMemPool_t, min_bytes_to_hold: usize) -> hipError_t;

    /// Sets a property of a pool: reads an int or a 64-bit number. (HIP 7.1)
    pub fn hipMemPoolSetAttribute(
        mem_pool: hipMemPool_t,
        attr: hipMemPoolAttr,
        #[tagged(by = attr, table = crate::families::tags::POOL_ATTRIBUTES)] value: *mut c_void,
    ) -> hipError_t;

    /// Writes a property of a pool: an int or a 64-bit number. (HIP 7.1)
    pub fn hipMemPoolGetAttribute(
        mem_pool: hipMemPool_t,
        attr: hipMemPoolAttr,
        #[tagged(by = attr, table = crate::families::tags::POOL_ATTRIBUTES, out)]
        value: *mut c_void,
    ) -> hipError_t;

    /// Says which places may use the memory of a pool. (HIP 7.1)
    pub fn hipMemPoolSetAccess(
        mem_pool: hipMemPool_t,
        #[deref(count = count)] desc_list: *const hipMemAccessDesc,
        count: usize,
    ) -> hipError_t;

    /// Writes how a place may use the memory of a pool. (HIP 7.1)
    pub fn hipMemPoolGetAccess(
        #[out] flags: *mut hipMemAccessFlags,
        mem_pool: hipMemPool_t,
        #[deref] location: *mut hipMemLocation,
    ) -> hipError_t;
}
