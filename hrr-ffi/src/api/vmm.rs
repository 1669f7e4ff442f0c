//! Address ranges and physical memory as separate things.

use core::ffi::{c_ulonglong, c_void};

use hrr_macros::api;

use crate::types::{
    hipError_t, hipMemAccessDesc, hipMemAllocationGranularity_flags, hipMemAllocationProp,
    hipMemGenericAllocationHandle_t, hipMemLocation,
};

#[api(group = "vmm")]
unsafe extern "C" {
    /// Writes the start of a reserved range of addresses. (HIP 7.1)
    #[replay(with = crate::families::memory::replay_reserve)]
    pub fn hipMemAddressReserve(
        #[out_device_ptr(bytes = size)] ptr: *mut *mut c_void,
        size: usize,
        alignment: usize,
        #[opaque(reason = "a wish that replay does not need: it places by itself")]
        addr: *mut c_void,
        flags: c_ulonglong,
    ) -> hipError_t;

    /// Ends a reservation. (HIP 7.1)
    pub fn hipMemAddressFree(#[frees] devPtr: *mut c_void, size: usize) -> hipError_t;

    /// Writes a handle of new physical memory. (HIP 7.1)
    pub fn hipMemCreate(
        #[out_handle] handle: *mut hipMemGenericAllocationHandle_t,
        size: usize,
        #[deref] prop: *const hipMemAllocationProp,
        flags: c_ulonglong,
    ) -> hipError_t;

    /// Ends the program's hold on physical memory. (HIP 7.1)
    pub fn hipMemRelease(#[destroys] handle: hipMemGenericAllocationHandle_t) -> hipError_t;

    /// Puts physical memory behind reserved addresses. (HIP 7.1)
    pub fn hipMemMap(
        #[device_ptr] ptr: *mut c_void,
        size: usize,
        offset: usize,
        handle: hipMemGenericAllocationHandle_t,
        flags: c_ulonglong,
    ) -> hipError_t;

    /// Takes the physical memory from behind reserved addresses. (HIP 7.1)
    pub fn hipMemUnmap(#[device_ptr] ptr: *mut c_void, size: usize) -> hipError_t;

    /// Says which places may use a mapping. (HIP 7.1)
    pub fn hipMemSetAccess(
        #[device_ptr] ptr: *mut c_void,
        size: usize,
        #[deref(count = count)] desc: *const hipMemAccessDesc,
        count: usize,
    ) -> hipError_t;

    /// Writes how a place may use a mapping. (HIP 7.1)
    pub fn hipMemGetAccess(
        #[out] flags: *mut c_ulonglong,
        #[deref] location: *const hipMemLocation,
        #[device_ptr] ptr: *mut c_void,
    ) -> hipError_t;

    /// Writes what sizes of physical memory are multiples of. (HIP 7.1)
    pub fn hipMemGetAllocationGranularity(
        #[out(machine)] granularity: *mut usize,
        #[deref] prop: *const hipMemAllocationProp,
        option: hipMemAllocationGranularity_flags,
    ) -> hipError_t;

    /// Writes what physical memory was made of. (HIP 7.1)
    pub fn hipMemGetAllocationPropertiesFromHandle(
        #[out] prop: *mut hipMemAllocationProp,
        handle: hipMemGenericAllocationHandle_t,
    ) -> hipError_t;

    /// Writes the handle of the physical memory behind an address, and holds it once more.
    /// (HIP 7.1)
    pub fn hipMemRetainAllocationHandle(
        #[out_handle] handle: *mut hipMemGenericAllocationHandle_t,
        #[device_ptr] addr: *mut c_void,
    ) -> hipError_t;
}
