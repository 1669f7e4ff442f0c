//! Values whose meaning another value gives: attributes, options, operations, resources, and the
//! kinds of copies. Where AMD's runtime and the header disagree on a type, a comment says so.

use core::ffi::{c_int, c_uint, c_void};

use hrr_core::arg::{CopyKind, JitOption, Payload};
use hrr_core::desc::{Compare, CopyKinds, JitOptionDesc, JitValue, Place, TagDesc};
use hrr_macros::Payload;

use crate::types::*;

macro_rules! tags {
    ($($(#[$meta:meta])* pub $table:ident { $($tag:ident => $ty:ty, $compare:ident;)* })*) => { $(
        $(#[$meta])*
        pub const $table: &[TagDesc] = &[$(TagDesc {
            tag: $tag.0 as i64,
            name: stringify!($tag),
            payload: <$ty as Payload>::PAYLOAD,
            compare: Compare::$compare,
        }),*];
    )* };
}

/// An address of the device as a value of its own.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct DeviceAddress {
    /// The address.
    #[device_ptr]
    pub address: *mut c_void,
}

/// Nothing that the call reads.
type Unused = [u8; 0];

tags! {
    /// The values of launch, stream and kernel node attributes.
    pub LAUNCH_ATTRIBUTES {
        hipLaunchAttributeIgnore => Unused, Exact;
        hipLaunchAttributeAccessPolicyWindow => hipAccessPolicyWindow, Exact;
        hipLaunchAttributeCooperative => c_int, Exact;
        hipLaunchAttributeSynchronizationPolicy => hipSynchronizationPolicy, Exact;
        hipLaunchAttributeClusterDimension => dim3, Exact;
        hipLaunchAttributePriority => c_int, Machine;
        hipLaunchAttributeMemSyncDomainMap => hipLaunchMemSyncDomainMap, Exact;
        hipLaunchAttributeMemSyncDomain => hipLaunchMemSyncDomain, Exact;
    }
    /// The values of memory pool attributes.
    pub POOL_ATTRIBUTES {
        hipMemPoolReuseFollowEventDependencies => c_int, Exact;
        hipMemPoolReuseAllowOpportunistic => c_int, Exact;
        hipMemPoolReuseAllowInternalDependencies => c_int, Exact;
        hipMemPoolAttrReleaseThreshold => u64, Exact;
        hipMemPoolAttrReservedMemCurrent => u64, Machine;
        hipMemPoolAttrReservedMemHigh => u64, Machine;
        hipMemPoolAttrUsedMemCurrent => u64, Machine;
        hipMemPoolAttrUsedMemHigh => u64, Machine;
    }
    /// The values of what is asked about an address. The truths are a byte in AMD's runtime and an
    /// int in programs ported from CUDA: they are machine facts of 4 bytes here.
    pub POINTER_ATTRIBUTES {
        HIP_POINTER_ATTRIBUTE_CONTEXT => hipCtx_t, Exact;
        HIP_POINTER_ATTRIBUTE_MEMORY_TYPE => c_uint, Machine;
        HIP_POINTER_ATTRIBUTE_DEVICE_POINTER => DeviceAddress, Exact;
        HIP_POINTER_ATTRIBUTE_HOST_POINTER => DeviceAddress, Exact;
        HIP_POINTER_ATTRIBUTE_P2P_TOKENS => [u64; 2], Machine;
        HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS => c_uint, Machine;
        HIP_POINTER_ATTRIBUTE_BUFFER_ID => u64, Machine;
        HIP_POINTER_ATTRIBUTE_IS_MANAGED => c_uint, Machine;
        HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL => c_int, Exact;
        HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE => c_uint, Machine;
        HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR => DeviceAddress, Exact;
        HIP_POINTER_ATTRIBUTE_RANGE_SIZE => u64, Machine;
        HIP_POINTER_ATTRIBUTE_MAPPED => c_uint, Machine;
        HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => u64, Machine;
        HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE => c_uint, Machine;
        HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS => c_uint, Machine;
        HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => hipMemPool_t, Exact;
    }
    /// The values of numbers about the memory that graphs hold.
    pub GRAPH_MEMORY_ATTRIBUTES {
        hipGraphMemAttrUsedMemCurrent => u64, Machine;
        hipGraphMemAttrUsedMemHigh => u64, Machine;
        hipGraphMemAttrReservedMemCurrent => u64, Machine;
        hipGraphMemAttrReservedMemHigh => u64, Machine;
    }
    /// What the operations of a batch take.
    pub BATCH_OPERATIONS {
        hipStreamMemOpWaitValue32 => hipStreamMemOpValueParams, Exact;
        hipStreamMemOpWriteValue32 => hipStreamMemOpValueParams, Exact;
        hipStreamMemOpWaitValue64 => hipStreamMemOpValueParams, Exact;
        hipStreamMemOpWriteValue64 => hipStreamMemOpValueParams, Exact;
        hipStreamMemOpBarrier => Unused, Exact;
        hipStreamMemOpFlushRemoteWrites => Unused, Exact;
    }
    /// What nodes of any kind take.
    pub GRAPH_NODES {
        hipGraphNodeTypeKernel => hipKernelNodeParams, Exact;
        hipGraphNodeTypeMemcpy => hipMemcpyNodeParams, Exact;
        hipGraphNodeTypeMemset => hipMemsetParams, Exact;
        hipGraphNodeTypeHost => hipHostNodeParams, Exact;
        hipGraphNodeTypeGraph => hipChildGraphNodeParams, Exact;
        hipGraphNodeTypeEmpty => Unused, Exact;
        hipGraphNodeTypeWaitEvent => hipEventWaitNodeParams, Exact;
        hipGraphNodeTypeEventRecord => hipEventRecordNodeParams, Exact;
        hipGraphNodeTypeExtSemaphoreSignal => hipExternalSemaphoreSignalNodeParams, Exact;
        hipGraphNodeTypeExtSemaphoreWait => hipExternalSemaphoreWaitNodeParams, Exact;
        hipGraphNodeTypeMemAlloc => hipMemAllocNodeParams, Exact;
        hipGraphNodeTypeMemFree => hipMemFreeNodeParams, Exact;
    }
    /// The sides of a copy of a three-dimensional batch.
    pub BATCH_OPERANDS {
        hipMemcpyOperandTypePointer => hipMemcpy3DPointer, Exact;
        hipMemcpyOperandTypeArray => hipMemcpy3DArray, Exact;
    }
    /// What a texture or surface reads.
    pub RESOURCES {
        hipResourceTypeArray => hipArray_t, Exact;
        hipResourceTypeMipmappedArray => hipMipmappedArray_t, Exact;
        hipResourceTypeLinear => hipResourceLinear, Exact;
        hipResourceTypePitch2D => hipResourcePitch2D, Exact;
    }
    /// What a texture or surface reads, in the driver interface.
    pub DRIVER_RESOURCES {
        HIP_RESOURCE_TYPE_ARRAY => hipArray_t, Exact;
        HIP_RESOURCE_TYPE_MIPMAPPED_ARRAY => hipMipmappedArray_t, Exact;
        HIP_RESOURCE_TYPE_LINEAR => hipDriverResourceLinear, Exact;
        HIP_RESOURCE_TYPE_PITCH2D => hipDriverResourcePitch2D, Exact;
    }
}

// SAFETY: transparent over a 4-byte integer; the header's text says which sides the kinds name.
unsafe impl CopyKind for hipMemcpyKind {
    const KINDS: &'static CopyKinds = &CopyKinds {
        rows: &[
            (hipMemcpyHostToHost.0 as i64, Place::Host, Place::Host),
            (hipMemcpyHostToDevice.0 as i64, Place::Host, Place::Device),
            (hipMemcpyDeviceToHost.0 as i64, Place::Device, Place::Host),
            (hipMemcpyDeviceToDevice.0 as i64, Place::Device, Place::Device),
            (hipMemcpyDefault.0 as i64, Place::Tracked, Place::Tracked),
            (hipMemcpyDeviceToDeviceNoCU.0 as i64, Place::Device, Place::Device),
        ],
    };
}

macro_rules! options {
    ($($option:ident => $value:expr;)*) => {
        &[$(JitOptionDesc {
            option: $option.0 as i64,
            name: stringify!($option),
            value: $value,
        }),*]
    };
}

// SAFETY: transparent over a 4-byte integer. The value kinds are those of `linker_types.h`; symbol
// names, symbol addresses and the extended option list are arrays of pointers and so not listed.
unsafe impl JitOption for hipJitOption {
    const OPTIONS: &'static [JitOptionDesc] = options! {
        hipJitOptionMaxRegisters => JitValue::Integer;
        hipJitOptionThreadsPerBlock => JitValue::Integer;
        hipJitOptionWallTime => JitValue::Float;
        hipJitOptionInfoLogBuffer => JitValue::OutBuffer {
            bytes_option: hipJitOptionInfoLogBufferSizeBytes.0 as i64,
        };
        hipJitOptionInfoLogBufferSizeBytes => JitValue::Integer;
        hipJitOptionErrorLogBuffer => JitValue::OutBuffer {
            bytes_option: hipJitOptionErrorLogBufferSizeBytes.0 as i64,
        };
        hipJitOptionErrorLogBufferSizeBytes => JitValue::Integer;
        hipJitOptionOptimizationLevel => JitValue::Integer;
        hipJitOptionTargetFromContext => JitValue::Integer;
        hipJitOptionTarget => JitValue::Integer;
        hipJitOptionFallbackStrategy => JitValue::Integer;
        hipJitOptionGenerateDebugInfo => JitValue::Integer;
        hipJitOptionLogVerbose => JitValue::Integer;
        hipJitOptionGenerateLineInfo => JitValue::Integer;
        hipJitOptionCacheMode => JitValue::Integer;
        hipJitOptionSm3xOpt => JitValue::Integer;
        hipJitOptionFastCompile => JitValue::Integer;
        hipJitOptionGlobalSymbolCount => JitValue::Integer;
        hipJitOptionLto => JitValue::Integer;
        hipJitOptionFtz => JitValue::Integer;
        hipJitOptionPrecDiv => JitValue::Integer;
        hipJitOptionPrecSqrt => JitValue::Integer;
        hipJitOptionFma => JitValue::Integer;
        hipJitOptionPositionIndependentCode => JitValue::Integer;
        hipJitOptionMinCTAPerSM => JitValue::Integer;
        hipJitOptionMaxThreadsPerBlock => JitValue::Integer;
        hipJitOptionOverrideDirectiveValues => JitValue::Integer;
        hipJitOptionIRtoISAOptCountExt => JitValue::Integer;
    };
}

// SAFETY: transparent over a 4-byte integer. The other option, a table of the program's functions,
// is a struct behind a pointer and so not listed.
unsafe impl JitOption for hipLibraryOption {
    const OPTIONS: &'static [JitOptionDesc] = options! {
        hipLibraryBinaryIsPreserved => JitValue::Integer;
    };
}
