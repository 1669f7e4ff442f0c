//! Arrays, textures and surfaces.

use core::ffi::{c_int, c_uint, c_void};

use hrr_macros::api;

use crate::types::{
    HIP_ARRAY_DESCRIPTOR, HIP_ARRAY3D_DESCRIPTOR, HIP_RESOURCE_DESC, HIP_RESOURCE_VIEW_DESC,
    HIP_TEXTURE_DESC, hipArray_const_t, hipArray_t, hipArrayMemoryRequirements,
    hipChannelFormatDesc, hipChannelFormatKind, hipDevice_t, hipDeviceptr_t, hipError_t, hipExtent,
    hipMemcpyKind, hipMipmappedArray_const_t, hipMipmappedArray_t, hipResourceDesc,
    hipResourceViewDesc, hipStream_t, hipSurfaceObject_t, hipTextureDesc, hipTextureObject_t,
};

#[api(group = "texture")]
unsafe extern "C" {
    /// Answers the description of a texel. (HIP 7.1)
    pub fn hipCreateChannelDesc(
        x: c_int,
        y: c_int,
        z: c_int,
        w: c_int,
        f: hipChannelFormatKind,
    ) -> hipChannelFormatDesc;

    /// Writes a new array. (HIP 7.1)
    pub fn hipMallocArray(
        #[out_handle] array: *mut hipArray_t,
        #[deref] desc: *const hipChannelFormatDesc,
        width: usize,
        height: usize,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes a new array. (HIP 7.1)
    pub fn hipMalloc3DArray(
        #[out_handle] array: *mut hipArray_t,
        #[deref] desc: *const hipChannelFormatDesc,
        extent: hipExtent,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes a new array. (HIP 7.1)
    pub fn hipArrayCreate(
        #[out_handle] pHandle: *mut hipArray_t,
        #[deref] pAllocateArray: *const HIP_ARRAY_DESCRIPTOR,
    ) -> hipError_t;

    /// Writes a new array. (HIP 7.1)
    pub fn hipArray3DCreate(
        #[out_handle] array: *mut hipArray_t,
        #[deref] pAllocateArray: *const HIP_ARRAY3D_DESCRIPTOR,
    ) -> hipError_t;

    /// Ends an array. (HIP 7.1)
    pub fn hipFreeArray(#[destroys] array: hipArray_t) -> hipError_t;

    /// Ends an array. (HIP 7.1)
    pub fn hipArrayDestroy(#[destroys] array: hipArray_t) -> hipError_t;

    /// Writes what an array is made of; each pointer may be null. (HIP 7.1)
    pub fn hipArrayGetInfo(
        #[out] desc: *mut hipChannelFormatDesc,
        #[out] extent: *mut hipExtent,
        #[out] flags: *mut c_uint,
        array: hipArray_t,
    ) -> hipError_t;

    /// Writes what an array is made of. (HIP 7.1)
    pub fn hipArrayGetDescriptor(
        #[out] pArrayDescriptor: *mut HIP_ARRAY_DESCRIPTOR,
        array: hipArray_t,
    ) -> hipError_t;

    /// Writes what an array is made of. (HIP 7.1)
    pub fn hipArray3DGetDescriptor(
        #[out] pArrayDescriptor: *mut HIP_ARRAY3D_DESCRIPTOR,
        array: hipArray_t,
    ) -> hipError_t;

    /// Writes what the texels of an array are. (HIP 7.1)
    pub fn hipGetChannelDesc(
        #[out] desc: *mut hipChannelFormatDesc,
        array: hipArray_const_t,
    ) -> hipError_t;

    /// Writes new mipmapped arrays. (HIP 7.1)
    pub fn hipMallocMipmappedArray(
        #[out_handle] mipmappedArray: *mut hipMipmappedArray_t,
        #[deref] desc: *const hipChannelFormatDesc,
        extent: hipExtent,
        numLevels: c_uint,
        flags: c_uint,
    ) -> hipError_t;

    /// Ends mipmapped arrays. (HIP 7.1)
    pub fn hipFreeMipmappedArray(#[destroys] mipmappedArray: hipMipmappedArray_t) -> hipError_t;

    /// Writes the array of one level. (HIP 7.1)
    pub fn hipGetMipmappedArrayLevel(
        #[out_handle] levelArray: *mut hipArray_t,
        mipmappedArray: hipMipmappedArray_const_t,
        level: c_uint,
    ) -> hipError_t;

    /// Writes new mipmapped arrays. (HIP 7.1)
    pub fn hipMipmappedArrayCreate(
        #[out_handle] pHandle: *mut hipMipmappedArray_t,
        #[deref] pMipmappedArrayDesc: *mut HIP_ARRAY3D_DESCRIPTOR,
        numMipmapLevels: c_uint,
    ) -> hipError_t;

    /// Ends mipmapped arrays. (HIP 7.1)
    pub fn hipMipmappedArrayDestroy(#[destroys] hMipmappedArray: hipMipmappedArray_t)
    -> hipError_t;

    /// Writes the array of one level. (HIP 7.1)
    pub fn hipMipmappedArrayGetLevel(
        #[out_handle] pLevelArray: *mut hipArray_t,
        hMipMappedArray: hipMipmappedArray_t,
        level: c_uint,
    ) -> hipError_t;

    /// Writes how large the memory of mipmapped arrays must be. (HIP 7.1)
    pub fn hipMipmappedArrayGetMemoryRequirements(
        #[out(machine)] memoryRequirements: *mut hipArrayMemoryRequirements,
        mipmap: hipMipmappedArray_t,
        #[device] device: hipDevice_t,
    ) -> hipError_t;

    /// Copies bytes into an array; deprecated. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpyToArray(
        dst: hipArray_t,
        wOffset: usize,
        hOffset: usize,
        #[operand(kind = kind, bytes = count)] src: *const c_void,
        count: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies bytes out of an array; deprecated. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpyFromArray(
        #[operand(kind = kind, bytes = count)] dst: *mut c_void,
        srcArray: hipArray_const_t,
        wOffset: usize,
        hOffset: usize,
        count: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies bytes out of an array, on the calling thread's default stream. (HIP 7.1)
    pub fn hipMemcpyFromArray_spt(
        #[operand(kind = kind, bytes = count)] dst: *mut c_void,
        src: hipArray_const_t,
        wOffsetSrc: usize,
        hOffset: usize,
        count: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies rows into an array. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpy2DToArray(
        dst: hipArray_t,
        wOffset: usize,
        hOffset: usize,
        #[operand(kind = kind, rows(pitch = spitch, width = width, height = height))]
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies rows into an array, on the calling thread's default stream. (HIP 7.1)
    pub fn hipMemcpy2DToArray_spt(
        dst: hipArray_t,
        wOffset: usize,
        hOffset: usize,
        #[operand(kind = kind, rows(pitch = spitch, width = width, height = height))]
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies rows into an array, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpy2DToArrayAsync(
        dst: hipArray_t,
        wOffset: usize,
        hOffset: usize,
        #[operand(kind = kind, rows(pitch = spitch, width = width, height = height))]
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies rows into an array, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpy2DToArrayAsync_spt(
        dst: hipArray_t,
        wOffset: usize,
        hOffset: usize,
        #[operand(kind = kind, rows(pitch = spitch, width = width, height = height))]
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies rows out of an array. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpy2DFromArray(
        #[operand(kind = kind, rows(pitch = dpitch, width = width, height = height))]
        dst: *mut c_void,
        dpitch: usize,
        src: hipArray_const_t,
        wOffset: usize,
        hOffset: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies rows out of an array, on the calling thread's default stream. (HIP 7.1)
    pub fn hipMemcpy2DFromArray_spt(
        #[operand(kind = kind, rows(pitch = dpitch, width = width, height = height))]
        dst: *mut c_void,
        dpitch: usize,
        src: hipArray_const_t,
        wOffset: usize,
        hOffset: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies rows out of an array, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpy2DFromArrayAsync(
        #[operand(kind = kind, rows(pitch = dpitch, width = width, height = height))]
        dst: *mut c_void,
        dpitch: usize,
        src: hipArray_const_t,
        wOffset: usize,
        hOffset: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies rows out of an array, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpy2DFromArrayAsync_spt(
        #[operand(kind = kind, rows(pitch = dpitch, width = width, height = height))]
        dst: *mut c_void,
        dpitch: usize,
        src: hipArray_const_t,
        wOffsetSrc: usize,
        hOffsetSrc: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies rows from array to array. (HIP 7.1)
    pub fn hipMemcpy2DArrayToArray(
        dst: hipArray_t,
        wOffsetDst: usize,
        hOffsetDst: usize,
        src: hipArray_const_t,
        wOffsetSrc: usize,
        hOffsetSrc: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies bytes from array to array. (HIP 7.1)
    pub fn hipMemcpyAtoA(
        dstArray: hipArray_t,
        dstOffset: usize,
        srcArray: hipArray_t,
        srcOffset: usize,
        ByteCount: usize,
    ) -> hipError_t;

    /// Copies bytes from an array to memory of the device. (HIP 7.1)
    pub fn hipMemcpyAtoD(
        #[device_ptr] dstDevice: hipDeviceptr_t,
        srcArray: hipArray_t,
        srcOffset: usize,
        ByteCount: usize,
    ) -> hipError_t;

    /// Copies bytes from memory of the device to an array. (HIP 7.1)
    pub fn hipMemcpyDtoA(
        dstArray: hipArray_t,
        dstOffset: usize,
        #[device_ptr] srcDevice: hipDeviceptr_t,
        ByteCount: usize,
    ) -> hipError_t;

    /// Copies bytes from an array to the host. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpyAtoH(
        #[operand(place = host, bytes = count)] dst: *mut c_void,
        srcArray: hipArray_t,
        srcOffset: usize,
        count: usize,
    ) -> hipError_t;

    /// Copies bytes from the host to an array. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpyHtoA(
        dstArray: hipArray_t,
        dstOffset: usize,
        #[operand(place = host, bytes = count)] srcHost: *const c_void,
        count: usize,
    ) -> hipError_t;

    /// Copies bytes from an array to the host, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyAtoHAsync(
        #[operand(place = host, bytes = ByteCount)] dstHost: *mut c_void,
        srcArray: hipArray_t,
        srcOffset: usize,
        ByteCount: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies bytes from the host to an array, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyHtoAAsync(
        dstArray: hipArray_t,
        dstOffset: usize,
        #[operand(place = host, bytes = ByteCount)] srcHost: *const c_void,
        ByteCount: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Writes a new texture; the view may be null. (HIP 7.1)
    pub fn hipCreateTextureObject(
        #[out_handle] pTexObject: *mut hipTextureObject_t,
        #[deref] pResDesc: *const hipResourceDesc,
        #[deref] pTexDesc: *const hipTextureDesc,
        #[deref] pResViewDesc: *const hipResourceViewDesc,
    ) -> hipError_t;

    /// Ends a texture. (HIP 7.1)
    pub fn hipDestroyTextureObject(#[destroys] textureObject: hipTextureObject_t) -> hipError_t;

    /// Writes what a texture reads. (HIP 7.1)
    pub fn hipGetTextureObjectResourceDesc(
        #[out] pResDesc: *mut hipResourceDesc,
        textureObject: hipTextureObject_t,
    ) -> hipError_t;

    /// Writes how a texture looks at what it reads. (HIP 7.1)
    pub fn hipGetTextureObjectResourceViewDesc(
        #[out] pResViewDesc: *mut hipResourceViewDesc,
        textureObject: hipTextureObject_t,
    ) -> hipError_t;

    /// Writes how a texture is read. (HIP 7.1)
    pub fn hipGetTextureObjectTextureDesc(
        #[out] pTexDesc: *mut hipTextureDesc,
        textureObject: hipTextureObject_t,
    ) -> hipError_t;

    /// Writes a new texture; the view may be null. (HIP 7.1)
    pub fn hipTexObjectCreate(
        #[out_handle] pTexObject: *mut hipTextureObject_t,
        #[deref] pResDesc: *const HIP_RESOURCE_DESC,
        #[deref] pTexDesc: *const HIP_TEXTURE_DESC,
        #[deref] pResViewDesc: *const HIP_RESOURCE_VIEW_DESC,
    ) -> hipError_t;

    /// Ends a texture. (HIP 7.1)
    pub fn hipTexObjectDestroy(#[destroys] texObject: hipTextureObject_t) -> hipError_t;

    /// Writes what a texture reads. (HIP 7.1)
    pub fn hipTexObjectGetResourceDesc(
        #[out] pResDesc: *mut HIP_RESOURCE_DESC,
        texObject: hipTextureObject_t,
    ) -> hipError_t;

    /// Writes how a texture looks at what it reads. (HIP 7.1)
    pub fn hipTexObjectGetResourceViewDesc(
        #[out] pResViewDesc: *mut HIP_RESOURCE_VIEW_DESC,
        texObject: hipTextureObject_t,
    ) -> hipError_t;

    /// Writes how a texture is read. (HIP 7.1)
    pub fn hipTexObjectGetTextureDesc(
        #[out] pTexDesc: *mut HIP_TEXTURE_DESC,
        texObject: hipTextureObject_t,
    ) -> hipError_t;

    /// Writes a new surface. Runtimes of HIP 5 export only the C++ name. (HIP 7.1)
    #[alias("_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc")]
    pub fn hipCreateSurfaceObject(
        #[out_handle] pSurfObject: *mut hipSurfaceObject_t,
        #[deref] pResDesc: *const hipResourceDesc,
    ) -> hipError_t;

    /// Ends a surface. Runtimes of HIP 5 export only the C++ name. (HIP 7.1)
    #[alias("_Z23hipDestroySurfaceObjectP13__hip_surface")]
    pub fn hipDestroySurfaceObject(#[destroys] surfaceObject: hipSurfaceObject_t) -> hipError_t;
}
