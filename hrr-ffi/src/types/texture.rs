//! Arrays, textures and surfaces.

use core::ffi::{c_int, c_uint, c_void};

use hrr_macros::Payload;

use super::{hipArray_t, hipDeviceptr_t, hipMipmappedArray_t, hipTextureObject_t};

hrr_core::c_enum! {
    /// What the channels of a texel are.
    pub enum hipChannelFormatKind: u32 {
        hipChannelFormatKindSigned = 0,
        hipChannelFormatKindUnsigned = 1,
        hipChannelFormatKindFloat = 2,
        hipChannelFormatKindNone = 3,
    }

    /// The type of a channel of an array.
    pub enum hipArray_Format: u32 {
        HIP_AD_FORMAT_UNSIGNED_INT8 = 1,
        HIP_AD_FORMAT_UNSIGNED_INT16 = 2,
        HIP_AD_FORMAT_UNSIGNED_INT32 = 3,
        HIP_AD_FORMAT_SIGNED_INT8 = 8,
        HIP_AD_FORMAT_SIGNED_INT16 = 9,
        HIP_AD_FORMAT_SIGNED_INT32 = 10,
        HIP_AD_FORMAT_HALF = 16,
        HIP_AD_FORMAT_FLOAT = 32,
    }

    /// The tag of a texture resource.
    pub enum hipResourceType: u32 {
        hipResourceTypeArray = 0,
        hipResourceTypeMipmappedArray = 1,
        hipResourceTypeLinear = 2,
        hipResourceTypePitch2D = 3,
    }

    /// How the texels of a resource are read.
    pub enum hipResourceViewFormat: u32 {
        hipResViewFormatNone = 0,
        hipResViewFormatUnsignedChar1 = 1,
        hipResViewFormatUnsignedChar2 = 2,
        hipResViewFormatUnsignedChar4 = 3,
        hipResViewFormatSignedChar1 = 4,
        hipResViewFormatSignedChar2 = 5,
        hipResViewFormatSignedChar4 = 6,
        hipResViewFormatUnsignedShort1 = 7,
        hipResViewFormatUnsignedShort2 = 8,
        hipResViewFormatUnsignedShort4 = 9,
        hipResViewFormatSignedShort1 = 10,
        hipResViewFormatSignedShort2 = 11,
        hipResViewFormatSignedShort4 = 12,
        hipResViewFormatUnsignedInt1 = 13,
        hipResViewFormatUnsignedInt2 = 14,
        hipResViewFormatUnsignedInt4 = 15,
        hipResViewFormatSignedInt1 = 16,
        hipResViewFormatSignedInt2 = 17,
        hipResViewFormatSignedInt4 = 18,
        hipResViewFormatHalf1 = 19,
        hipResViewFormatHalf2 = 20,
        hipResViewFormatHalf4 = 21,
        hipResViewFormatFloat1 = 22,
        hipResViewFormatFloat2 = 23,
        hipResViewFormatFloat4 = 24,
        hipResViewFormatUnsignedBlockCompressed1 = 25,
        hipResViewFormatUnsignedBlockCompressed2 = 26,
        hipResViewFormatUnsignedBlockCompressed3 = 27,
        hipResViewFormatUnsignedBlockCompressed4 = 28,
        hipResViewFormatSignedBlockCompressed4 = 29,
        hipResViewFormatUnsignedBlockCompressed5 = 30,
        hipResViewFormatSignedBlockCompressed5 = 31,
        hipResViewFormatUnsignedBlockCompressed6H = 32,
        hipResViewFormatSignedBlockCompressed6H = 33,
        hipResViewFormatUnsignedBlockCompressed7 = 34,
    }

    /// What happens beyond the edge.
    pub enum hipTextureAddressMode: u32 {
        hipAddressModeWrap = 0,
        hipAddressModeClamp = 1,
        hipAddressModeMirror = 2,
        hipAddressModeBorder = 3,
    }

    /// How texels are filtered.
    pub enum hipTextureFilterMode: u32 {
        hipFilterModePoint = 0,
        hipFilterModeLinear = 1,
    }

    /// What a fetch gives.
    pub enum hipTextureReadMode: u32 {
        hipReadModeElementType = 0,
        hipReadModeNormalizedFloat = 1,
    }

    /// What a surface access beyond the edge does.
    pub enum hipSurfaceBoundaryMode: u32 {
        hipBoundaryModeZero = 0,
        hipBoundaryModeTrap = 1,
        hipBoundaryModeClamp = 2,
    }

    /// What happens beyond the edge, in the driver interface.
    pub enum HIPaddress_mode: u32 {
        HIP_TR_ADDRESS_MODE_WRAP = 0,
        HIP_TR_ADDRESS_MODE_CLAMP = 1,
        HIP_TR_ADDRESS_MODE_MIRROR = 2,
        HIP_TR_ADDRESS_MODE_BORDER = 3,
    }

    /// How texels are filtered, in the driver interface.
    pub enum HIPfilter_mode: u32 {
        HIP_TR_FILTER_MODE_POINT = 0,
        HIP_TR_FILTER_MODE_LINEAR = 1,
    }

    /// The tag of a texture resource, in the driver interface.
    pub enum HIPresourcetype: u32 {
        HIP_RESOURCE_TYPE_ARRAY = 0,
        HIP_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
        HIP_RESOURCE_TYPE_LINEAR = 2,
        HIP_RESOURCE_TYPE_PITCH2D = 3,
    }

    /// How the texels of a resource are read, in the driver interface.
    pub enum HIPresourceViewFormat: u32 {
        HIP_RES_VIEW_FORMAT_NONE = 0,
        HIP_RES_VIEW_FORMAT_UINT_1X8 = 1,
        HIP_RES_VIEW_FORMAT_UINT_2X8 = 2,
        HIP_RES_VIEW_FORMAT_UINT_4X8 = 3,
        HIP_RES_VIEW_FORMAT_SINT_1X8 = 4,
        HIP_RES_VIEW_FORMAT_SINT_2X8 = 5,
        HIP_RES_VIEW_FORMAT_SINT_4X8 = 6,
        HIP_RES_VIEW_FORMAT_UINT_1X16 = 7,
        HIP_RES_VIEW_FORMAT_UINT_2X16 = 8,
        HIP_RES_VIEW_FORMAT_UINT_4X16 = 9,
        HIP_RES_VIEW_FORMAT_SINT_1X16 = 10,
        HIP_RES_VIEW_FORMAT_SINT_2X16 = 11,
        HIP_RES_VIEW_FORMAT_SINT_4X16 = 12,
        HIP_RES_VIEW_FORMAT_UINT_1X32 = 13,
        HIP_RES_VIEW_FORMAT_UINT_2X32 = 14,
        HIP_RES_VIEW_FORMAT_UINT_4X32 = 15,
        HIP_RES_VIEW_FORMAT_SINT_1X32 = 16,
        HIP_RES_VIEW_FORMAT_SINT_2X32 = 17,
        HIP_RES_VIEW_FORMAT_SINT_4X32 = 18,
        HIP_RES_VIEW_FORMAT_FLOAT_1X16 = 19,
        HIP_RES_VIEW_FORMAT_FLOAT_2X16 = 20,
        HIP_RES_VIEW_FORMAT_FLOAT_4X16 = 21,
        HIP_RES_VIEW_FORMAT_FLOAT_1X32 = 22,
        HIP_RES_VIEW_FORMAT_FLOAT_2X32 = 23,
        HIP_RES_VIEW_FORMAT_FLOAT_4X32 = 24,
        HIP_RES_VIEW_FORMAT_UNSIGNED_BC1 = 25,
        HIP_RES_VIEW_FORMAT_UNSIGNED_BC2 = 26,
        HIP_RES_VIEW_FORMAT_UNSIGNED_BC3 = 27,
        HIP_RES_VIEW_FORMAT_UNSIGNED_BC4 = 28,
        HIP_RES_VIEW_FORMAT_SIGNED_BC4 = 29,
        HIP_RES_VIEW_FORMAT_UNSIGNED_BC5 = 30,
        HIP_RES_VIEW_FORMAT_SIGNED_BC5 = 31,
        HIP_RES_VIEW_FORMAT_UNSIGNED_BC6H = 32,
        HIP_RES_VIEW_FORMAT_SIGNED_BC6H = 33,
        HIP_RES_VIEW_FORMAT_UNSIGNED_BC7 = 34,
    }
}

/// What a texel is made of.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Payload)]
pub struct hipChannelFormatDesc {
    pub x: c_int,
    pub y: c_int,
    pub z: c_int,
    pub w: c_int,
    pub f: hipChannelFormatKind,
}

// SAFETY: the description is the derived one; the bits are a value.
unsafe impl hrr_core::arg::Ret for hipChannelFormatDesc {
    const RET: hrr_core::desc::RetDesc = hrr_core::desc::RetDesc {
        ty: "hipChannelFormatDesc",
        bytes: <Self as hrr_core::arg::Payload>::PAYLOAD.bytes,
        kind: hrr_core::desc::RetKind::Value(<Self as hrr_core::arg::Payload>::PAYLOAD),
        compare: hrr_core::desc::Compare::Exact,
    };
    const MISSING: Self = Self { x: 0, y: 0, z: 0, w: 0, f: hipChannelFormatKindNone };
}

/// An array of up to two dimensions.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct HIP_ARRAY_DESCRIPTOR {
    pub Width: usize,
    pub Height: usize,
    pub Format: hipArray_Format,
    pub NumChannels: c_uint,
}

/// An array of up to three dimensions.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct HIP_ARRAY3D_DESCRIPTOR {
    pub Width: usize,
    pub Height: usize,
    pub Depth: usize,
    pub Format: hipArray_Format,
    pub NumChannels: c_uint,
    pub Flags: c_uint,
}

/// An offset in an array.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipOffset3D {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// How large an array's memory must be.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipArrayMemoryRequirements {
    pub alignment: usize,
    pub size: usize,
}

/// What a texture or surface reads.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipResourceDesc {
    pub resType: hipResourceType,
    #[tagged(by = resType, table = crate::families::tags::RESOURCES)]
    pub res: hipResource,
}

/// The resource of a [`hipResourceDesc`].
#[repr(C)]
#[derive(Clone, Copy)]
pub union hipResource {
    pub array: hipArray_t,
    pub mipmap: hipMipmappedArray_t,
    pub linear: hipResourceLinear,
    pub pitch2D: hipResourcePitch2D,
}

/// A run of texels.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipResourceLinear {
    #[device_ptr]
    pub devPtr: *mut c_void,
    pub desc: hipChannelFormatDesc,
    pub sizeInBytes: usize,
}

/// Rows of texels.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipResourcePitch2D {
    #[device_ptr]
    pub devPtr: *mut c_void,
    pub desc: hipChannelFormatDesc,
    pub width: usize,
    pub height: usize,
    pub pitchInBytes: usize,
}

/// What a texture or surface reads, in the driver interface.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct HIP_RESOURCE_DESC {
    pub resType: HIPresourcetype,
    #[tagged(by = resType, table = crate::families::tags::DRIVER_RESOURCES)]
    pub res: hipDriverResource,
    pub flags: c_uint,
}

/// The resource of a [`HIP_RESOURCE_DESC`].
#[repr(C)]
#[derive(Clone, Copy)]
pub union hipDriverResource {
    pub hArray: hipArray_t,
    pub hMipmappedArray: hipMipmappedArray_t,
    pub linear: hipDriverResourceLinear,
    pub pitch2D: hipDriverResourcePitch2D,
    pub reserved: [c_int; 32],
}

/// A run of texels, in the driver interface.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipDriverResourceLinear {
    #[device_ptr]
    pub devPtr: hipDeviceptr_t,
    pub format: hipArray_Format,
    pub numChannels: c_uint,
    pub sizeInBytes: usize,
}

/// Rows of texels, in the driver interface.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipDriverResourcePitch2D {
    #[device_ptr]
    pub devPtr: hipDeviceptr_t,
    pub format: hipArray_Format,
    pub numChannels: c_uint,
    pub width: usize,
    pub height: usize,
    pub pitchInBytes: usize,
}

/// How a resource is looked at.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipResourceViewDesc {
    pub format: hipResourceViewFormat,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub firstMipmapLevel: c_uint,
    pub lastMipmapLevel: c_uint,
    pub firstLayer: c_uint,
    pub lastLayer: c_uint,
}

/// How a resource is looked at, in the driver interface.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct HIP_RESOURCE_VIEW_DESC {
    pub format: HIPresourceViewFormat,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub firstMipmapLevel: c_uint,
    pub lastMipmapLevel: c_uint,
    pub firstLayer: c_uint,
    pub lastLayer: c_uint,
    pub reserved: [c_uint; 16],
}

/// How a texture is read.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipTextureDesc {
    /// One [`hipTextureAddressMode`] for each dimension.
    pub addressMode: [c_uint; 3],
    pub filterMode: hipTextureFilterMode,
    pub readMode: hipTextureReadMode,
    pub sRGB: c_int,
    pub borderColor: [f32; 4],
    pub normalizedCoords: c_int,
    pub maxAnisotropy: c_uint,
    pub mipmapFilterMode: hipTextureFilterMode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
}

/// How a texture is read, in the driver interface.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct HIP_TEXTURE_DESC {
    /// One [`HIPaddress_mode`] for each dimension.
    pub addressMode: [c_uint; 3],
    pub filterMode: HIPfilter_mode,
    pub flags: c_uint,
    pub maxAnisotropy: c_uint,
    pub mipmapFilterMode: HIPfilter_mode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
    pub borderColor: [f32; 4],
    pub reserved: [c_int; 12],
}

/// The four components of a border; `float*` in the header.
pub type hipBorderColor = [f32; 4];

/// A texture reference: a variable of the program that the compiler registers.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct textureReference {
    pub normalized: c_int,
    pub readMode: hipTextureReadMode,
    pub filterMode: hipTextureFilterMode,
    /// One [`hipTextureAddressMode`] for each dimension.
    pub addressMode: [c_uint; 3],
    pub channelDesc: hipChannelFormatDesc,
    pub sRGB: c_int,
    pub maxAnisotropy: c_uint,
    pub mipmapFilterMode: hipTextureFilterMode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
    pub textureObject: hipTextureObject_t,
    pub numChannels: c_int,
    pub format: hipArray_Format,
}
