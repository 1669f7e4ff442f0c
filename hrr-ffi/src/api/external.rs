//! Memory, semaphores and resources of other interfaces, which only their owner can make.

use core::ffi::{c_int, c_uint, c_void};

use hrr_macros::api;

use crate::types::{
    hipArray_t, hipError_t, hipExternalMemory_t, hipExternalMemoryBufferDesc,
    hipExternalMemoryHandleDesc, hipExternalMemoryMipmappedArrayDesc, hipExternalSemaphore_t,
    hipExternalSemaphoreHandleDesc, hipExternalSemaphoreSignalParams,
    hipExternalSemaphoreWaitParams, hipGraphicsResource_t, hipMipmappedArray_t, hipStream_t,
};

#[api(group = "external")]
unsafe extern "C" {
    /// Ends the program's hold on external memory. (HIP 7.1)
    pub fn hipDestroyExternalMemory(#[destroys] extMem: hipExternalMemory_t) -> hipError_t;

    /// Ends the program's hold on an external semaphore. (HIP 7.1)
    pub fn hipDestroyExternalSemaphore(#[destroys] extSem: hipExternalSemaphore_t) -> hipError_t;

    /// Writes the address of a part of external memory. (HIP 7.1)
    pub fn hipExternalMemoryGetMappedBuffer(
        #[out_device_ptr] devPtr: *mut *mut c_void,
        extMem: hipExternalMemory_t,
        #[deref] bufferDesc: *const hipExternalMemoryBufferDesc,
    ) -> hipError_t;

    /// Writes the mipmapped arrays in external memory. (HIP 7.1)
    pub fn hipExternalMemoryGetMappedMipmappedArray(
        #[out_handle] mipmap: *mut hipMipmappedArray_t,
        extMem: hipExternalMemory_t,
        #[deref] mipmapDesc: *const hipExternalMemoryMipmappedArrayDesc,
    ) -> hipError_t;

    /// Writes a handle of external memory. (HIP 7.1)
    pub fn hipImportExternalMemory(
        #[out_handle] extMem_out: *mut hipExternalMemory_t,
        #[os_handle(bytes = 104)] memHandleDesc: *const hipExternalMemoryHandleDesc,
    ) -> hipError_t;

    /// Writes a handle of an external semaphore. (HIP 7.1)
    pub fn hipImportExternalSemaphore(
        #[out_handle] extSem_out: *mut hipExternalSemaphore_t,
        #[os_handle(bytes = 96)] semHandleDesc: *const hipExternalSemaphoreHandleDesc,
    ) -> hipError_t;

    /// Signals semaphores, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipSignalExternalSemaphoresAsync(
        #[deref(count = numExtSems)] extSemArray: *const hipExternalSemaphore_t,
        #[deref(count = numExtSems)] paramsArray: *const hipExternalSemaphoreSignalParams,
        numExtSems: c_uint,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Lets later work wait for semaphores. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipWaitExternalSemaphoresAsync(
        #[deref(count = numExtSems)] extSemArray: *const hipExternalSemaphore_t,
        #[deref(count = numExtSems)] paramsArray: *const hipExternalSemaphoreWaitParams,
        numExtSems: c_uint,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Writes the devices of the current OpenGL context and their number. (HIP 7.1)
    pub fn hipGLGetDevices(
        #[out(machine)] pHipDeviceCount: *mut c_uint,
        #[out(count = hipDeviceCount, machine)] pHipDevices: *mut c_int,
        hipDeviceCount: c_uint,
        deviceList: c_uint,
    ) -> hipError_t;

    /// Writes the resource of an OpenGL buffer. (HIP 7.1)
    pub fn hipGraphicsGLRegisterBuffer(
        #[out_handle] resource: *mut hipGraphicsResource_t,
        buffer: c_uint,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes the resource of an OpenGL image. (HIP 7.1)
    pub fn hipGraphicsGLRegisterImage(
        #[out_handle] resource: *mut hipGraphicsResource_t,
        image: c_uint,
        target: c_uint,
        flags: c_uint,
    ) -> hipError_t;

    /// Lets the device use resources. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipGraphicsMapResources(
        count: c_int,
        #[deref(count = count)] resources: *mut hipGraphicsResource_t,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Ends what `hipGraphicsMapResources` began. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipGraphicsUnmapResources(
        count: c_int,
        #[deref(count = count)] resources: *mut hipGraphicsResource_t,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Writes the address and the bytes of a mapped resource. (HIP 7.1)
    pub fn hipGraphicsResourceGetMappedPointer(
        #[out_device_ptr(bytes = after(size))] devPtr: *mut *mut c_void,
        #[out] size: *mut usize,
        resource: hipGraphicsResource_t,
    ) -> hipError_t;

    /// Writes the array of a mapped resource. (HIP 7.1)
    pub fn hipGraphicsSubResourceGetMappedArray(
        #[out_handle] array: *mut hipArray_t,
        resource: hipGraphicsResource_t,
        arrayIndex: c_uint,
        mipLevel: c_uint,
    ) -> hipError_t;

    /// Ends a resource. (HIP 7.1)
    pub fn hipGraphicsUnregisterResource(#[destroys] resource: hipGraphicsResource_t)
    -> hipError_t;
}
