//! Sharing with other processes. What is handed out is a fact of the machine; what comes from
//! another process cannot be had again, and what that process stores in shared memory neither.

use core::ffi::{c_uint, c_ulonglong, c_void};

use hrr_macros::api;

use crate::types::{
    hipDeviceptr_t, hipError_t, hipEvent_t, hipIpcEventHandle_t, hipIpcMemHandle_t,
    hipMemAllocationHandleType, hipMemGenericAllocationHandle_t, hipMemPool_t,
    hipMemPoolPtrExportData, hipMemRangeHandleType,
};

#[api(group = "ipc")]
unsafe extern "C" {
    /// Writes the 64 bytes by which another process opens an allocation. (HIP 7.1)
    #[effect(exports_memory)]
    pub fn hipIpcGetMemHandle(
        #[out(machine)] handle: *mut hipIpcMemHandle_t,
        #[device_ptr] devPtr: *mut c_void,
    ) -> hipError_t;

    /// Writes the address at which an allocation of another process is mapped. (HIP 7.1)
    pub fn hipIpcOpenMemHandle(
        #[out_device_ptr] devPtr: *mut *mut c_void,
        #[os_handle] handle: hipIpcMemHandle_t,
        flags: c_uint,
    ) -> hipError_t;

    /// Ends what `hipIpcOpenMemHandle` mapped. (HIP 7.1)
    pub fn hipIpcCloseMemHandle(#[frees] devPtr: *mut c_void) -> hipError_t;

    /// Writes the 64 bytes by which another process opens an event. (HIP 7.1)
    pub fn hipIpcGetEventHandle(
        #[out(machine)] handle: *mut hipIpcEventHandle_t,
        event: hipEvent_t,
    ) -> hipError_t;

    /// Writes an event of another process. (HIP 7.1)
    pub fn hipIpcOpenEventHandle(
        #[out_handle] event: *mut hipEvent_t,
        #[os_handle] handle: hipIpcEventHandle_t,
    ) -> hipError_t;

    /// Writes a handle of the operating system: a file descriptor of 4 bytes, or 8 bytes on
    /// Windows. (HIP 7.1)
    #[effect(exports_memory)]
    pub fn hipMemExportToShareableHandle(
        #[out_buffer(bytes = crate::families::sharing::handle_bytes, machine)]
        shareableHandle: *mut c_void,
        handle: hipMemGenericAllocationHandle_t,
        handleType: hipMemAllocationHandleType,
        flags: c_ulonglong,
    ) -> hipError_t;

    /// Writes a handle of physical memory of another process. (HIP 7.1)
    #[unreplayable(
        reason = "the handle of the operating system belongs to the process that exported it"
    )]
    pub fn hipMemImportFromShareableHandle(
        #[out_handle] handle: *mut hipMemGenericAllocationHandle_t,
        #[os_handle] osHandle: *mut c_void,
        shHandleType: hipMemAllocationHandleType,
    ) -> hipError_t;

    /// Writes a handle of the operating system: a file descriptor of 4 bytes, or 8 bytes on
    /// Windows. (HIP 7.1)
    #[effect(exports_memory)]
    pub fn hipMemPoolExportToShareableHandle(
        #[out_buffer(bytes = crate::families::sharing::pool_handle_bytes, machine)]
        shared_handle: *mut c_void,
        mem_pool: hipMemPool_t,
        handle_type: hipMemAllocationHandleType,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes a pool of another process. (HIP 7.1)
    #[unreplayable(
        reason = "the handle of the operating system belongs to the process that exported it"
    )]
    pub fn hipMemPoolImportFromShareableHandle(
        #[out_handle] mem_pool: *mut hipMemPool_t,
        #[os_handle] shared_handle: *mut c_void,
        handle_type: hipMemAllocationHandleType,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes the 64 bytes by which another process finds an allocation in an imported pool.
    /// (HIP 7.1)
    #[effect(exports_memory)]
    pub fn hipMemPoolExportPointer(
        #[out(machine)] export_data: *mut hipMemPoolPtrExportData,
        #[device_ptr] dev_ptr: *mut c_void,
    ) -> hipError_t;

    /// Writes the address of an allocation in an imported pool. (HIP 7.1)
    pub fn hipMemPoolImportPointer(
        #[out_device_ptr] dev_ptr: *mut *mut c_void,
        mem_pool: hipMemPool_t,
        #[os_handle(bytes = 64)] export_data: *mut hipMemPoolPtrExportData,
    ) -> hipError_t;

    /// Writes a file descriptor for a range: the only kind of handle is a DMA buffer's. (HIP 7.1)
    #[effect(exports_memory)]
    pub fn hipMemGetHandleForAddressRange(
        #[out_buffer(bytes = 4, machine)] handle: *mut c_void,
        #[device_ptr] dptr: hipDeviceptr_t,
        size: usize,
        handleType: hipMemRangeHandleType,
        flags: c_ulonglong,
    ) -> hipError_t;
}
