//! Copies. The functions without a stream use the null stream; a copy to the host is done when they
//! return.

use core::ffi::c_void;

use hrr_macros::api;

use crate::types::{
    HIP_MEMCPY3D, hip_Memcpy2D, hipDeviceptr_t, hipError_t, hipMemcpy3DParms, hipMemcpyKind,
    hipStream_t,
};

#[api(group = "copy")]
unsafe extern "C" {
    /// Copies bytes. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpy(
        #[operand(kind = kind, bytes = sizeBytes)] dst: *mut c_void,
        #[operand(kind = kind, bytes = sizeBytes)] src: *const c_void,
        sizeBytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies bytes, on the calling thread's default stream. (HIP 7.1)
    pub fn hipMemcpy_spt(
        #[operand(kind = kind, bytes = sizeBytes)] dst: *mut c_void,
        #[operand(kind = kind, bytes = sizeBytes)] src: *const c_void,
        sizeBytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies bytes, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyAsync(
        #[operand(kind = kind, bytes = sizeBytes)] dst: *mut c_void,
        #[operand(kind = kind, bytes = sizeBytes)] src: *const c_void,
        sizeBytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies bytes, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyAsync_spt(
        #[operand(kind = kind, bytes = sizeBytes)] dst: *mut c_void,
        #[operand(kind = kind, bytes = sizeBytes)] src: *const c_void,
        sizeBytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies bytes on a stream and waits for it. (HIP 7.1)
    #[effect(enqueues = stream)]
    #[effect(completes_stream = stream)]
    pub fn hipMemcpyWithStream(
        #[operand(kind = kind, bytes = sizeBytes)] dst: *mut c_void,
        #[operand(kind = kind, bytes = sizeBytes)] src: *const c_void,
        sizeBytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies bytes to the device. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpyHtoD(
        #[device_ptr] dst: hipDeviceptr_t,
        #[operand(place = host, bytes = sizeBytes)] src: *const c_void,
        sizeBytes: usize,
    ) -> hipError_t;

    /// Copies bytes to the device, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyHtoDAsync(
        #[device_ptr] dst: hipDeviceptr_t,
        #[operand(place = host, bytes = sizeBytes)] src: *const c_void,
        sizeBytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies bytes to the host. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpyDtoH(
        #[operand(place = host, bytes = sizeBytes)] dst: *mut c_void,
        #[device_ptr] src: hipDeviceptr_t,
        sizeBytes: usize,
    ) -> hipError_t;

    /// Copies bytes to the host, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyDtoHAsync(
        #[operand(place = host, bytes = sizeBytes)] dst: *mut c_void,
        #[device_ptr] src: hipDeviceptr_t,
        sizeBytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies bytes on the device. (HIP 7.1)
    pub fn hipMemcpyDtoD(
        #[device_ptr] dst: hipDeviceptr_t,
        #[device_ptr] src: hipDeviceptr_t,
        sizeBytes: usize,
    ) -> hipError_t;

    /// Copies bytes on the device, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyDtoDAsync(
        #[device_ptr] dst: hipDeviceptr_t,
        #[device_ptr] src: hipDeviceptr_t,
        sizeBytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies rows. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpy2D(
        #[operand(kind = kind, rows(pitch = dpitch, width = width, height = height))]
        dst: *mut c_void,
        dpitch: usize,
        #[operand(kind = kind, rows(pitch = spitch, width = width, height = height))]
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies rows, on the calling thread's default stream. (HIP 7.1)
    pub fn hipMemcpy2D_spt(
        #[operand(kind = kind, rows(pitch = dpitch, width = width, height = height))]
        dst: *mut c_void,
        dpitch: usize,
        #[operand(kind = kind, rows(pitch = spitch, width = width, height = height))]
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies rows, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpy2DAsync(
        #[operand(kind = kind, rows(pitch = dpitch, width = width, height = height))]
        dst: *mut c_void,
        dpitch: usize,
        #[operand(kind = kind, rows(pitch = spitch, width = width, height = height))]
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies rows, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpy2DAsync_spt(
        #[operand(kind = kind, rows(pitch = dpitch, width = width, height = height))]
        dst: *mut c_void,
        dpitch: usize,
        #[operand(kind = kind, rows(pitch = spitch, width = width, height = height))]
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies a rectangle between memory and arrays. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpyParam2D(#[deref] pCopy: *const hip_Memcpy2D) -> hipError_t;

    /// Copies a rectangle between memory and arrays, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyParam2DAsync(
        #[deref] pCopy: *const hip_Memcpy2D,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies a rectangle whose pitch need not be aligned. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipDrvMemcpy2DUnaligned(#[deref] pCopy: *const hip_Memcpy2D) -> hipError_t;

    /// Copies a box between memory and arrays. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpy3D(#[deref] p: *const hipMemcpy3DParms) -> hipError_t;

    /// Copies a box, on the calling thread's default stream. (HIP 7.1)
    pub fn hipMemcpy3D_spt(#[deref] p: *const hipMemcpy3DParms) -> hipError_t;

    /// Copies a box, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpy3DAsync(#[deref] p: *const hipMemcpy3DParms, stream: hipStream_t)
    -> hipError_t;

    /// Copies a box, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpy3DAsync_spt(
        #[deref] p: *const hipMemcpy3DParms,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies a box between memory and arrays. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipDrvMemcpy3D(#[deref] pCopy: *const HIP_MEMCPY3D) -> hipError_t;

    /// Copies a box, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipDrvMemcpy3DAsync(
        #[deref] pCopy: *const HIP_MEMCPY3D,
        stream: hipStream_t,
    ) -> hipError_t;
}
