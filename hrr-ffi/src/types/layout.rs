//! Layouts, asserted at compile time: size, alignment, and the offset of every field.
//!
//! The numbers are what clang gives for the C headers of HIP 7.1 (and, for the types that came
//! later, for the bindings of HIP 7.14); `tests/abi` holds the same types against two bindings.

use core::mem::{align_of, offset_of, size_of};

use static_assertions::const_assert_eq;

use super::*;

macro_rules! layouts {
    ($($name:ident: $bytes:literal, $align:literal {$($field:ident: $offset:literal),*})*) => { $(
        const_assert_eq!(size_of::<$name>(), $bytes);
        const_assert_eq!(align_of::<$name>(), $align);
        $(const_assert_eq!(offset_of!($name, $field), $offset);)*
    )* };
}

layouts! {
    hipUUID: 16, 1 { bytes: 0 }
    hipDeviceProp_tR0600: 1472, 8 {
        name: 0, uuid: 256, luid: 272, luidDeviceNodeMask: 280, totalGlobalMem: 288,
        sharedMemPerBlock: 296, regsPerBlock: 304, warpSize: 308, memPitch: 312, maxThreadsPerBlock:
        320, maxThreadsDim: 324, maxGridSize: 336, clockRate: 348, totalConstMem: 352, major: 360,
        minor: 364, textureAlignment: 368, texturePitchAlignment: 376, deviceOverlap: 384,
        multiProcessorCount: 388, kernelExecTimeoutEnabled: 392, integrated: 396, canMapHostMemory:
        400, computeMode: 404, maxTexture1D: 408, maxTexture1DMipmap: 412, maxTexture1DLinear: 416,
        maxTexture2D: 420, maxTexture2DMipmap: 428, maxTexture2DLinear: 436, maxTexture2DGather:
        448, maxTexture3D: 456, maxTexture3DAlt: 468, maxTextureCubemap: 480, maxTexture1DLayered:
        484, maxTexture2DLayered: 492, maxTextureCubemapLayered: 504, maxSurface1D: 512,
        maxSurface2D: 516, maxSurface3D: 524, maxSurface1DLayered: 536, maxSurface2DLayered: 544,
        maxSurfaceCubemap: 556, maxSurfaceCubemapLayered: 560, surfaceAlignment: 568,
        concurrentKernels: 576, ECCEnabled: 580, pciBusID: 584, pciDeviceID: 588, pciDomainID: 592,
        tccDriver: 596, asyncEngineCount: 600, unifiedAddressing: 604, memoryClockRate: 608,
        memoryBusWidth: 612, l2CacheSize: 616, persistingL2CacheMaxSize: 620,
        maxThreadsPerMultiProcessor: 624, streamPrioritiesSupported: 628, globalL1CacheSupported:
        632, localL1CacheSupported: 636, sharedMemPerMultiprocessor: 640, regsPerMultiprocessor:
        648, managedMemory: 652, isMultiGpuBoard: 656, multiGpuBoardGroupID: 660,
        hostNativeAtomicSupported: 664, singleToDoublePrecisionPerfRatio: 668, pageableMemoryAccess:
        672, concurrentManagedAccess: 676, computePreemptionSupported: 680,
        canUseHostPointerForRegisteredMem: 684, cooperativeLaunch: 688,
        cooperativeMultiDeviceLaunch: 692, sharedMemPerBlockOptin: 696,
        pageableMemoryAccessUsesHostPageTables: 704, directManagedMemAccessFromHost: 708,
        maxBlocksPerMultiProcessor: 712, accessPolicyMaxWindowSize: 716, reservedSharedMemPerBlock:
        720, hostRegisterSupported: 728, sparseHipArraySupported: 732,
        hostRegisterReadOnlySupported: 736, timelineSemaphoreInteropSupported: 740,
        memoryPoolsSupported: 744, gpuDirectRDMASupported: 748, gpuDirectRDMAFlushWritesOptions:
        752, gpuDirectRDMAWritesOrdering: 756, memoryPoolSupportedHandleTypes: 760,
        deferredMappingHipArraySupported: 764, ipcEventSupported: 768, clusterLaunch: 772,
        unifiedFunctionPointers: 776, reserved: 780, hipReserved: 1032, gcnArchName: 1160,
        maxSharedMemoryPerMultiProcessor: 1416, clockInstructionRate: 1424, arch: 1428,
        hdpMemFlushCntl: 1432, hdpRegFlushCntl: 1440, cooperativeMultiDeviceUnmatchedFunc: 1448,
        cooperativeMultiDeviceUnmatchedGridDim: 1452, cooperativeMultiDeviceUnmatchedBlockDim: 1456,
        cooperativeMultiDeviceUnmatchedSharedMem: 1460, isLargeBar: 1464, asicRevision: 1468
    }
    hipDeviceProp_tR0000: 792, 8 {
        name: 0, totalGlobalMem: 256, sharedMemPerBlock: 264, regsPerBlock: 272, warpSize: 276,
        maxThreadsPerBlock: 280, maxThreadsDim: 284, maxGridSize: 296, clockRate: 308,
        memoryClockRate: 312, memoryBusWidth: 316, totalConstMem: 320, major: 328, minor: 332,
        multiProcessorCount: 336, l2CacheSize: 340, maxThreadsPerMultiProcessor: 344, computeMode:
        348, clockInstructionRate: 352, arch: 356, concurrentKernels: 360, pciDomainID: 364,
        pciBusID: 368, pciDeviceID: 372, maxSharedMemoryPerMultiProcessor: 376, isMultiGpuBoard:
        384, canMapHostMemory: 388, gcnArch: 392, gcnArchName: 396, integrated: 652,
        cooperativeLaunch: 656, cooperativeMultiDeviceLaunch: 660, maxTexture1DLinear: 664,
        maxTexture1D: 668, maxTexture2D: 672, maxTexture3D: 680, hdpMemFlushCntl: 696,
        hdpRegFlushCntl: 704, memPitch: 712, textureAlignment: 720, texturePitchAlignment: 728,
        kernelExecTimeoutEnabled: 736, ECCEnabled: 740, tccDriver: 744,
        cooperativeMultiDeviceUnmatchedFunc: 748, cooperativeMultiDeviceUnmatchedGridDim: 752,
        cooperativeMultiDeviceUnmatchedBlockDim: 756, cooperativeMultiDeviceUnmatchedSharedMem: 760,
        isLargeBar: 764, asicRevision: 768, managedMemory: 772, directManagedMemAccessFromHost: 776,
        concurrentManagedAccess: 780, pageableMemoryAccess: 784,
        pageableMemoryAccessUsesHostPageTables: 788
    }
    hipExternalMemoryHandleDesc: 104, 8 { r#type: 0, handle: 8, size: 24, flags: 32, reserved: 36 }
    hipExternalMemoryBufferDesc: 88, 8 { offset: 0, size: 8, flags: 16, reserved: 20 }
    hipExternalMemoryMipmappedArrayDesc: 64, 8 {
        offset: 0, formatDesc: 8, extent: 32, flags: 56, numLevels: 60
    }
    hipExternalSemaphoreHandleDesc: 96, 8 { r#type: 0, handle: 8, flags: 24, reserved: 28 }
    hipExternalSemaphoreSignalParams: 144, 8 {
        fenceValue: 0, nvSciSync: 8, keyedMutexKey: 16, paramsReserved: 24, flags: 72, reserved: 76
    }
    hipExternalSemaphoreWaitParams: 144, 8 {
        fenceValue: 0, nvSciSync: 8, keyedMutex: 16, paramsReserved: 32,
        flags: 72, reserved: 76
    }
    hipKernelNodeParams: 64, 8 {
        blockDim: 0, extra: 16, func: 24, gridDim: 32, kernelParams: 48, sharedMemBytes: 56
    }
    hipMemsetParams: 48, 8 { dst: 0, elementSize: 8, height: 16, pitch: 24, value: 32, width: 40 }
    hipHostNodeParams: 16, 8 { r#fn: 0, userData: 8 }
    hipMemAllocNodeParams: 120, 8 {
        poolProps: 0, accessDescs: 88, accessDescCount: 96, bytesize: 104, dptr: 112
    }
    hipGraphInstantiateParams: 32, 8 { errNode_out: 0, flags: 8, result_out: 16, uploadStream: 24 }
    hipGraphEdgeData: 8, 1 { from_port: 0, reserved: 1, to_port: 6, r#type: 7 }
    hipMemcpyNodeParams: 176, 8 { flags: 0, reserved: 4, copyParams: 16 }
    hipGraphNodeParams: 256, 8 { r#type: 0, reserved0: 4, params: 16, reserved2: 248 }
    hipPointerAttribute_t: 32, 8 {
        r#type: 0, device: 4, devicePointer: 8, hostPointer: 16, isManaged: 24, allocationFlags: 28
    }
    hipPitchedPtr: 32, 8 { ptr: 0, pitch: 8, xsize: 16, ysize: 24 }
    hipExtent: 24, 8 { width: 0, height: 8, depth: 16 }
    hipPos: 24, 8 { x: 0, y: 8, z: 16 }
    hipMemcpy3DParms: 160, 8 {
        srcArray: 0, srcPos: 8, srcPtr: 32, dstArray: 64, dstPos: 72, dstPtr: 96, extent: 128, kind:
        152
    }
    hipMemcpy3DPeerParms: 168, 8 {
        srcArray: 0, srcPos: 8, srcPtr: 32, srcDevice: 64, dstArray: 72, dstPos: 80, dstPtr: 104,
        dstDevice: 136, extent: 144
    }
    hip_Memcpy2D: 128, 8 {
        srcXInBytes: 0, srcY: 8, srcMemoryType: 16, srcHost: 24, srcDevice: 32, srcArray: 40,
        srcPitch: 48, dstXInBytes: 56, dstY: 64, dstMemoryType: 72, dstHost: 80, dstDevice: 88,
        dstArray: 96, dstPitch: 104, WidthInBytes: 112, Height: 120
    }
    HIP_MEMCPY3D: 184, 8 {
        srcXInBytes: 0, srcY: 8, srcZ: 16, srcLOD: 24, srcMemoryType: 32, srcHost: 40, srcDevice:
        48, srcArray: 56, srcPitch: 64, srcHeight: 72, dstXInBytes: 80, dstY: 88, dstZ: 96, dstLOD:
        104, dstMemoryType: 112, dstHost: 120, dstDevice: 128, dstArray: 136, dstPitch: 144,
        dstHeight: 152, WidthInBytes: 160, Height: 168, Depth: 176
    }
    hipMemcpyAttributes: 24, 4 { srcAccessOrder: 0, srcLocHint: 4, dstLocHint: 12, flags: 20 }
    hipMemcpy3DBatchOp: 112, 8 { src: 0, dst: 40, extent: 80, srcAccessOrder: 104, flags: 108 }
    hipMemcpy3DOperand: 40, 8 { r#type: 0, op: 8 }
    hipMemLocation: 8, 4 { r#type: 0, id: 4 }
    hipMemAccessDesc: 12, 4 { location: 0, flags: 8 }
    hipMemPoolProps: 88, 8 {
        allocType: 0, handleTypes: 4, location: 8, win32SecurityAttributes: 16, maxSize: 24,
        reserved: 32
    }
    hipMemPoolPtrExportData: 64, 1 { reserved: 0 }
    hipMemAllocationProp: 32, 8 {
        r#type: 0, requestedHandleType: 4, location: 8, win32HandleMetaData: 16, allocFlags: 24
    }
    hipIpcMemHandle_t: 64, 1 { reserved: 0 }
    hipIpcEventHandle_t: 64, 1 { reserved: 0 }
    dim3: 12, 4 { x: 0, y: 4, z: 8 }
    hipFuncAttributes: 56, 8 {
        binaryVersion: 0, cacheModeCA: 4, constSizeBytes: 8, localSizeBytes: 16,
        maxDynamicSharedSizeBytes: 24, maxThreadsPerBlock: 28, numRegs: 32, preferredShmemCarveout:
        36, ptxVersion: 40, sharedSizeBytes: 48
    }
    hipLaunchParams: 56, 8 {
        func: 0, gridDim: 8, blockDim: 20, args: 32, sharedMem: 40, stream: 48
    }
    hipFunctionLaunchParams: 56, 8 {
        function: 0, gridDimX: 8, gridDimY: 12, gridDimZ: 16, blockDimX: 20, blockDimY: 24,
        blockDimZ: 28, sharedMemBytes: 32, hStream: 40, kernelParams: 48
    }
    hipAccessPolicyWindow: 32, 8 {
        base_ptr: 0, hitProp: 8, hitRatio: 12, missProp: 16, num_bytes: 24
    }
    hipLaunchMemSyncDomainMap: 2, 1 { default_: 0, remote: 1 }
    hipLaunchAttributeValue: 64, 8 {}
    hipLaunchAttribute: 72, 8 { id: 0, pad: 4, val: 8 }
    hipLaunchConfig_t: 56, 8 {
        gridDim: 0, blockDim: 12, dynamicSmemBytes: 24, stream: 32, attrs: 40, numAttrs: 48
    }
    HIP_LAUNCH_CONFIG: 56, 8 {
        gridDimX: 0, gridDimY: 4, gridDimZ: 8, blockDimX: 12, blockDimY: 16, blockDimZ: 20,
        sharedMemBytes: 24, hStream: 32, attrs: 40, numAttrs: 48
    }
    hipStreamBatchMemOpParams: 48, 8 { operation: 0, flags: 4, body: 8 }
    hipBatchMemOpNodeParams: 32, 8 { ctx: 0, count: 8, paramArray: 16, flags: 24 }
    hipChannelFormatDesc: 20, 4 { x: 0, y: 4, z: 8, w: 12, f: 16 }
    HIP_ARRAY_DESCRIPTOR: 24, 8 { Width: 0, Height: 8, Format: 16, NumChannels: 20 }
    HIP_ARRAY3D_DESCRIPTOR: 40, 8 {
        Width: 0, Height: 8, Depth: 16, Format: 24, NumChannels: 28, Flags: 32
    }
    hipOffset3D: 24, 8 { x: 0, y: 8, z: 16 }
    hipResourceDesc: 64, 8 { resType: 0, res: 8 }
    HIP_RESOURCE_DESC: 144, 8 { resType: 0, res: 8, flags: 136 }
    hipResourceViewDesc: 48, 8 {
        format: 0, width: 8, height: 16, depth: 24, firstMipmapLevel: 32, lastMipmapLevel: 36,
        firstLayer: 40, lastLayer: 44
    }
    HIP_RESOURCE_VIEW_DESC: 112, 8 {
        format: 0, width: 8, height: 16, depth: 24, firstMipmapLevel: 32, lastMipmapLevel: 36,
        firstLayer: 40, lastLayer: 44, reserved: 48
    }
    hipTextureDesc: 64, 4 {
        addressMode: 0, filterMode: 12, readMode: 16, sRGB: 20, borderColor: 24, normalizedCoords:
        40, maxAnisotropy: 44, mipmapFilterMode: 48, mipmapLevelBias: 52, minMipmapLevelClamp: 56,
        maxMipmapLevelClamp: 60
    }
    HIP_TEXTURE_DESC: 104, 4 {
        addressMode: 0, filterMode: 12, flags: 16, maxAnisotropy: 20, mipmapFilterMode: 24,
        mipmapLevelBias: 28, minMipmapLevelClamp: 32, maxMipmapLevelClamp: 36, borderColor: 40,
        reserved: 56
    }
    textureReference: 88, 8 {
        normalized: 0, readMode: 4, filterMode: 8, addressMode: 12, channelDesc: 24, sRGB: 44,
        maxAnisotropy: 48, mipmapFilterMode: 52, mipmapLevelBias: 56, minMipmapLevelClamp: 60,
        maxMipmapLevelClamp: 64, textureObject: 72, numChannels: 80, format: 84
    }
    hipChildGraphNodeParams: 8, 8 { graph: 0 }
    hipEventWaitNodeParams: 8, 8 { event: 0 }
    hipEventRecordNodeParams: 8, 8 { event: 0 }
    hipMemFreeNodeParams: 8, 8 { dptr: 0 }
    hipExternalSemaphoreSignalNodeParams: 24, 8 { extSemArray: 0, paramsArray: 8, numExtSems: 16 }
    hipExternalSemaphoreWaitNodeParams: 24, 8 { extSemArray: 0, paramsArray: 8, numExtSems: 16 }
    hipDeviceArch_t: 4, 4 { bits: 0 }
    hipDevSmResource: 16, 4 {
        smCount: 0, minSmPartitionSize: 4, smCoscheduledAlignment: 8, flags: 12
    }
    hipDevWorkqueueConfigResource: 12, 4 { device: 0, wqConcurrencyLimit: 4, sharingScope: 8 }
    hipDevSmResourceGroupParams: 64, 4 {
        smCount: 0, coscheduledSmCount: 4, preferredCoscheduledSmCount: 8, flags: 12, reserved: 16
    }
    hipDevResource: 144, 8 { r#type: 0, _internal_padding: 4, resource: 96, nextResource: 136 }
    hipArrayMemoryRequirements: 16, 8 { alignment: 0, size: 8 }
}
