//! Functions that exist so that programs can start, and that answer "not supported".
//!
//! The first call of each says its name on stderr: a program that goes on without looking at the
//! answer should not do so in silence.

use std::collections::HashSet;
use std::ffi::{c_char, c_int, c_uint};
use std::sync::{LazyLock, Mutex};

use hrr_ffi::types::*;

use crate::api::{self, Out};
use crate::streams::lock;

/// Defines functions that refuse, with the status type's "not supported".
macro_rules! refusals {
    ($table:ident, $answer:expr, $status:ty; $($name:ident),* $(,)?) => {
        $(
            pub(crate) unsafe extern "C" fn $name() -> $status {
                refuse(stringify!($name));
                $answer
            }
            export!($name);
        )*
        /// The functions of this group.
        pub(crate) static $table: &[api::Entry] = &[$(api::Entry {
            name: stringify!($name),
            address: api::Address($name as *const ()),
        }),*];
    };
}

refusals! { TABLE, api::call_refused(), hipError_t;
    __hipReportDevices,
    hipArray3DCreate,
    hipArray3DGetDescriptor,
    hipArrayCreate,
    hipArrayDestroy,
    hipArrayGetDescriptor,
    hipArrayGetInfo,
    hipBindTexture,
    hipBindTexture2D,
    hipBindTextureToArray,
    hipBindTextureToMipmappedArray,
    hipCreateSurfaceObject,
    hipCreateTextureObject,
    hipCtxGetApiVersion,
    hipCtxGetCacheConfig,
    hipCtxSetCacheConfig,
    hipCtxSetSharedMemConfig,
    hipDestroyExternalMemory,
    hipDestroyExternalSemaphore,
    hipDestroySurfaceObject,
    hipDestroyTextureObject,
    hipDevResourceGenerateDesc,
    hipDevSmResourceSplit,
    hipDevSmResourceSplitByCount,
    hipDeviceGetDevResource,
    hipDeviceGetExecutionCtx,
    hipDeviceGetGraphMemAttribute,
    hipDeviceGetTexture1DLinearMaxWidth,
    hipDeviceGraphMemTrim,
    hipDeviceSetGraphMemAttribute,
    hipDrvGraphAddMemFreeNode,
    hipDrvGraphMemcpyNodeGetParams,
    hipDrvGraphMemcpyNodeSetParams,
    hipDrvMemDiscardAndPrefetchBatchAsync,
    hipDrvMemDiscardBatchAsync,
    hipExecutionCtxDestroy,
    hipExecutionCtxGetDevResource,
    hipExecutionCtxGetDevice,
    hipExecutionCtxGetId,
    hipExecutionCtxRecordEvent,
    hipExecutionCtxStreamCreate,
    hipExecutionCtxSynchronize,
    hipExecutionCtxWaitEvent,
    hipExtDisableLogging,
    hipExtEnableLogging,
    hipExtHostAlloc,
    hipExtLaunchMultiKernelMultiDevice,
    hipExtSetLoggingParams,
    hipExternalMemoryGetMappedBuffer,
    hipExternalMemoryGetMappedMipmappedArray,
    hipFreeArray,
    hipFreeMipmappedArray,
    hipGLGetDevices,
    hipGetChannelDesc,
    hipGetMipmappedArrayLevel,
    hipGetTextureAlignmentOffset,
    hipGetTextureObjectResourceDesc,
    hipGetTextureObjectResourceViewDesc,
    hipGetTextureObjectTextureDesc,
    hipGetTextureReference,
    hipGraphAddExternalSemaphoresSignalNode,
    hipGraphAddExternalSemaphoresWaitNode,
    hipGraphAddNode,
    hipGraphBatchMemOpNodeGetParams,
    hipGraphDebugDotPrint,
    hipGraphExecExternalSemaphoresSignalNodeSetParams,
    hipGraphExecExternalSemaphoresWaitNodeSetParams,
    hipGraphExecNodeSetParams,
    hipGraphExternalSemaphoresSignalNodeGetParams,
    hipGraphExternalSemaphoresSignalNodeSetParams,
    hipGraphExternalSemaphoresWaitNodeGetParams,
    hipGraphExternalSemaphoresWaitNodeSetParams,
    hipGraphKernelNodeCopyAttributes,
    hipGraphKernelNodeGetAttribute,
    hipGraphKernelNodeSetAttribute,
    hipGraphNodeSetParams,
    hipGraphReleaseUserObject,
    hipGraphRetainUserObject,
    hipGraphicsGLRegisterBuffer,
    hipGraphicsGLRegisterImage,
    hipGraphicsMapResources,
    hipGraphicsResourceGetMappedPointer,
    hipGraphicsSubResourceGetMappedArray,
    hipGraphicsUnmapResources,
    hipGraphicsUnregisterResource,
    hipGreenCtxCreate,
    hipImportExternalMemory,
    hipImportExternalSemaphore,
    hipInitDevice,
    hipKernelGetAttribute,
    hipKernelGetLibrary,
    hipKernelGetName,
    hipKernelGetParamInfo,
    hipKernelSetAttribute,
    hipLaunchCooperativeKernelMultiDevice,
    hipLibraryEnumerateKernels,
    hipLibraryGetGlobal,
    hipLibraryGetManaged,
    hipLibraryLoadFromFile,
    hipLinkAddData,
    hipLinkAddFile,
    hipLinkComplete,
    hipLinkDestroy,
    hipMalloc3DArray,
    hipMallocArray,
    hipMallocMipmappedArray,
    hipMemDiscardAndPrefetchBatchAsync,
    hipMemDiscardBatchAsync,
    hipMemExportToShareableHandle,
    hipMemGetDefaultMemPool,
    hipMemGetHandleForAddressRange,
    hipMemGetMemPool,
    hipMemImportFromShareableHandle,
    hipMemMapArrayAsync,
    hipMemPoolExportPointer,
    hipMemPoolExportToShareableHandle,
    hipMemPoolImportPointer,
    hipMemPrefetchBatchAsync,
    hipMemRetainAllocationHandle,
    hipMemSetMemPool,
    hipMemcpy2DArrayToArray,
    hipMemcpy2DFromArray,
    hipMemcpy2DFromArrayAsync,
    hipMemcpy2DFromArrayAsync_spt,
    hipMemcpy2DFromArray_spt,
    hipMemcpy2DToArray,
    hipMemcpy2DToArrayAsync,
    hipMemcpy2DToArrayAsync_spt,
    hipMemcpy2DToArray_spt,
    hipMemcpy3DBatchAsync,
    hipMemcpyAtoA,
    hipMemcpyAtoD,
    hipMemcpyAtoH,
    hipMemcpyAtoHAsync,
    hipMemcpyBatchAsync,
    hipMemcpyDtoA,
    hipMemcpyFromArray,
    hipMemcpyFromArray_spt,
    hipMemcpyHtoA,
    hipMemcpyHtoAAsync,
    hipMemcpyToArray,
    hipMipmappedArrayCreate,
    hipMipmappedArrayDestroy,
    hipMipmappedArrayGetLevel,
    hipMipmappedArrayGetMemoryRequirements,
    hipModuleGetTexRef,
    hipModuleLaunchCooperativeKernelMultiDevice,
    hipOccupancyAvailableDynamicSMemPerBlock,
    hipOccupancyMaxActiveClusters,
    hipOccupancyMaxPotentialClusterSize,
    hipPointerSetAttribute,
    hipSignalExternalSemaphoresAsync,
    hipStreamCopyAttributes,
    hipStreamGetAttribute,
    hipStreamGetDevResource,
    hipStreamSetAttribute,
    hipTexObjectCreate,
    hipTexObjectDestroy,
    hipTexObjectGetResourceDesc,
    hipTexObjectGetResourceViewDesc,
    hipTexObjectGetTextureDesc,
    hipTexRefGetAddress,
    hipTexRefGetAddressMode,
    hipTexRefGetArray,
    hipTexRefGetBorderColor,
    hipTexRefGetFilterMode,
    hipTexRefGetFlags,
    hipTexRefGetFormat,
    hipTexRefGetMaxAnisotropy,
    hipTexRefGetMipMappedArray,
    hipTexRefGetMipmapFilterMode,
    hipTexRefGetMipmapLevelBias,
    hipTexRefGetMipmapLevelClamp,
    hipTexRefSetAddress,
    hipTexRefSetAddress2D,
    hipTexRefSetAddressMode,
    hipTexRefSetArray,
    hipTexRefSetBorderColor,
    hipTexRefSetFilterMode,
    hipTexRefSetFlags,
    hipTexRefSetFormat,
    hipTexRefSetMaxAnisotropy,
    hipTexRefSetMipmapFilterMode,
    hipTexRefSetMipmapLevelBias,
    hipTexRefSetMipmapLevelClamp,
    hipTexRefSetMipmappedArray,
    hipUnbindTexture,
    hipUserObjectCreate,
    hipUserObjectRelease,
    hipUserObjectRetain,
    hipWaitExternalSemaphoresAsync,
}

hip_api_unchecked! { OTHER;
    /// A description of what a texel is made of.
    fn hipCreateChannelDesc(
        x: c_int,
        y: c_int,
        z: c_int,
        w: c_int,
        kind: hipChannelFormatKind
    ) -> hipChannelFormatDesc {
        hipChannelFormatDesc { x, y, z, w, f: kind }
    }

    /// The numbers of functions are AMD's tracer's own.
    fn hipApiName(_number: u32) -> *const c_char {
        c"unknown".as_ptr()
    }

    /// A precompiled header for the compiler that is not there.
    fn __hipGetPCH(header: Out<*const c_char>, bytes: Out<c_uint>) -> () {
        refuse("__hipGetPCH");
        header.set_if_wanted(std::ptr::null());
        bytes.set_if_wanted(0);
    }
}

/// Says once for each function that it was called.
fn refuse(name: &'static str) {
    static SAID: LazyLock<Mutex<HashSet<&str>>> = LazyLock::new(Mutex::default);
    if lock(&SAID).insert(name) {
        eprintln!("hip-emu: {name} is not supported");
    }
}
