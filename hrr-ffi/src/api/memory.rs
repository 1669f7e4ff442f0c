//! Device memory: allocation, fills, and what the runtime knows about an address.

use core::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};

use hrr_macros::api;

use crate::types::{
    hipDeviceptr_t, hipError_t, hipExtent, hipPitchedPtr, hipPointer_attribute,
    hipPointerAttribute_t, hipStream_t,
};

#[api(group = "memory")]
unsafe extern "C" {
    /// Writes the address of new device memory; null for size 0. (HIP 7.1)
    pub fn hipMalloc(
        #[out_alloc(bytes = size, space = device)] ptr: *mut *mut c_void,
        size: usize,
    ) -> hipError_t;

    /// Writes the address of new device memory, which may be fine-grained or for signals. (HIP 7.1)
    pub fn hipExtMallocWithFlags(
        #[out_alloc(bytes = sizeBytes, space = crate::families::memory::ext_space)]
        ptr: *mut *mut c_void,
        sizeBytes: usize,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes the address of new rows and the bytes from row to row. (HIP 7.1)
    pub fn hipMallocPitch(
        #[out_alloc(bytes = after(pitch) * height, space = device)] ptr: *mut *mut c_void,
        #[out(machine)] pitch: *mut usize,
        width: usize,
        height: usize,
    ) -> hipError_t;

    /// Writes the address of new rows and the bytes from row to row. (HIP 7.1)
    pub fn hipMemAllocPitch(
        #[out_alloc(bytes = after(pitch) * height, space = device)] dptr: *mut hipDeviceptr_t,
        #[out(machine)] pitch: *mut usize,
        widthInBytes: usize,
        height: usize,
        elementSizeBytes: c_uint,
    ) -> hipError_t;

    /// Writes the address, pitch and sizes of a new box. (HIP 7.1)
    #[capture(with = crate::families::memory::capture_malloc_3d)]
    #[replay(with = crate::families::memory::replay_malloc_3d)]
    pub fn hipMalloc3D(#[out] pitchedDevPtr: *mut hipPitchedPtr, extent: hipExtent) -> hipError_t;

    /// Ends an allocation, once the device's work is done. (HIP 7.1)
    #[effect(completes_device)]
    #[validated]
    pub fn hipFree(#[frees] ptr: *mut c_void) -> hipError_t;

    /// Writes the free and the total bytes of the device. (HIP 7.1)
    pub fn hipMemGetInfo(
        #[out(machine)] free: *mut usize,
        #[out(machine)] total: *mut usize,
    ) -> hipError_t;

    /// Writes the bytes of the allocation that starts at an address. (HIP 7.1)
    pub fn hipMemPtrGetInfo(#[device_ptr] ptr: *mut c_void, #[out] size: *mut usize) -> hipError_t;

    /// Writes the start and the bytes of the allocation that holds an address; either pointer may
    /// be null. (HIP 7.1)
    #[validated]
    pub fn hipMemGetAddressRange(
        #[out_device_ptr] pbase: *mut hipDeviceptr_t,
        #[out] psize: *mut usize,
        #[device_ptr] dptr: hipDeviceptr_t,
    ) -> hipError_t;

    /// Writes what the runtime knows about an address. Runtimes before 6.0 fail for one that they
    /// do not know. (HIP 7.1)
    #[validated]
    pub fn hipPointerGetAttributes(
        #[out(machine)] attributes: *mut hipPointerAttribute_t,
        #[device_ptr] ptr: *const c_void,
    ) -> hipError_t;

    /// Writes one thing the runtime knows about an address. (HIP 7.1)
    #[validated]
    pub fn hipPointerGetAttribute(
        #[tagged(by = attribute, table = crate::families::tags::POINTER_ATTRIBUTES, out)]
        data: *mut c_void,
        attribute: hipPointer_attribute,
        #[device_ptr] ptr: hipDeviceptr_t,
    ) -> hipError_t;

    /// Sets one thing about an address. (HIP 7.1)
    #[validated]
    pub fn hipPointerSetAttribute(
        #[tagged(by = attribute, table = crate::families::tags::POINTER_ATTRIBUTES)]
        value: *const c_void,
        attribute: hipPointer_attribute,
        #[device_ptr] ptr: hipDeviceptr_t,
    ) -> hipError_t;

    /// Fills bytes. (HIP 7.1)
    pub fn hipMemset(#[device_ptr] dst: *mut c_void, value: c_int, sizeBytes: usize) -> hipError_t;

    /// Fills bytes. (HIP 7.1)
    pub fn hipMemset_spt(
        #[device_ptr] dst: *mut c_void,
        value: c_int,
        sizeBytes: usize,
    ) -> hipError_t;

    /// Fills bytes, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemsetAsync(
        #[device_ptr] dst: *mut c_void,
        value: c_int,
        sizeBytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Fills bytes, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemsetAsync_spt(
        #[device_ptr] dst: *mut c_void,
        value: c_int,
        sizeBytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Fills bytes. (HIP 7.1)
    pub fn hipMemsetD8(
        #[device_ptr] dest: hipDeviceptr_t,
        value: c_uchar,
        count: usize,
    ) -> hipError_t;

    /// Fills bytes, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemsetD8Async(
        #[device_ptr] dest: hipDeviceptr_t,
        value: c_uchar,
        count: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Fills 16-bit words. (HIP 7.1)
    pub fn hipMemsetD16(
        #[device_ptr] dest: hipDeviceptr_t,
        value: c_ushort,
        count: usize,
    ) -> hipError_t;

    /// Fills 16-bit words, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemsetD16Async(
        #[device_ptr] dest: hipDeviceptr_t,
        value: c_ushort,
        count: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Fills 32-bit words. (HIP 7.1)
    pub fn hipMemsetD32(
        #[device_ptr] dest: hipDeviceptr_t,
        value: c_int,
        count: usize,
    ) -> hipError_t;

    /// Fills 32-bit words, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemsetD32Async(
        #[device_ptr] dst: hipDeviceptr_t,
        value: c_int,
        count: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Fills rows of bytes. (HIP 7.1)
    pub fn hipMemset2D(
        #[device_ptr] dst: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
    ) -> hipError_t;

    /// Fills rows of bytes. (HIP 7.1)
    pub fn hipMemset2D_spt(
        #[device_ptr] dst: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
    ) -> hipError_t;

    /// Fills rows of bytes, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemset2DAsync(
        #[device_ptr] dst: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Fills rows of bytes, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemset2DAsync_spt(
        #[device_ptr] dst: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Fills a box of bytes. (HIP 7.1)
    pub fn hipMemset3D(pitchedDevPtr: hipPitchedPtr, value: c_int, extent: hipExtent)
    -> hipError_t;

    /// Fills a box of bytes. (HIP 7.1)
    pub fn hipMemset3D_spt(
        pitchedDevPtr: hipPitchedPtr,
        value: c_int,
        extent: hipExtent,
    ) -> hipError_t;

    /// Fills a box of bytes, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemset3DAsync(
        pitchedDevPtr: hipPitchedPtr,
        value: c_int,
        extent: hipExtent,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Fills a box of bytes, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemset3DAsync_spt(
        pitchedDevPtr: hipPitchedPtr,
        value: c_int,
        extent: hipExtent,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Fills rows of bytes. (HIP 7.1)
    pub fn hipMemsetD2D8(
        #[device_ptr] dst: hipDeviceptr_t,
        dstPitch: usize,
        value: c_uchar,
        width: usize,
        height: usize,
    ) -> hipError_t;

    /// Fills rows of bytes, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemsetD2D8Async(
        #[device_ptr] dst: hipDeviceptr_t,
        dstPitch: usize,
        value: c_uchar,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Fills rows of 16-bit words. (HIP 7.1)
    pub fn hipMemsetD2D16(
        #[device_ptr] dst: hipDeviceptr_t,
        dstPitch: usize,
        value: c_ushort,
        width: usize,
        height: usize,
    ) -> hipError_t;

    /// Fills rows of 16-bit words, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemsetD2D16Async(
        #[device_ptr] dst: hipDeviceptr_t,
        dstPitch: usize,
        value: c_ushort,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Fills rows of 32-bit words. (HIP 7.1)
    pub fn hipMemsetD2D32(
        #[device_ptr] dst: hipDeviceptr_t,
        dstPitch: usize,
        value: c_uint,
        width: usize,
        height: usize,
    ) -> hipError_t;

    /// Fills rows of 32-bit words, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemsetD2D32Async(
        #[device_ptr] dst: hipDeviceptr_t,
        dstPitch: usize,
        value: c_uint,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) -> hipError_t;
}
