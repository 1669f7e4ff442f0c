//! Memory: copies, allocations, pools, mappings, sharing.

use core::ffi::{c_char, c_int, c_uchar, c_uint, c_ushort, c_void};

use hrr_macros::Payload;

use super::{hipArray_t, hipOffset3D};
use crate::families::copy;

hrr_core::c_enum! {
    /// Which way a copy goes.
    pub enum hipMemcpyKind: u32 {
        hipMemcpyHostToHost = 0,
        hipMemcpyHostToDevice = 1,
        hipMemcpyDeviceToHost = 2,
        hipMemcpyDeviceToDevice = 3,
        hipMemcpyDefault = 4,
        hipMemcpyDeviceToDeviceNoCU = 1024,
    }

    /// How a copy is carried out.
    pub enum hipMemcpyFlags: u32 {
        hipMemcpyFlagDefault = 0,
        hipMemcpyFlagPreferOverlapWithCompute = 1,
        hipMemcpyFlagExtPreferCE = 256,
        hipMemcpyFlagExtOpSwap = 512,
        hipMemcpyFlagExtOpIndirectSrc = 1024,
        hipMemcpyFlagExtOpIndirectDst = 2048,
    }

    /// When a batched copy may read its source.
    pub enum hipMemcpySrcAccessOrder: u32 {
        hipMemcpySrcAccessOrderInvalid = 0,
        hipMemcpySrcAccessOrderStream = 1,
        hipMemcpySrcAccessOrderDuringApiCall = 2,
        hipMemcpySrcAccessOrderAny = 3,
        hipMemcpySrcAccessOrderMax = 2147483647,
    }

    /// The tag of an operand of a batched copy.
    pub enum hipMemcpy3DOperandType: u32 {
        hipMemcpyOperandTypePointer = 1,
        hipMemcpyOperandTypeArray = 2,
        hipMemcpyOperandTypeMax = 2147483647,
    }

    /// A property of an address.
    pub enum hipPointer_attribute: u32 {
        HIP_POINTER_ATTRIBUTE_CONTEXT = 1,
        HIP_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
        HIP_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
        HIP_POINTER_ATTRIBUTE_HOST_POINTER = 4,
        HIP_POINTER_ATTRIBUTE_P2P_TOKENS = 5,
        HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
        HIP_POINTER_ATTRIBUTE_BUFFER_ID = 7,
        HIP_POINTER_ATTRIBUTE_IS_MANAGED = 8,
        HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
        HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE = 10,
        HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
        HIP_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
        HIP_POINTER_ATTRIBUTE_MAPPED = 13,
        HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
        HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
        HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,
        HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
    }

    /// A hint on the use of managed memory.
    pub enum hipMemoryAdvise: u32 {
        hipMemAdviseSetReadMostly = 1,
        hipMemAdviseUnsetReadMostly = 2,
        hipMemAdviseSetPreferredLocation = 3,
        hipMemAdviseUnsetPreferredLocation = 4,
        hipMemAdviseSetAccessedBy = 5,
        hipMemAdviseUnsetAccessedBy = 6,
        hipMemAdviseSetCoarseGrain = 100,
        hipMemAdviseUnsetCoarseGrain = 101,
    }

    /// How coherent a range is.
    pub enum hipMemRangeCoherencyMode: u32 {
        hipMemRangeCoherencyModeFineGrain = 0,
        hipMemRangeCoherencyModeCoarseGrain = 1,
        hipMemRangeCoherencyModeIndeterminate = 2,
    }

    /// A property of a managed range.
    pub enum hipMemRangeAttribute: u32 {
        hipMemRangeAttributeReadMostly = 1,
        hipMemRangeAttributePreferredLocation = 2,
        hipMemRangeAttributeAccessedBy = 3,
        hipMemRangeAttributeLastPrefetchLocation = 4,
        hipMemRangeAttributeCoherencyMode = 100,
    }

    /// A property of a memory pool.
    pub enum hipMemPoolAttr: u32 {
        hipMemPoolReuseFollowEventDependencies = 1,
        hipMemPoolReuseAllowOpportunistic = 2,
        hipMemPoolReuseAllowInternalDependencies = 3,
        hipMemPoolAttrReleaseThreshold = 4,
        hipMemPoolAttrReservedMemCurrent = 5,
        hipMemPoolAttrReservedMemHigh = 6,
        hipMemPoolAttrUsedMemCurrent = 7,
        hipMemPoolAttrUsedMemHigh = 8,
    }

    /// The kind of place where memory lies.
    pub enum hipMemLocationType: u32 {
        hipMemLocationTypeInvalid = 0,
        hipMemLocationTypeNone = 0,
        hipMemLocationTypeDevice = 1,
        hipMemLocationTypeHost = 2,
        hipMemLocationTypeHostNuma = 3,
        hipMemLocationTypeHostNumaCurrent = 4,
    }

    /// Who may read and write a mapping.
    pub enum hipMemAccessFlags: u32 {
        hipMemAccessFlagsProtNone = 0,
        hipMemAccessFlagsProtRead = 1,
        hipMemAccessFlagsProtReadWrite = 3,
    }

    /// The kind of memory an allocation is.
    pub enum hipMemAllocationType: u32 {
        hipMemAllocationTypeInvalid = 0,
        hipMemAllocationTypePinned = 1,
        hipMemAllocationTypeManaged = 2,
        hipMemAllocationTypeUncached = 1073741824,
        hipMemAllocationTypeMax = 2147483647,
    }

    /// The kind of operating system handle an allocation can be exported as.
    pub enum hipMemAllocationHandleType: u32 {
        hipMemHandleTypeNone = 0,
        hipMemHandleTypePosixFileDescriptor = 1,
        hipMemHandleTypeWin32 = 2,
        hipMemHandleTypeWin32Kmt = 4,
        hipMemHandleTypeFabric = 8,
    }

    /// Which granularity is asked for.
    pub enum hipMemAllocationGranularity_flags: u32 {
        hipMemAllocationGranularityMinimum = 0,
        hipMemAllocationGranularityRecommended = 1,
    }

    /// The kind of a mapped handle.
    pub enum hipMemHandleType: u32 {
        hipMemHandleTypeGeneric = 0,
    }

    /// Whether an array is mapped or unmapped.
    pub enum hipMemOperationType: u32 {
        hipMemOperationTypeMap = 1,
        hipMemOperationTypeUnmap = 2,
    }

    /// Which part of a sparse array is mapped.
    pub enum hipArraySparseSubresourceType: u32 {
        hipArraySparseSubresourceTypeSparseLevel = 0,
        hipArraySparseSubresourceTypeMiptail = 1,
    }

    /// The kind of handle a range can be exported as.
    pub enum hipMemRangeHandleType: u32 {
        hipMemRangeHandleTypeDmaBufFd = 1,
        hipMemRangeHandleTypeMax = 2147483647,
    }

    /// How a range is exported.
    pub enum hipMemRangeFlags: u32 {
        hipMemRangeFlagDmaBufMappingTypePcie = 1,
        hipMemRangeFlagsMax = 2147483647,
    }
}

/// An address that the device uses.
pub type hipDeviceptr_t = *mut c_void;

hrr_core::c_enum! {
    /// Where an address lies, with the numbers of HIP 6.0 and later. Runtimes before 6.0 count
    /// host 0, device 1, array 2, unified 3, managed 4; see [`crate::families::copy`].
    pub enum hipMemoryType: u32 {
        hipMemoryTypeUnregistered = 0,
        hipMemoryTypeHost = 1,
        hipMemoryTypeDevice = 2,
        hipMemoryTypeManaged = 3,
        hipMemoryTypeArray = 10,
        hipMemoryTypeUnified = 11,
    }
}

/// What the runtime knows about an address.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipPointerAttribute_t {
    pub r#type: hipMemoryType,
    #[device]
    pub device: c_int,
    #[device_ptr]
    pub devicePointer: *mut c_void,
    #[device_ptr]
    pub hostPointer: *mut c_void,
    pub isManaged: c_int,
    pub allocationFlags: c_uint,
}

/// A region of memory with a row pitch. Its pointer is an address of the device, except in the
/// copies, which describe their operands themselves.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipPitchedPtr {
    #[device_ptr]
    pub ptr: *mut c_void,
    pub pitch: usize,
    pub xsize: usize,
    pub ysize: usize,
}

/// A size in three dimensions.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Payload)]
pub struct hipExtent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// A position in three dimensions.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Payload)]
pub struct hipPos {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// A copy of a box. The description is in [`crate::families::copy`]: the pointers are operands.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipMemcpy3DParms {
    pub srcArray: hipArray_t,
    pub srcPos: hipPos,
    pub srcPtr: hipPitchedPtr,
    pub dstArray: hipArray_t,
    pub dstPos: hipPos,
    pub dstPtr: hipPitchedPtr,
    pub extent: hipExtent,
    pub kind: hipMemcpyKind,
}

/// A copy of a box between two devices.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemcpy3DPeerParms {
    pub srcArray: hipArray_t,
    pub srcPos: hipPos,
    pub srcPtr: hipPitchedPtr,
    #[device]
    pub srcDevice: c_int,
    pub dstArray: hipArray_t,
    pub dstPos: hipPos,
    pub dstPtr: hipPitchedPtr,
    #[device]
    pub dstDevice: c_int,
    pub extent: hipExtent,
}

/// A copy of a rectangle, in the driver interface.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hip_Memcpy2D {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcMemoryType: hipMemoryType,
    #[operand(place = host, rect = copy::from_host_2d)]
    pub srcHost: *const c_void,
    #[operand(side = source, place = copy::from_place_2d, rect = copy::from_device_2d)]
    pub srcDevice: hipDeviceptr_t,
    pub srcArray: hipArray_t,
    pub srcPitch: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstMemoryType: hipMemoryType,
    #[operand(place = host, rect = copy::to_host_2d)]
    pub dstHost: *mut c_void,
    #[operand(side = destination, place = copy::to_place_2d, rect = copy::to_device_2d)]
    pub dstDevice: hipDeviceptr_t,
    pub dstArray: hipArray_t,
    pub dstPitch: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
}

/// A copy of a box, in the driver interface.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct HIP_MEMCPY3D {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcZ: usize,
    pub srcLOD: usize,
    pub srcMemoryType: hipMemoryType,
    #[operand(place = host, rect = copy::from_host_3d)]
    pub srcHost: *const c_void,
    #[operand(side = source, place = copy::from_place_3d, rect = copy::from_device_3d)]
    pub srcDevice: hipDeviceptr_t,
    pub srcArray: hipArray_t,
    pub srcPitch: usize,
    pub srcHeight: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstZ: usize,
    pub dstLOD: usize,
    pub dstMemoryType: hipMemoryType,
    #[operand(place = host, rect = copy::to_host_3d)]
    pub dstHost: *mut c_void,
    #[operand(side = destination, place = copy::to_place_3d, rect = copy::to_device_3d)]
    pub dstDevice: hipDeviceptr_t,
    pub dstArray: hipArray_t,
    pub dstPitch: usize,
    pub dstHeight: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
    pub Depth: usize,
}

/// How the copies of a batch treat their operands.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemcpyAttributes {
    pub srcAccessOrder: hipMemcpySrcAccessOrder,
    pub srcLocHint: hipMemLocation,
    pub dstLocHint: hipMemLocation,
    pub flags: c_uint,
}

/// One copy of a three-dimensional batch.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemcpy3DBatchOp {
    pub src: hipMemcpy3DOperand,
    pub dst: hipMemcpy3DOperand,
    pub extent: hipExtent,
    pub srcAccessOrder: hipMemcpySrcAccessOrder,
    pub flags: c_uint,
}

/// One side of a [`hipMemcpy3DBatchOp`].
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemcpy3DOperand {
    pub r#type: hipMemcpy3DOperandType,
    #[tagged(by = r#type, table = crate::families::tags::BATCH_OPERANDS)]
    pub op: hipMemcpy3DOperandBody,
}

/// The operand of a [`hipMemcpy3DOperand`].
#[repr(C)]
#[derive(Clone, Copy)]
pub union hipMemcpy3DOperandBody {
    pub ptr: hipMemcpy3DPointer,
    pub array: hipMemcpy3DArray,
}

/// Memory as an operand. Only memory of the device: replay refuses another address by name.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemcpy3DPointer {
    #[device_ptr]
    pub ptr: *mut c_void,
    pub rowLength: usize,
    pub layerHeight: usize,
    pub locHint: hipMemLocation,
}

/// An array as an operand.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemcpy3DArray {
    pub array: hipArray_t,
    pub offset: hipOffset3D,
}

/// A device, the host, or a node of the host.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Payload)]
pub struct hipMemLocation {
    pub r#type: hipMemLocationType,
    pub id: c_int,
}

/// Who may use a mapping or a pool.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemAccessDesc {
    pub location: hipMemLocation,
    pub flags: hipMemAccessFlags,
}

/// What a pool is made of.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemPoolProps {
    pub allocType: hipMemAllocationType,
    pub handleTypes: hipMemAllocationHandleType,
    pub location: hipMemLocation,
    #[opaque(reason = "security attributes of Windows; null elsewhere")]
    pub win32SecurityAttributes: *mut c_void,
    pub maxSize: usize,
    pub reserved: [c_uchar; 56],
}

/// An exported pointer of a pool, as bytes that travel between processes.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemPoolPtrExportData {
    pub reserved: [c_uchar; 64],
}

/// What a piece of physical memory is made of.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemAllocationProp {
    pub r#type: hipMemAllocationType,
    pub requestedHandleType: hipMemAllocationHandleType,
    pub location: hipMemLocation,
    #[opaque(reason = "handle attributes of Windows; null elsewhere")]
    pub win32HandleMetaData: *mut c_void,
    pub allocFlags: hipMemAllocationFlags,
}

/// The flags inside a [`hipMemAllocationProp`].
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemAllocationFlags {
    pub compressionType: c_uchar,
    pub gpuDirectRDMACapable: c_uchar,
    pub usage: c_ushort,
}

/// Memory, as bytes that travel between processes.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipIpcMemHandle_t {
    pub reserved: [c_char; 64],
}

/// An event, as bytes that travel between processes.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipIpcEventHandle_t {
    pub reserved: [c_char; 64],
}
