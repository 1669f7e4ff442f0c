//! Our ABI against `hip-runtime-sys`, the bindings of HIP 5.4. Layouts are compared by the compiler,
//! signatures and constants by their names in the source of the bindings.
//!
//! What HIP 6.0 changed is not compared: the numbers of `hipMemoryType`; `HIP_MEMCPY3D`, whose sizes
//! were 32 bits wide; the end of `hipMemPoolProps`; and the descriptions of external memory and
//! semaphores, which have grown. Ours are the later ones; `families/copy.rs` says what that means
//! for an older runtime.

use abi::Bindings;
use hip_runtime_sys as theirs;

fn bindings() -> Bindings {
    Bindings::read("hip-runtime-sys", "src/bindings.rs")
}

fn struct_bytes(name: &str) -> Option<usize> {
    Some(match name {
        "dim3" => size_of::<theirs::dim3>(),
        "hipExtent" => size_of::<theirs::hipExtent>(),
        "hipPitchedPtr" => size_of::<theirs::hipPitchedPtr>(),
        "hipChannelFormatDesc" => size_of::<theirs::hipChannelFormatDesc>(),
        "hipIpcMemHandle_t" => size_of::<theirs::hipIpcMemHandle_t>(),
        "hipIpcEventHandle_t" => size_of::<theirs::hipIpcEventHandle_t>(),
        _ => return None,
    })
}

#[test]
fn signatures_agree() {
    let (checked, wrong) = bindings().check_functions(&struct_bytes);
    eprintln!("{checked} functions compared");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checked > 280, "only {checked} functions were found in the bindings");
}

/// Ends of lists that grew since, and what was numbered anew.
const CHANGED: &[(&str, i128)] = &[
    ("hipLimitRange", 3),
    ("hipJitOptionNumOptions", 17),
    ("hipFuncAttributeMax", 10),
    ("HIP_FUNC_ATTRIBUTE_MAX", 10),
    ("hipGraphNodeTypeMemcpyFromSymbol", 10),
    ("hipGraphNodeTypeMemcpyToSymbol", 11),
    ("hipGraphNodeTypeCount", 12),
    ("hipErrorTbd", 1054),
];

abi::enums! { bindings(), changed = CHANGED;
    hipDeviceAttribute_t = "hipDeviceAttribute_t",
    hipComputeMode = "hipComputeMode",
    hipDeviceP2PAttr = "hipDeviceP2PAttr",
    hipLimit_t = "hipLimit_t",
    hipFuncCache_t = "hipFuncCache_t",
    hipSharedMemConfig = "hipSharedMemConfig",
    hipJitOption = "hipJitOption",
    hipFuncAttribute = "hipFuncAttribute",
    hipFunction_attribute = "hipFunction_attribute",
    hipAccessProperty = "hipAccessProperty",
    hipMemcpyKind = "hipMemcpyKind",
    hipPointer_attribute = "hipPointer_attribute",
    hipMemoryAdvise = "hipMemoryAdvise",
    hipMemRangeCoherencyMode = "hipMemRangeCoherencyMode",
    hipMemRangeAttribute = "hipMemRangeAttribute",
    hipMemPoolAttr = "hipMemPoolAttr",
    hipMemLocationType = "hipMemLocationType",
    hipMemAccessFlags = "hipMemAccessFlags",
    hipMemAllocationType = "hipMemAllocationType",
    hipMemAllocationHandleType = "hipMemAllocationHandleType",
    hipMemAllocationGranularity_flags = "hipMemAllocationGranularity_flags",
    hipMemHandleType = "hipMemHandleType",
    hipMemOperationType = "hipMemOperationType",
    hipArraySparseSubresourceType = "hipArraySparseSubresourceType",
    hipStreamCaptureMode = "hipStreamCaptureMode",
    hipStreamCaptureStatus = "hipStreamCaptureStatus",
    hipStreamUpdateCaptureDependenciesFlags = "hipStreamUpdateCaptureDependenciesFlags",
    hipGraphNodeType = "hipGraphNodeType",
    hipGraphExecUpdateResult = "hipGraphExecUpdateResult",
    hipGraphMemAttributeType = "hipGraphMemAttributeType",
    hipUserObjectFlags = "hipUserObjectFlags",
    hipUserObjectRetainFlags = "hipUserObjectRetainFlags",
    hipGraphInstantiateFlags = "hipGraphInstantiateFlags",
    hipChannelFormatKind = "hipChannelFormatKind",
    hipArray_Format = "hipArray_Format",
    hipResourceType = "hipResourceType",
    hipResourceViewFormat = "hipResourceViewFormat",
    hipTextureAddressMode = "hipTextureAddressMode",
    hipTextureFilterMode = "hipTextureFilterMode",
    hipTextureReadMode = "hipTextureReadMode",
    hipSurfaceBoundaryMode = "hipSurfaceBoundaryMode",
    hipExternalMemoryHandleType = "hipExternalMemoryHandleType_enum",
    hipExternalSemaphoreHandleType = "hipExternalSemaphoreHandleType_enum",
    hipGraphicsRegisterFlags = "hipGraphicsRegisterFlags",
    hipError_t = "hipError_t",
}

abi::layouts! { theirs:
    hipUUID = hipUUID_t { bytes = bytes }
    hipDeviceArch_t = hipDeviceArch_t {}
    hipDeviceProp_tR0000 = hipDeviceProp_t {
        name = name, totalGlobalMem = totalGlobalMem, sharedMemPerBlock = sharedMemPerBlock,
        regsPerBlock = regsPerBlock, warpSize = warpSize, maxThreadsPerBlock = maxThreadsPerBlock,
        maxThreadsDim = maxThreadsDim, maxGridSize = maxGridSize, clockRate = clockRate,
        memoryClockRate = memoryClockRate, memoryBusWidth = memoryBusWidth, totalConstMem =
        totalConstMem, major = major, minor = minor, multiProcessorCount = multiProcessorCount,
        l2CacheSize = l2CacheSize, maxThreadsPerMultiProcessor = maxThreadsPerMultiProcessor,
        computeMode = computeMode, clockInstructionRate = clockInstructionRate, arch = arch,
        concurrentKernels = concurrentKernels, pciDomainID = pciDomainID, pciBusID = pciBusID,
        pciDeviceID = pciDeviceID, maxSharedMemoryPerMultiProcessor =
        maxSharedMemoryPerMultiProcessor, isMultiGpuBoard = isMultiGpuBoard, canMapHostMemory =
        canMapHostMemory, gcnArch = gcnArch, gcnArchName = gcnArchName, integrated = integrated,
        cooperativeLaunch = cooperativeLaunch, cooperativeMultiDeviceLaunch =
        cooperativeMultiDeviceLaunch, maxTexture1DLinear = maxTexture1DLinear, maxTexture1D =
        maxTexture1D, maxTexture2D = maxTexture2D, maxTexture3D = maxTexture3D, hdpMemFlushCntl =
        hdpMemFlushCntl, hdpRegFlushCntl = hdpRegFlushCntl, memPitch = memPitch, textureAlignment =
        textureAlignment, texturePitchAlignment = texturePitchAlignment, kernelExecTimeoutEnabled =
        kernelExecTimeoutEnabled, ECCEnabled = ECCEnabled, tccDriver = tccDriver,
        cooperativeMultiDeviceUnmatchedFunc = cooperativeMultiDeviceUnmatchedFunc,
        cooperativeMultiDeviceUnmatchedGridDim = cooperativeMultiDeviceUnmatchedGridDim,
        cooperativeMultiDeviceUnmatchedBlockDim = cooperativeMultiDeviceUnmatchedBlockDim,
        cooperativeMultiDeviceUnmatchedSharedMem = cooperativeMultiDeviceUnmatchedSharedMem,
        isLargeBar = isLargeBar, asicRevision = asicRevision, managedMemory = managedMemory,
        directManagedMemAccessFromHost = directManagedMemAccessFromHost, concurrentManagedAccess =
        concurrentManagedAccess, pageableMemoryAccess = pageableMemoryAccess,
        pageableMemoryAccessUsesHostPageTables = pageableMemoryAccessUsesHostPageTables
    }
    hipKernelNodeParams = hipKernelNodeParams {
        blockDim = blockDim, extra = extra, func = func, gridDim = gridDim, kernelParams =
        kernelParams, sharedMemBytes = sharedMemBytes
    }
    hipMemsetParams = hipMemsetParams {
        dst = dst, elementSize = elementSize, height = height, pitch = pitch, value = value, width =
        width
    }
    hipHostNodeParams = hipHostNodeParams { r#fn = fn_, userData = userData }
    hipPointerAttribute_t = hipPointerAttribute_t {
        device = device, devicePointer = devicePointer, hostPointer = hostPointer, isManaged =
        isManaged, allocationFlags = allocationFlags
    }
    hipPitchedPtr = hipPitchedPtr { ptr = ptr, pitch = pitch, xsize = xsize, ysize = ysize }
    hipExtent = hipExtent { width = width, height = height, depth = depth }
    hipPos = hipPos { x = x, y = y, z = z }
    hipMemcpy3DParms = hipMemcpy3DParms {
        srcArray = srcArray, srcPos = srcPos, srcPtr = srcPtr, dstArray = dstArray, dstPos = dstPos,
        dstPtr = dstPtr, extent = extent, kind = kind
    }
    hip_Memcpy2D = hip_Memcpy2D {
        srcXInBytes = srcXInBytes, srcY = srcY, srcMemoryType = srcMemoryType, srcHost = srcHost,
        srcDevice = srcDevice, srcArray = srcArray, srcPitch = srcPitch, dstXInBytes = dstXInBytes,
        dstY = dstY, dstMemoryType = dstMemoryType, dstHost = dstHost, dstDevice = dstDevice,
        dstArray = dstArray, dstPitch = dstPitch, WidthInBytes = WidthInBytes, Height = Height
    }
    hipMemLocation = hipMemLocation { r#type = type_, id = id }
    hipMemAccessDesc = hipMemAccessDesc { location = location, flags = flags }
    hipMemPoolProps = hipMemPoolProps {
        allocType = allocType, handleTypes = handleTypes, location = location,
        win32SecurityAttributes = win32SecurityAttributes
    }
    hipMemPoolPtrExportData = hipMemPoolPtrExportData { reserved = reserved }
    hipMemAllocationProp = hipMemAllocationProp {
        r#type = type_, requestedHandleType = requestedHandleType, location = location,
        win32HandleMetaData = win32HandleMetaData, allocFlags = allocFlags
    }
    dim3 = dim3 { x = x, y = y, z = z }
    hipFuncAttributes = hipFuncAttributes {
        binaryVersion = binaryVersion, cacheModeCA = cacheModeCA, constSizeBytes = constSizeBytes,
        localSizeBytes = localSizeBytes, maxDynamicSharedSizeBytes = maxDynamicSharedSizeBytes,
        maxThreadsPerBlock = maxThreadsPerBlock, numRegs = numRegs, preferredShmemCarveout =
        preferredShmemCarveout, ptxVersion = ptxVersion, sharedSizeBytes = sharedSizeBytes
    }
    hipLaunchParams = hipLaunchParams_t {
        func = func, gridDim = gridDim, blockDim = blockDim, args = args, sharedMem = sharedMem,
        stream = stream
    }
    hipAccessPolicyWindow = hipAccessPolicyWindow {
        base_ptr = base_ptr, hitProp = hitProp, hitRatio = hitRatio, missProp = missProp, num_bytes
        = num_bytes
    }
    hipChannelFormatDesc = hipChannelFormatDesc { x = x, y = y, z = z, w = w, f = f }
    HIP_ARRAY_DESCRIPTOR = HIP_ARRAY_DESCRIPTOR {
        Width = Width, Height = Height, Format = Format, NumChannels = NumChannels
    }
    HIP_ARRAY3D_DESCRIPTOR = HIP_ARRAY3D_DESCRIPTOR {
        Width = Width, Height = Height, Depth = Depth, Format = Format, NumChannels = NumChannels,
        Flags = Flags
    }
    hipResourceDesc = hipResourceDesc { resType = resType, res = res }
    HIP_RESOURCE_DESC = HIP_RESOURCE_DESC_st { resType = resType, res = res, flags = flags }
    hipResourceViewDesc = hipResourceViewDesc {
        format = format, width = width, height = height, depth = depth, firstMipmapLevel =
        firstMipmapLevel, lastMipmapLevel = lastMipmapLevel, firstLayer = firstLayer, lastLayer =
        lastLayer
    }
    HIP_RESOURCE_VIEW_DESC = HIP_RESOURCE_VIEW_DESC_st {
        format = format, width = width, height = height, depth = depth, firstMipmapLevel =
        firstMipmapLevel, lastMipmapLevel = lastMipmapLevel, firstLayer = firstLayer, lastLayer =
        lastLayer, reserved = reserved
    }
    hipTextureDesc = hipTextureDesc {
        addressMode = addressMode, filterMode = filterMode, readMode = readMode, sRGB = sRGB,
        borderColor = borderColor, normalizedCoords = normalizedCoords, maxAnisotropy =
        maxAnisotropy, mipmapFilterMode = mipmapFilterMode, mipmapLevelBias = mipmapLevelBias,
        minMipmapLevelClamp = minMipmapLevelClamp, maxMipmapLevelClamp = maxMipmapLevelClamp
    }
    HIP_TEXTURE_DESC = HIP_TEXTURE_DESC_st {
        addressMode = addressMode, filterMode = filterMode, flags = flags, maxAnisotropy =
        maxAnisotropy, mipmapFilterMode = mipmapFilterMode, mipmapLevelBias = mipmapLevelBias,
        minMipmapLevelClamp = minMipmapLevelClamp, maxMipmapLevelClamp = maxMipmapLevelClamp,
        borderColor = borderColor, reserved = reserved
    }
    textureReference = textureReference {
        normalized = normalized, readMode = readMode, filterMode = filterMode, addressMode =
        addressMode, channelDesc = channelDesc, sRGB = sRGB, maxAnisotropy = maxAnisotropy,
        mipmapFilterMode = mipmapFilterMode, mipmapLevelBias = mipmapLevelBias, minMipmapLevelClamp
        = minMipmapLevelClamp, maxMipmapLevelClamp = maxMipmapLevelClamp, textureObject =
        textureObject, numChannels = numChannels, format = format
    }
}
