//! Our ABI against `cubecl-hip-sys`, the bindings of HIP 7.14. Layouts are compared by the compiler,
//! signatures and constants by their names in the source of the bindings.

use abi::Bindings;
use cubecl_hip_sys as theirs;

fn bindings() -> Bindings {
    Bindings::read("cubecl-hip-sys", "src/bindings/bindings_60850.rs")
}

fn struct_bytes(name: &str) -> Option<usize> {
    Some(match name {
        "dim3" => size_of::<theirs::dim3>(),
        "hipExtent" => size_of::<theirs::hipExtent>(),
        "hipPitchedPtr" => size_of::<theirs::hipPitchedPtr>(),
        "hipMemLocation" => size_of::<theirs::hipMemLocation>(),
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
    assert!(checked > 480, "only {checked} functions were found in the bindings");
}

abi::enums! { bindings(), changed = &[];
    hipDeviceAttribute_t = "hipDeviceAttribute_t",
    hipComputeMode = "hipComputeMode",
    hipFlushGPUDirectRDMAWritesOptions = "hipFlushGPUDirectRDMAWritesOptions",
    hipGPUDirectRDMAWritesOrdering = "hipGPUDirectRDMAWritesOrdering",
    hipDeviceP2PAttr = "hipDeviceP2PAttr",
    hipLimit_t = "hipLimit_t",
    hipFuncCache_t = "hipFuncCache_t",
    hipSharedMemConfig = "hipSharedMemConfig",
    hipDevResourceType = "hipDevResourceType",
    hipDevSmResourceGroup_flags = "hipDevSmResourceGroup_flags",
    hipDevSmResourceSplitByCount_flags = "hipDevSmResourceSplitByCount_flags",
    hipDevWorkqueueConfigScope = "hipDevWorkqueueConfigScope",
    hipDriverProcAddressQueryResult = "hipDriverProcAddressQueryResult",
    hipDriverEntryPointQueryResult = "hipDriverEntryPointQueryResult",
    hipJitOption = "hipJitOption",
    hipJitInputType = "hipJitInputType",
    hipJitCacheMode = "hipJitCacheMode",
    hipJitFallback = "hipJitFallback",
    hipLibraryOption = "hipLibraryOption_e",
    hipFuncAttribute = "hipFuncAttribute",
    hipFunction_attribute = "hipFunction_attribute",
    hipLaunchAttributeID = "hipLaunchAttributeID",
    hipAccessProperty = "hipAccessProperty",
    hipLaunchMemSyncDomain = "hipLaunchMemSyncDomain",
    hipSynchronizationPolicy = "hipSynchronizationPolicy",
    hipClusterSchedulingPolicy = "hipClusterSchedulingPolicy",
    hipExtDynDataPrefetchTemporal = "hipExtDynDataPrefetchTemporal",
    hipMemcpyKind = "hipMemcpyKind",
    hipMemcpyFlags = "hipMemcpyFlags",
    hipMemcpySrcAccessOrder = "hipMemcpySrcAccessOrder",
    hipMemcpy3DOperandType = "hipMemcpy3DOperandType",
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
    hipMemRangeHandleType = "hipMemRangeHandleType",
    hipMemRangeFlags = "hipMemRangeFlags",
    hipStreamBatchMemOpType = "hipStreamBatchMemOpType",
    hipStreamCaptureMode = "hipStreamCaptureMode",
    hipStreamCaptureStatus = "hipStreamCaptureStatus",
    hipStreamUpdateCaptureDependenciesFlags = "hipStreamUpdateCaptureDependenciesFlags",
    hipGraphNodeType = "hipGraphNodeType",
    hipGraphExecUpdateResult = "hipGraphExecUpdateResult",
    hipGraphMemAttributeType = "hipGraphMemAttributeType",
    hipUserObjectFlags = "hipUserObjectFlags",
    hipUserObjectRetainFlags = "hipUserObjectRetainFlags",
    hipGraphInstantiateFlags = "hipGraphInstantiateFlags",
    hipGraphDebugDotFlags = "hipGraphDebugDotFlags",
    hipGraphInstantiateResult = "hipGraphInstantiateResult",
    hipGraphDependencyType = "hipGraphDependencyType",
    hipChannelFormatKind = "hipChannelFormatKind",
    hipArray_Format = "hipArray_Format",
    hipResourceType = "hipResourceType",
    hipResourceViewFormat = "hipResourceViewFormat",
    hipTextureAddressMode = "hipTextureAddressMode",
    hipTextureFilterMode = "hipTextureFilterMode",
    hipTextureReadMode = "hipTextureReadMode",
    hipSurfaceBoundaryMode = "hipSurfaceBoundaryMode",
    HIPaddress_mode = "HIPaddress_mode_enum",
    HIPfilter_mode = "HIPfilter_mode_enum",
    HIPresourcetype = "HIPresourcetype_enum",
    HIPresourceViewFormat = "HIPresourceViewFormat_enum",
    hipExternalMemoryHandleType = "hipExternalMemoryHandleType_enum",
    hipExternalSemaphoreHandleType = "hipExternalSemaphoreHandleType_enum",
    hipGraphicsRegisterFlags = "hipGraphicsRegisterFlags",
    hiprtcResult = "hiprtcResult",
    hipError_t = "hipError_t",
    hipMemoryType = "hipMemoryType",
}

abi::layouts! { theirs:
    hipUUID = hipUUID_t { bytes = bytes }
    hipDeviceArch_t = hipDeviceArch_t {}
    hipDeviceProp_tR0600 = hipDeviceProp_tR0600 {
        name = name, uuid = uuid, luid = luid, luidDeviceNodeMask = luidDeviceNodeMask,
        totalGlobalMem = totalGlobalMem, sharedMemPerBlock = sharedMemPerBlock, regsPerBlock =
        regsPerBlock, warpSize = warpSize, memPitch = memPitch, maxThreadsPerBlock =
        maxThreadsPerBlock, maxThreadsDim = maxThreadsDim, maxGridSize = maxGridSize, clockRate =
        clockRate, totalConstMem = totalConstMem, major = major, minor = minor, textureAlignment =
        textureAlignment, texturePitchAlignment = texturePitchAlignment, deviceOverlap =
        deviceOverlap, multiProcessorCount = multiProcessorCount, kernelExecTimeoutEnabled =
        kernelExecTimeoutEnabled, integrated = integrated, canMapHostMemory = canMapHostMemory,
        computeMode = computeMode, maxTexture1D = maxTexture1D, maxTexture1DMipmap =
        maxTexture1DMipmap, maxTexture1DLinear = maxTexture1DLinear, maxTexture2D = maxTexture2D,
        maxTexture2DMipmap = maxTexture2DMipmap, maxTexture2DLinear = maxTexture2DLinear,
        maxTexture2DGather = maxTexture2DGather, maxTexture3D = maxTexture3D, maxTexture3DAlt =
        maxTexture3DAlt, maxTextureCubemap = maxTextureCubemap, maxTexture1DLayered =
        maxTexture1DLayered, maxTexture2DLayered = maxTexture2DLayered, maxTextureCubemapLayered =
        maxTextureCubemapLayered, maxSurface1D = maxSurface1D, maxSurface2D = maxSurface2D,
        maxSurface3D = maxSurface3D, maxSurface1DLayered = maxSurface1DLayered, maxSurface2DLayered
        = maxSurface2DLayered, maxSurfaceCubemap = maxSurfaceCubemap, maxSurfaceCubemapLayered =
        maxSurfaceCubemapLayered, surfaceAlignment = surfaceAlignment, concurrentKernels =
        concurrentKernels, ECCEnabled = ECCEnabled, pciBusID = pciBusID, pciDeviceID = pciDeviceID,
        pciDomainID = pciDomainID, tccDriver = tccDriver, asyncEngineCount = asyncEngineCount,
        unifiedAddressing = unifiedAddressing, memoryClockRate = memoryClockRate, memoryBusWidth =
        memoryBusWidth, l2CacheSize = l2CacheSize, persistingL2CacheMaxSize =
        persistingL2CacheMaxSize, maxThreadsPerMultiProcessor = maxThreadsPerMultiProcessor,
        streamPrioritiesSupported = streamPrioritiesSupported, globalL1CacheSupported =
        globalL1CacheSupported, localL1CacheSupported = localL1CacheSupported,
        sharedMemPerMultiprocessor = sharedMemPerMultiprocessor, regsPerMultiprocessor =
        regsPerMultiprocessor, managedMemory = managedMemory, isMultiGpuBoard = isMultiGpuBoard,
        multiGpuBoardGroupID = multiGpuBoardGroupID, hostNativeAtomicSupported =
        hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio =
        singleToDoublePrecisionPerfRatio, pageableMemoryAccess = pageableMemoryAccess,
        concurrentManagedAccess = concurrentManagedAccess, computePreemptionSupported =
        computePreemptionSupported, canUseHostPointerForRegisteredMem =
        canUseHostPointerForRegisteredMem, cooperativeLaunch = cooperativeLaunch,
        cooperativeMultiDeviceLaunch = cooperativeMultiDeviceLaunch, sharedMemPerBlockOptin =
        sharedMemPerBlockOptin, pageableMemoryAccessUsesHostPageTables =
        pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost =
        directManagedMemAccessFromHost, maxBlocksPerMultiProcessor = maxBlocksPerMultiProcessor,
        accessPolicyMaxWindowSize = accessPolicyMaxWindowSize, reservedSharedMemPerBlock =
        reservedSharedMemPerBlock, hostRegisterSupported = hostRegisterSupported,
        sparseHipArraySupported = sparseHipArraySupported, hostRegisterReadOnlySupported =
        hostRegisterReadOnlySupported, timelineSemaphoreInteropSupported =
        timelineSemaphoreInteropSupported, memoryPoolsSupported = memoryPoolsSupported,
        gpuDirectRDMASupported = gpuDirectRDMASupported, gpuDirectRDMAFlushWritesOptions =
        gpuDirectRDMAFlushWritesOptions, gpuDirectRDMAWritesOrdering = gpuDirectRDMAWritesOrdering,
        memoryPoolSupportedHandleTypes = memoryPoolSupportedHandleTypes,
        deferredMappingHipArraySupported = deferredMappingHipArraySupported, ipcEventSupported =
        ipcEventSupported, clusterLaunch = clusterLaunch, unifiedFunctionPointers =
        unifiedFunctionPointers, reserved = reserved, hipReserved = hipReserved, gcnArchName =
        gcnArchName, maxSharedMemoryPerMultiProcessor = maxSharedMemoryPerMultiProcessor,
        clockInstructionRate = clockInstructionRate, arch = arch, hdpMemFlushCntl = hdpMemFlushCntl,
        hdpRegFlushCntl = hdpRegFlushCntl, cooperativeMultiDeviceUnmatchedFunc =
        cooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedGridDim =
        cooperativeMultiDeviceUnmatchedGridDim, cooperativeMultiDeviceUnmatchedBlockDim =
        cooperativeMultiDeviceUnmatchedBlockDim, cooperativeMultiDeviceUnmatchedSharedMem =
        cooperativeMultiDeviceUnmatchedSharedMem, isLargeBar = isLargeBar, asicRevision =
        asicRevision
    }
    hipDevSmResource = hipDevSmResource {
        smCount = smCount, minSmPartitionSize = minSmPartitionSize, smCoscheduledAlignment =
        smCoscheduledAlignment, flags = flags
    }
    hipDevWorkqueueConfigResource = hipDevWorkqueueConfigResource {
        device = device, wqConcurrencyLimit = wqConcurrencyLimit, sharingScope = sharingScope
    }
    hipDevSmResourceGroupParams = hipDevSmResourceGroupParams_st {
        smCount = smCount, coscheduledSmCount = coscheduledSmCount, preferredCoscheduledSmCount =
        preferredCoscheduledSmCount, flags = flags, reserved = reserved
    }
    hipDevResource = hipDevResource_st {
        r#type = type_, _internal_padding = _internal_padding, nextResource = nextResource
    }
    hipExternalMemoryHandleDesc = hipExternalMemoryHandleDesc_st {
        r#type = type_, handle = handle, size = size, flags = flags, reserved = reserved
    }
    hipExternalMemoryBufferDesc = hipExternalMemoryBufferDesc_st {
        offset = offset, size = size, flags = flags, reserved = reserved
    }
    hipExternalMemoryMipmappedArrayDesc = hipExternalMemoryMipmappedArrayDesc_st {
        offset = offset, formatDesc = formatDesc, extent = extent, flags = flags, numLevels =
        numLevels
    }
    hipExternalSemaphoreHandleDesc = hipExternalSemaphoreHandleDesc_st {
        r#type = type_, handle = handle, flags = flags, reserved = reserved
    }
    hipExternalSemaphoreSignalParams = hipExternalSemaphoreSignalParams_st {
        flags = flags, reserved = reserved
    }
    hipExternalSemaphoreWaitParams = hipExternalSemaphoreWaitParams_st {
        flags = flags, reserved = reserved
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
    hipMemAllocNodeParams = hipMemAllocNodeParams {
        poolProps = poolProps, accessDescs = accessDescs, accessDescCount = accessDescCount,
        bytesize = bytesize, dptr = dptr
    }
    hipGraphInstantiateParams = hipGraphInstantiateParams {
        errNode_out = errNode_out, flags = flags, result_out = result_out, uploadStream =
        uploadStream
    }
    hipGraphEdgeData = hipGraphEdgeData {
        from_port = from_port, reserved = reserved, to_port = to_port, r#type = type_
    }
    hipMemcpyNodeParams = hipMemcpyNodeParams {
        flags = flags, reserved = reserved, copyParams = copyParams
    }
    hipGraphNodeParams = hipGraphNodeParams {
        r#type = type_, reserved0 = reserved0, reserved2 = reserved2
    }
    hipPointerAttribute_t = hipPointerAttribute_t {
        r#type = type_, device = device, devicePointer = devicePointer, hostPointer = hostPointer,
        isManaged = isManaged, allocationFlags = allocationFlags
    }
    hipPitchedPtr = hipPitchedPtr { ptr = ptr, pitch = pitch, xsize = xsize, ysize = ysize }
    hipExtent = hipExtent { width = width, height = height, depth = depth }
    hipPos = hipPos { x = x, y = y, z = z }
    hipMemcpy3DParms = hipMemcpy3DParms {
        srcArray = srcArray, srcPos = srcPos, srcPtr = srcPtr, dstArray = dstArray, dstPos = dstPos,
        dstPtr = dstPtr, extent = extent, kind = kind
    }
    hipMemcpy3DPeerParms = hipMemcpy3DPeerParms {
        srcArray = srcArray, srcPos = srcPos, srcPtr = srcPtr, srcDevice = srcDevice, dstArray =
        dstArray, dstPos = dstPos, dstPtr = dstPtr, dstDevice = dstDevice, extent = extent
    }
    hip_Memcpy2D = hip_Memcpy2D {
        srcXInBytes = srcXInBytes, srcY = srcY, srcMemoryType = srcMemoryType, srcHost = srcHost,
        srcDevice = srcDevice, srcArray = srcArray, srcPitch = srcPitch, dstXInBytes = dstXInBytes,
        dstY = dstY, dstMemoryType = dstMemoryType, dstHost = dstHost, dstDevice = dstDevice,
        dstArray = dstArray, dstPitch = dstPitch, WidthInBytes = WidthInBytes, Height = Height
    }
    HIP_MEMCPY3D = HIP_MEMCPY3D {
        srcXInBytes = srcXInBytes, srcY = srcY, srcZ = srcZ, srcLOD = srcLOD, srcMemoryType =
        srcMemoryType, srcHost = srcHost, srcDevice = srcDevice, srcArray = srcArray, srcPitch =
        srcPitch, srcHeight = srcHeight, dstXInBytes = dstXInBytes, dstY = dstY, dstZ = dstZ, dstLOD
        = dstLOD, dstMemoryType = dstMemoryType, dstHost = dstHost, dstDevice = dstDevice, dstArray
        = dstArray, dstPitch = dstPitch, dstHeight = dstHeight, WidthInBytes = WidthInBytes, Height
        = Height, Depth = Depth
    }
    hipMemcpyAttributes = hipMemcpyAttributes {
        srcAccessOrder = srcAccessOrder, srcLocHint = srcLocHint, dstLocHint = dstLocHint, flags =
        flags
    }
    hipMemcpy3DBatchOp = hipMemcpy3DBatchOp {
        src = src, dst = dst, extent = extent, srcAccessOrder = srcAccessOrder, flags = flags
    }
    hipMemcpy3DOperand = hipMemcpy3DOperand { r#type = type_, op = op }
    hipMemLocation = hipMemLocation { r#type = type_, id = id }
    hipMemAccessDesc = hipMemAccessDesc { location = location, flags = flags }
    hipMemPoolProps = hipMemPoolProps {
        allocType = allocType, handleTypes = handleTypes, location = location,
        win32SecurityAttributes = win32SecurityAttributes, maxSize = maxSize, reserved = reserved
    }
    hipMemPoolPtrExportData = hipMemPoolPtrExportData { reserved = reserved }
    hipMemAllocationProp = hipMemAllocationProp {
        r#type = type_, location = location, win32HandleMetaData = win32HandleMetaData, allocFlags =
        allocFlags
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
    hipFunctionLaunchParams = hipFunctionLaunchParams_t {
        function = function, gridDimX = gridDimX, gridDimY = gridDimY, gridDimZ = gridDimZ,
        blockDimX = blockDimX, blockDimY = blockDimY, blockDimZ = blockDimZ, sharedMemBytes =
        sharedMemBytes, hStream = hStream, kernelParams = kernelParams
    }
    hipAccessPolicyWindow = hipAccessPolicyWindow {
        base_ptr = base_ptr, hitProp = hitProp, hitRatio = hitRatio, missProp = missProp, num_bytes
        = num_bytes
    }
    hipLaunchMemSyncDomainMap = hipLaunchMemSyncDomainMap { default_ = default_, remote = remote }
    hipLaunchAttributeValue = hipLaunchAttributeValue {}
    hipLaunchAttribute = hipLaunchAttribute_st { id = id, pad = pad }
    HIP_LAUNCH_CONFIG = HIP_LAUNCH_CONFIG_st {
        gridDimX = gridDimX, gridDimY = gridDimY, gridDimZ = gridDimZ, blockDimX = blockDimX,
        blockDimY = blockDimY, blockDimZ = blockDimZ, sharedMemBytes = sharedMemBytes, hStream =
        hStream, attrs = attrs, numAttrs = numAttrs
    }
    hipStreamBatchMemOpParams = hipStreamBatchMemOpParams_union { operation = operation }
    hipBatchMemOpNodeParams = hipBatchMemOpNodeParams {
        ctx = ctx, count = count, paramArray = paramArray, flags = flags
    }
    hipChannelFormatDesc = hipChannelFormatDesc { x = x, y = y, z = z, w = w, f = f }
    HIP_ARRAY_DESCRIPTOR = HIP_ARRAY_DESCRIPTOR {
        Width = Width, Height = Height, Format = Format, NumChannels = NumChannels
    }
    HIP_ARRAY3D_DESCRIPTOR = HIP_ARRAY3D_DESCRIPTOR {
        Width = Width, Height = Height, Depth = Depth, Format = Format, NumChannels = NumChannels,
        Flags = Flags
    }
    hipOffset3D = hipOffset3D { x = x, y = y, z = z }
    hipArrayMemoryRequirements = hipArrayMemoryRequirements { alignment = alignment, size = size }
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
    hipChildGraphNodeParams = hipChildGraphNodeParams { graph = graph }
    hipEventWaitNodeParams = hipEventWaitNodeParams { event = event }
    hipEventRecordNodeParams = hipEventRecordNodeParams { event = event }
    hipMemFreeNodeParams = hipMemFreeNodeParams { dptr = dptr }
    hipExternalSemaphoreSignalNodeParams = hipExternalSemaphoreSignalNodeParams {
        extSemArray = extSemArray, paramsArray = paramsArray, numExtSems = numExtSems
    }
    hipExternalSemaphoreWaitNodeParams = hipExternalSemaphoreWaitNodeParams {
        extSemArray = extSemArray, paramsArray = paramsArray, numExtSems = numExtSems
    }
}
