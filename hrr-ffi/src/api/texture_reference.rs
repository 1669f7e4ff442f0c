//! Texture references, which HIP has deprecated. Those that the program's own variables are have a
//! content that the program sets, and that the runtime reads: their halves carry it. Those of a
//! module are handles.

use core::ffi::{c_char, c_int, c_uint, c_void};

use hrr_macros::api;

use crate::types::{
    HIP_ARRAY_DESCRIPTOR, hipArray_Format, hipArray_const_t, hipArray_t, hipBorderColor,
    hipChannelFormatDesc, hipDeviceptr_t, hipError_t, hipMipmappedArray_const_t,
    hipMipmappedArray_t, hipModule_t, hipTexRef_t, hipTextureAddressMode, hipTextureFilterMode,
    textureReference,
};

#[api(group = "texture_reference")]
unsafe extern "C" {
    /// Lets a texture reference read memory; writes the offset to add, 0 where the memory is
    /// aligned. (HIP 7.1)
    #[capture(with = crate::families::texture::capture)]
    #[replay(with = crate::families::texture::replay)]
    pub fn hipBindTexture(
        #[out] offset: *mut usize,
        #[host_symbol] tex: *const textureReference,
        #[device_ptr] devPtr: *const c_void,
        #[deref] desc: *const hipChannelFormatDesc,
        size: usize,
    ) -> hipError_t;

    /// Lets a texture reference read rows of memory; writes the offset to add, 0 where the memory
    /// is aligned. (HIP 7.1)
    #[capture(with = crate::families::texture::capture)]
    #[replay(with = crate::families::texture::replay)]
    pub fn hipBindTexture2D(
        #[out] offset: *mut usize,
        #[host_symbol] tex: *const textureReference,
        #[device_ptr] devPtr: *const c_void,
        #[deref] desc: *const hipChannelFormatDesc,
        width: usize,
        height: usize,
        pitch: usize,
    ) -> hipError_t;

    /// Lets a texture reference read an array. (HIP 7.1)
    #[capture(with = crate::families::texture::capture)]
    #[replay(with = crate::families::texture::replay)]
    pub fn hipBindTextureToArray(
        #[host_symbol] tex: *const textureReference,
        array: hipArray_const_t,
        #[deref] desc: *const hipChannelFormatDesc,
    ) -> hipError_t;

    /// Lets a texture reference read mipmapped arrays. (HIP 7.1)
    #[capture(with = crate::families::texture::capture)]
    #[replay(with = crate::families::texture::replay)]
    pub fn hipBindTextureToMipmappedArray(
        #[host_symbol] tex: *const textureReference,
        mipmappedArray: hipMipmappedArray_const_t,
        #[deref] desc: *const hipChannelFormatDesc,
    ) -> hipError_t;

    /// Ends what a bind began. (HIP 7.1)
    #[capture(with = crate::families::texture::capture)]
    #[replay(with = crate::families::texture::replay)]
    pub fn hipUnbindTexture(#[host_symbol] tex: *const textureReference) -> hipError_t;

    /// Writes the offset that the last bind gave. (HIP 7.1)
    #[capture(with = crate::families::texture::capture)]
    #[replay(with = crate::families::texture::replay)]
    pub fn hipGetTextureAlignmentOffset(
        #[out] offset: *mut usize,
        #[host_symbol] texref: *const textureReference,
    ) -> hipError_t;

    /// Writes the texture reference that a host address stands for. (HIP 7.1)
    pub fn hipGetTextureReference(
        #[out_handle] texref: *mut hipTexRef_t,
        #[host_symbol] symbol: *const c_void,
    ) -> hipError_t;

    /// Writes a texture reference of a module. (HIP 7.1)
    pub fn hipModuleGetTexRef(
        #[out_handle] texRef: *mut hipTexRef_t,
        hmod: hipModule_t,
        #[string] name: *const c_char,
    ) -> hipError_t;

    /// Writes the memory that is read. (HIP 7.1)
    pub fn hipTexRefGetAddress(
        #[out_device_ptr] dev_ptr: *mut hipDeviceptr_t,
        texRef: hipTexRef_t,
    ) -> hipError_t;

    /// Writes what happens beyond the edge. (HIP 7.1)
    pub fn hipTexRefGetAddressMode(
        #[out] pam: *mut hipTextureAddressMode,
        texRef: hipTexRef_t,
        dim: c_int,
    ) -> hipError_t;

    /// Writes the array that is read. (HIP 7.1)
    pub fn hipTexRefGetArray(
        #[out_handle] pArray: *mut hipArray_t,
        texRef: hipTexRef_t,
    ) -> hipError_t;

    /// Writes the four components of the border. (HIP 7.1)
    pub fn hipTexRefGetBorderColor(
        #[out_buffer(bytes = 16)] pBorderColor: *mut hipBorderColor,
        texRef: hipTexRef_t,
    ) -> hipError_t;

    /// Writes how texels are filtered. (HIP 7.1)
    pub fn hipTexRefGetFilterMode(
        #[out] pfm: *mut hipTextureFilterMode,
        texRef: hipTexRef_t,
    ) -> hipError_t;

    /// Writes the flags. (HIP 7.1)
    pub fn hipTexRefGetFlags(#[out] pFlags: *mut c_uint, texRef: hipTexRef_t) -> hipError_t;

    /// Writes the type and the number of the channels. (HIP 7.1)
    pub fn hipTexRefGetFormat(
        #[out] pFormat: *mut hipArray_Format,
        #[out] pNumChannels: *mut c_int,
        texRef: hipTexRef_t,
    ) -> hipError_t;

    /// Writes the largest anisotropy. (HIP 7.1)
    pub fn hipTexRefGetMaxAnisotropy(
        #[out] pmaxAnsio: *mut c_int,
        texRef: hipTexRef_t,
    ) -> hipError_t;

    /// Writes the mipmapped arrays that are read. (HIP 7.1)
    pub fn hipTexRefGetMipMappedArray(
        #[out_handle] pArray: *mut hipMipmappedArray_t,
        texRef: hipTexRef_t,
    ) -> hipError_t;

    /// Writes how levels are filtered. (HIP 7.1)
    pub fn hipTexRefGetMipmapFilterMode(
        #[out] pfm: *mut hipTextureFilterMode,
        texRef: hipTexRef_t,
    ) -> hipError_t;

    /// Writes the bias of the level. (HIP 7.1)
    pub fn hipTexRefGetMipmapLevelBias(#[out] pbias: *mut f32, texRef: hipTexRef_t) -> hipError_t;

    /// Writes the bounds of the level. (HIP 7.1)
    pub fn hipTexRefGetMipmapLevelClamp(
        #[out] pminMipmapLevelClamp: *mut f32,
        #[out] pmaxMipmapLevelClamp: *mut f32,
        texRef: hipTexRef_t,
    ) -> hipError_t;

    /// Sets the memory that is read; writes the offset to add, 0 where it is aligned. (HIP 7.1)
    pub fn hipTexRefSetAddress(
        #[out] ByteOffset: *mut usize,
        texRef: hipTexRef_t,
        #[device_ptr] dptr: hipDeviceptr_t,
        bytes: usize,
    ) -> hipError_t;

    /// Sets the rows of memory that are read. (HIP 7.1)
    pub fn hipTexRefSetAddress2D(
        texRef: hipTexRef_t,
        #[deref] desc: *const HIP_ARRAY_DESCRIPTOR,
        #[device_ptr] dptr: hipDeviceptr_t,
        Pitch: usize,
    ) -> hipError_t;

    /// Sets what happens beyond the edge. (HIP 7.1)
    pub fn hipTexRefSetAddressMode(
        texRef: hipTexRef_t,
        dim: c_int,
        am: hipTextureAddressMode,
    ) -> hipError_t;

    /// Sets the array that is read. (HIP 7.1)
    pub fn hipTexRefSetArray(
        tex: hipTexRef_t,
        array: hipArray_const_t,
        flags: c_uint,
    ) -> hipError_t;

    /// Sets the four components of the border. (HIP 7.1)
    pub fn hipTexRefSetBorderColor(
        texRef: hipTexRef_t,
        #[deref] pBorderColor: *mut hipBorderColor,
    ) -> hipError_t;

    /// Sets how texels are filtered. (HIP 7.1)
    pub fn hipTexRefSetFilterMode(texRef: hipTexRef_t, fm: hipTextureFilterMode) -> hipError_t;

    /// Sets the flags. (HIP 7.1)
    pub fn hipTexRefSetFlags(texRef: hipTexRef_t, Flags: c_uint) -> hipError_t;

    /// Sets the type and the number of the channels. (HIP 7.1)
    pub fn hipTexRefSetFormat(
        texRef: hipTexRef_t,
        fmt: hipArray_Format,
        NumPackedComponents: c_int,
    ) -> hipError_t;

    /// Sets the largest anisotropy. (HIP 7.1)
    pub fn hipTexRefSetMaxAnisotropy(texRef: hipTexRef_t, maxAniso: c_uint) -> hipError_t;

    /// Sets how levels are filtered. (HIP 7.1)
    pub fn hipTexRefSetMipmapFilterMode(
        texRef: hipTexRef_t,
        fm: hipTextureFilterMode,
    ) -> hipError_t;

    /// Sets the bias of the level. (HIP 7.1)
    pub fn hipTexRefSetMipmapLevelBias(texRef: hipTexRef_t, bias: f32) -> hipError_t;

    /// Sets the bounds of the level. (HIP 7.1)
    pub fn hipTexRefSetMipmapLevelClamp(
        texRef: hipTexRef_t,
        minMipMapLevelClamp: f32,
        maxMipMapLevelClamp: f32,
    ) -> hipError_t;

    /// Sets the mipmapped arrays that are read. (HIP 7.1)
    pub fn hipTexRefSetMipmappedArray(
        texRef: hipTexRef_t,
        mipmappedArray: hipMipmappedArray_t,
        Flags: c_uint,
    ) -> hipError_t;
}
