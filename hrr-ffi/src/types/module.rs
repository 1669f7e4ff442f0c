//! Code and launches: module loads, linking, attributes of kernels, launch configurations.

use core::ffi::{c_char, c_int, c_uchar, c_uint, c_void};

use hrr_macros::Payload;

use super::{hipFunction_t, hipStream_t};

hrr_core::c_enum! {
    /// What a look-up of an entry point found.
    pub enum hipDriverProcAddressQueryResult: u32 {
        HIP_GET_PROC_ADDRESS_SUCCESS = 0,
        HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
        HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2,
    }

    /// What a look-up of a driver entry point found.
    pub enum hipDriverEntryPointQueryResult: u32 {
        hipDriverEntryPointSuccess = 0,
        hipDriverEntryPointSymbolNotFound = 1,
        hipDriverEntryPointVersionNotSufficent = 2,
    }

    /// An option of a just-in-time compiler call.
    pub enum hipJitOption: u32 {
        hipJitOptionMaxRegisters = 0,
        hipJitOptionThreadsPerBlock = 1,
        hipJitOptionWallTime = 2,
        hipJitOptionInfoLogBuffer = 3,
        hipJitOptionInfoLogBufferSizeBytes = 4,
        hipJitOptionErrorLogBuffer = 5,
        hipJitOptionErrorLogBufferSizeBytes = 6,
        hipJitOptionOptimizationLevel = 7,
        hipJitOptionTargetFromContext = 8,
        hipJitOptionTarget = 9,
        hipJitOptionFallbackStrategy = 10,
        hipJitOptionGenerateDebugInfo = 11,
        hipJitOptionLogVerbose = 12,
        hipJitOptionGenerateLineInfo = 13,
        hipJitOptionCacheMode = 14,
        hipJitOptionSm3xOpt = 15,
        hipJitOptionFastCompile = 16,
        hipJitOptionGlobalSymbolNames = 17,
        hipJitOptionGlobalSymbolAddresses = 18,
        hipJitOptionGlobalSymbolCount = 19,
        hipJitOptionLto = 20,
        hipJitOptionFtz = 21,
        hipJitOptionPrecDiv = 22,
        hipJitOptionPrecSqrt = 23,
        hipJitOptionFma = 24,
        hipJitOptionPositionIndependentCode = 25,
        hipJitOptionMinCTAPerSM = 26,
        hipJitOptionMaxThreadsPerBlock = 27,
        hipJitOptionOverrideDirectiveValues = 28,
        hipJitOptionNumOptions = 29,
        hipJitOptionIRtoISAOptExt = 10000,
        hipJitOptionIRtoISAOptCountExt = 10001,
    }

    /// The kind of an input to the linker.
    pub enum hipJitInputType: u32 {
        hipJitInputCubin = 0,
        hipJitInputPtx = 1,
        hipJitInputFatBinary = 2,
        hipJitInputObject = 3,
        hipJitInputLibrary = 4,
        hipJitInputNvvm = 5,
        hipJitNumLegacyInputTypes = 6,
        hipJitInputLLVMBitcode = 100,
        hipJitInputLLVMBundledBitcode = 101,
        hipJitInputLLVMArchivesOfBundledBitcode = 102,
        hipJitInputSpirv = 103,
        hipJitNumInputTypes = 10,
    }

    /// Caching of compiled code.
    pub enum hipJitCacheMode: u32 {
        hipJitCacheOptionNone = 0,
        hipJitCacheOptionCG = 1,
        hipJitCacheOptionCA = 2,
    }

    /// What to prefer where no code fits exactly.
    pub enum hipJitFallback: u32 {
        hipJitPreferPTX = 0,
        hipJitPreferBinary = 1,
    }

    /// An option of a library load.
    pub enum hipLibraryOption: u32 {
        hipLibraryHostUniversalFunctionAndDataTable = 0,
        hipLibraryBinaryIsPreserved = 1,
    }

    /// A settable attribute of a kernel.
    pub enum hipFuncAttribute: u32 {
        hipFuncAttributeMaxDynamicSharedMemorySize = 8,
        hipFuncAttributePreferredSharedMemoryCarveout = 9,
        hipFuncAttributeClusterDimMustBeSet = 10,
        hipFuncAttributeRequiredClusterWidth = 11,
        hipFuncAttributeRequiredClusterHeight = 12,
        hipFuncAttributeRequiredClusterDepth = 13,
        hipFuncAttributeNonPortableClusterSizeAllowed = 14,
        hipFuncAttributeClusterSchedulingPolicyPreference = 15,
        hipFuncAttributeMax = 16,
    }

    /// A readable attribute of a kernel.
    pub enum hipFunction_attribute: u32 {
        HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
        HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
        HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
        HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
        HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
        HIP_FUNC_ATTRIBUTE_PTX_VERSION = 5,
        HIP_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
        HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
        HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
        HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
        HIP_FUNC_ATTRIBUTE_CLUSTER_DIM_MUST_BE_SET = 10,
        HIP_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
        HIP_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,
        HIP_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
        HIP_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
        HIP_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15,
        HIP_FUNC_ATTRIBUTE_MAX = 16,
    }

    /// The tag of a launch attribute.
    pub enum hipLaunchAttributeID: u32 {
        hipLaunchAttributeIgnore = 0,
        hipLaunchAttributeAccessPolicyWindow = 1,
        hipLaunchAttributeCooperative = 2,
        hipLaunchAttributeSynchronizationPolicy = 3,
        hipLaunchAttributeClusterDimension = 4,
        hipLaunchAttributeClusterSchedulingPolicyPreference = 5,
        hipLaunchAttributePriority = 8,
        hipLaunchAttributeMemSyncDomainMap = 9,
        hipLaunchAttributeMemSyncDomain = 10,
        hipLaunchAttributeExtDynDataPrefetch = 1024,
        hipLaunchAttributeMax = 1025,
    }

    /// How an access is cached.
    pub enum hipAccessProperty: u32 {
        hipAccessPropertyNormal = 0,
        hipAccessPropertyStreaming = 1,
        hipAccessPropertyPersisting = 2,
    }

    /// The domain in which a launch orders memory.
    pub enum hipLaunchMemSyncDomain: u32 {
        hipLaunchMemSyncDomainDefault = 0,
        hipLaunchMemSyncDomainRemote = 1,
    }

    /// How a thread waits for a stream.
    pub enum hipSynchronizationPolicy: u32 {
        hipSyncPolicyAuto = 1,
        hipSyncPolicySpin = 2,
        hipSyncPolicyYield = 3,
        hipSyncPolicyBlockingSync = 4,
    }

    /// How clusters of blocks are placed.
    pub enum hipClusterSchedulingPolicy: u32 {
        hipClusterSchedulingPolicyDefault = 0,
        hipClusterSchedulingPolicySpread = 1,
        hipClusterSchedulingPolicyLoadBalancing = 2,
    }

    /// How long prefetched data is kept.
    pub enum hipExtDynDataPrefetchTemporal: u32 {
        hipExtDynDataPrefetchTemporalRegular = 0,
        hipExtDynDataPrefetchTemporalHigh = 1,
    }
}

/// A size of a grid or block.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Payload)]
pub struct dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// Three coordinates.
pub type uint3 = dim3;

/// What is known about a kernel.
#[repr(C)]
#[derive(Clone, Copy, Default, Payload)]
pub struct hipFuncAttributes {
    pub binaryVersion: c_int,
    pub cacheModeCA: c_int,
    pub constSizeBytes: usize,
    pub localSizeBytes: usize,
    pub maxDynamicSharedSizeBytes: c_int,
    pub maxThreadsPerBlock: c_int,
    pub numRegs: c_int,
    pub preferredShmemCarveout: c_int,
    pub ptxVersion: c_int,
    pub sharedSizeBytes: usize,
}

/// A launch by host function, one of several.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipLaunchParams {
    #[host_symbol]
    pub func: *mut c_void,
    pub gridDim: dim3,
    pub blockDim: dim3,
    #[kernel_args(of = func)]
    pub args: *mut *mut c_void,
    pub sharedMem: usize,
    pub stream: hipStream_t,
}

/// A launch of a module's kernel, one of several.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipFunctionLaunchParams {
    pub function: hipFunction_t,
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub hStream: hipStream_t,
    #[kernel_args(of = function)]
    pub kernelParams: *mut *mut c_void,
}

/// A range whose accesses are cached in a way of its own.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipAccessPolicyWindow {
    #[device_ptr]
    pub base_ptr: *mut c_void,
    pub hitProp: hipAccessProperty,
    pub hitRatio: f32,
    pub missProp: hipAccessProperty,
    pub num_bytes: usize,
}

/// Which domain a launch orders memory in.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipLaunchMemSyncDomainMap {
    pub default_: c_uchar,
    pub remote: c_uchar,
}

/// The value of a launch attribute; the attribute's id says which member.
#[repr(C)]
#[derive(Clone, Copy)]
pub union hipLaunchAttributeValue {
    pub pad: [c_char; 64],
    pub accessPolicyWindow: hipAccessPolicyWindow,
    pub cooperative: c_int,
    pub priority: c_int,
    pub syncPolicy: hipSynchronizationPolicy,
    pub memSyncDomainMap: hipLaunchMemSyncDomainMap,
    pub memSyncDomain: hipLaunchMemSyncDomain,
    pub clusterDim: dim3,
    pub clusterSchedulingPolicyPreference: hipClusterSchedulingPolicy,
}

/// An attribute of a launch.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipLaunchAttribute {
    pub id: hipLaunchAttributeID,
    pub pad: [c_char; 4],
    #[tagged(by = id, table = crate::families::tags::LAUNCH_ATTRIBUTES)]
    pub val: hipLaunchAttributeValue,
}

/// The header's other names for the same type and constants.
pub type hipStreamAttrID = hipLaunchAttributeID;
/// See [`hipStreamAttrID`].
pub type hipStreamAttrValue = hipLaunchAttributeValue;
/// See [`hipStreamAttrID`].
pub type hipKernelNodeAttrID = hipLaunchAttributeID;
/// See [`hipStreamAttrID`].
pub type hipKernelNodeAttrValue = hipLaunchAttributeValue;

/// How a kernel is launched by host function.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipLaunchConfig_t {
    pub gridDim: dim3,
    pub blockDim: dim3,
    pub dynamicSmemBytes: usize,
    pub stream: hipStream_t,
    #[deref(count = numAttrs)]
    pub attrs: *mut hipLaunchAttribute,
    pub numAttrs: c_uint,
}

/// How a module's kernel is launched.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct HIP_LAUNCH_CONFIG {
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub hStream: hipStream_t,
    #[deref(count = numAttrs)]
    pub attrs: *mut hipLaunchAttribute,
    pub numAttrs: c_uint,
}
