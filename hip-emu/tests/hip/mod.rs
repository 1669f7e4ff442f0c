//! The library under test, loaded by its path as a program would load it.
#![allow(non_snake_case, reason = "HIP's names keep HIP's spelling")]
#![allow(dead_code, reason = "each test file uses a part")]

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use hrr_ffi::types::*;
use libloading::Library;

/// Kernels for gfx90a, the default target, and for another one.
pub(crate) const KERNELS: &[u8] = include_bytes!("../data/kernels.gfx90a.co");
pub(crate) const FOREIGN: &[u8] = include_bytes!("../data/kernels.gfx906.co");

/// The library that cargo built for this test.
pub(crate) fn library_path() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().join("libamdhip64.so")
}

static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    // SAFETY: the library runs no code when it is loaded.
    unsafe { Library::new(library_path()) }.unwrap()
});

/// The address of an exported function.
pub(crate) fn symbol(name: &str) -> *const c_void {
    // SAFETY: only the address is taken, which is what a symbol of a pointer type holds.
    let found = unsafe { LIBRARY.get::<*const c_void>(name) };
    *found.unwrap_or_else(|error| panic!("{name}: {error}"))
}

macro_rules! functions {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
        $(
            #[allow(clippy::too_many_arguments, reason = "as many as HIP has")]
            pub(crate) fn $name($($arg: $ty),*) -> $ret {
                type Function = unsafe extern "C" fn($($ty),*) -> $ret;
                static FUNCTION: LazyLock<Function> = LazyLock::new(|| {
                    // SAFETY: the type is that of HIP's header.
                    unsafe { std::mem::transmute::<*const c_void, Function>(symbol(stringify!($name))) }
                });
                // SAFETY: tests pass what the function asks for, or what it must refuse.
                unsafe { FUNCTION($($arg),*) }
            }
        )*
    };
}

functions! {
    hipInit(flags: c_uint) -> hipError_t;
    hipGetLastError() -> hipError_t;
    hipPeekAtLastError() -> hipError_t;
    hipGetErrorName(error: hipError_t) -> *const c_char;
    hipGetErrorString(error: hipError_t) -> *const c_char;
    hipGetDeviceCount(count: *mut c_int) -> hipError_t;
    hipSetDevice(device: c_int) -> hipError_t;
    hipDeviceSynchronize() -> hipError_t;
    hipDeviceReset() -> hipError_t;
    hipDeviceGetLuid(luid: *mut [c_char; 8], mask: *mut c_uint, device: c_int) -> hipError_t;
    hipGetDeviceProperties(p: *mut hipDeviceProp_tR0000, device: c_int) -> hipError_t;
    hipGetDevicePropertiesR0600(p: *mut hipDeviceProp_tR0600, device: c_int) -> hipError_t;
    hipMalloc(p: *mut *mut c_void, bytes: usize) -> hipError_t;
    hipMallocManaged(p: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    hipFree(p: *mut c_void) -> hipError_t;
    hipHostMalloc(p: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    hipHostFree(p: *mut c_void) -> hipError_t;
    hipHostRegister(p: *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    hipHostUnregister(p: *mut c_void) -> hipError_t;
    hipHostGetDevicePointer(d: *mut *mut c_void, h: *mut c_void, flags: c_uint) -> hipError_t;
    hipHostGetFlags(flags: *mut c_uint, h: *mut c_void) -> hipError_t;
    hipMemAdvise(p: *const c_void, bytes: usize, advice: hipMemoryAdvise, device: c_int) -> hipError_t;
    hipMemPrefetchAsync(p: *const c_void, bytes: usize, device: c_int, s: hipStream_t) -> hipError_t;
    hipMemRangeGetAttribute(data: *mut c_void, size: usize, a: hipMemRangeAttribute, p: *const c_void, bytes: usize) -> hipError_t;
    hipMemRangeGetAttributes(data: *mut *mut c_void, sizes: *mut usize, a: *mut hipMemRangeAttribute, n: usize, p: *const c_void, bytes: usize) -> hipError_t;
    hipMallocAsync(p: *mut *mut c_void, bytes: usize, s: hipStream_t) -> hipError_t;
    hipFreeAsync(p: *mut c_void, s: hipStream_t) -> hipError_t;
    hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t;
    hipPointerGetAttributes(a: *mut hipPointerAttribute_t, p: *const c_void) -> hipError_t;
    hipMemGetAddressRange(b: *mut *mut c_void, bytes: *mut usize, p: *mut c_void) -> hipError_t;
    hipMemcpy(d: *mut c_void, s: *const c_void, bytes: usize, k: hipMemcpyKind) -> hipError_t;
    hipMemcpyAsync(d: *mut c_void, s: *const c_void, bytes: usize, k: hipMemcpyKind, stream: hipStream_t) -> hipError_t;
    hipMemcpy2D(d: *mut c_void, dp: usize, s: *const c_void, sp: usize, w: usize, h: usize, k: hipMemcpyKind) -> hipError_t;
    hipMemcpyParam2D(p: *const hip_Memcpy2D) -> hipError_t;
    hipMemcpyParam2DAsync(p: *const hip_Memcpy2D, s: hipStream_t) -> hipError_t;
    hipMemset(d: *mut c_void, value: c_int, bytes: usize) -> hipError_t;
    hipMemsetD32(d: *mut c_void, value: c_int, count: usize) -> hipError_t;
    hipStreamCreate(s: *mut hipStream_t) -> hipError_t;
    hipStreamCreateWithFlags(s: *mut hipStream_t, flags: c_uint) -> hipError_t;
    hipStreamDestroy(s: hipStream_t) -> hipError_t;
    hipStreamQuery(s: hipStream_t) -> hipError_t;
    hipStreamSynchronize(s: hipStream_t) -> hipError_t;
    hipStreamWaitEvent(s: hipStream_t, e: hipEvent_t, flags: c_uint) -> hipError_t;
    hipStreamWaitValue32(s: hipStream_t, p: *mut c_void, value: u32, flags: c_uint, mask: u32) -> hipError_t;
    hipStreamWriteValue32(s: hipStream_t, p: *mut c_void, value: u32, flags: c_uint) -> hipError_t;
    hipStreamBatchMemOp(s: hipStream_t, n: c_uint, p: *mut hipStreamBatchMemOpParams, flags: c_uint) -> hipError_t;
    hipStreamAddCallback(s: hipStream_t, f: hipStreamCallback_t, data: *mut c_void, flags: c_uint) -> hipError_t;
    hipLaunchHostFunc(s: hipStream_t, f: hipHostFn_t, data: *mut c_void) -> hipError_t;
    hipStreamBeginCapture(s: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    hipStreamEndCapture(s: hipStream_t, g: *mut hipGraph_t) -> hipError_t;
    hipStreamIsCapturing(s: hipStream_t, status: *mut hipStreamCaptureStatus) -> hipError_t;
    hipEventCreate(e: *mut hipEvent_t) -> hipError_t;
    hipEventCreateWithFlags(e: *mut hipEvent_t, flags: c_uint) -> hipError_t;
    hipEventDestroy(e: hipEvent_t) -> hipError_t;
    hipEventRecord(e: hipEvent_t, s: hipStream_t) -> hipError_t;
    hipEventQuery(e: hipEvent_t) -> hipError_t;
    hipEventSynchronize(e: hipEvent_t) -> hipError_t;
    hipEventElapsedTime(ms: *mut f32, a: hipEvent_t, b: hipEvent_t) -> hipError_t;
    hipModuleLoadData(m: *mut hipModule_t, image: *const c_void) -> hipError_t;
    hipModuleLoad(m: *mut hipModule_t, path: *const c_char) -> hipError_t;
    hipModuleUnload(m: hipModule_t) -> hipError_t;
    hipModuleGetFunction(f: *mut hipFunction_t, m: hipModule_t, name: *const c_char) -> hipError_t;
    hipModuleGetGlobal(p: *mut *mut c_void, n: *mut usize, m: hipModule_t, name: *const c_char) -> hipError_t;
    hipModuleLaunchKernel(f: hipFunction_t, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, s: hipStream_t, params: *mut *mut c_void, extra: *mut *mut c_void) -> hipError_t;
    hipLinkCreate(n: c_uint, o: *mut hipJitOption, v: *mut *mut c_void, s: *mut hipLinkState_t) -> hipError_t;
    hipGetProcAddress(name: *const c_char, f: *mut *mut c_void, version: c_int, flags: u64, status: *mut hipDriverProcAddressQueryResult) -> hipError_t;
    hipGraphCreate(g: *mut hipGraph_t, flags: c_uint) -> hipError_t;
    hipGraphDestroy(g: hipGraph_t) -> hipError_t;
    hipGraphAddEmptyNode(n: *mut hipGraphNode_t, g: hipGraph_t, d: *const hipGraphNode_t, count: usize) -> hipError_t;
    hipGraphAddKernelNode(n: *mut hipGraphNode_t, g: hipGraph_t, d: *const hipGraphNode_t, count: usize, p: *const hipKernelNodeParams) -> hipError_t;
    hipGraphKernelNodeGetParams(n: hipGraphNode_t, p: *mut hipKernelNodeParams) -> hipError_t;
    hipGraphAddMemcpyNode(n: *mut hipGraphNode_t, g: hipGraph_t, d: *const hipGraphNode_t, count: usize, p: *const hipMemcpy3DParms) -> hipError_t;
    hipGraphAddMemcpyNode1D(n: *mut hipGraphNode_t, g: hipGraph_t, d: *const hipGraphNode_t, count: usize, dst: *mut c_void, src: *const c_void, bytes: usize, k: hipMemcpyKind) -> hipError_t;
    hipGraphAddMemsetNode(n: *mut hipGraphNode_t, g: hipGraph_t, d: *const hipGraphNode_t, count: usize, p: *const hipMemsetParams) -> hipError_t;
    hipGraphAddHostNode(n: *mut hipGraphNode_t, g: hipGraph_t, d: *const hipGraphNode_t, count: usize, p: *const hipHostNodeParams) -> hipError_t;
    hipGraphAddChildGraphNode(n: *mut hipGraphNode_t, g: hipGraph_t, d: *const hipGraphNode_t, count: usize, c: hipGraph_t) -> hipError_t;
    hipGraphAddEventRecordNode(n: *mut hipGraphNode_t, g: hipGraph_t, d: *const hipGraphNode_t, count: usize, e: hipEvent_t) -> hipError_t;
    hipGraphAddDependencies(g: hipGraph_t, from: *const hipGraphNode_t, to: *const hipGraphNode_t, count: usize) -> hipError_t;
    hipGraphGetNodes(g: hipGraph_t, n: *mut hipGraphNode_t, count: *mut usize) -> hipError_t;
    hipGraphGetEdges(g: hipGraph_t, from: *mut hipGraphNode_t, to: *mut hipGraphNode_t, count: *mut usize) -> hipError_t;
    hipGraphClone(c: *mut hipGraph_t, g: hipGraph_t) -> hipError_t;
    hipGraphNodeFindInClone(n: *mut hipGraphNode_t, o: hipGraphNode_t, c: hipGraph_t) -> hipError_t;
    hipGraphNodeGetType(n: hipGraphNode_t, t: *mut hipGraphNodeType) -> hipError_t;
    hipGraphInstantiate(e: *mut hipGraphExec_t, g: hipGraph_t, n: *mut hipGraphNode_t, log: *mut c_char, bytes: usize) -> hipError_t;
    hipGraphExecDestroy(e: hipGraphExec_t) -> hipError_t;
    hipGraphLaunch(e: hipGraphExec_t, s: hipStream_t) -> hipError_t;
    hipGraphExecKernelNodeSetParams(e: hipGraphExec_t, n: hipGraphNode_t, p: *const hipKernelNodeParams) -> hipError_t;
    hipGraphExecUpdate(e: hipGraphExec_t, g: hipGraph_t, n: *mut hipGraphNode_t, r: *mut hipGraphExecUpdateResult) -> hipError_t;
    hipMemAddressReserve(p: *mut *mut c_void, n: usize, align: usize, hint: *mut c_void, flags: c_ulonglong) -> hipError_t;
    hipMemAddressFree(p: *mut c_void, n: usize) -> hipError_t;
    hipMemCreate(h: *mut hipMemGenericAllocationHandle_t, n: usize, p: *const hipMemAllocationProp, flags: c_ulonglong) -> hipError_t;
    hipMemRelease(h: hipMemGenericAllocationHandle_t) -> hipError_t;
    hipMemMap(p: *mut c_void, n: usize, offset: usize, h: hipMemGenericAllocationHandle_t, flags: c_ulonglong) -> hipError_t;
    hipMemUnmap(p: *mut c_void, n: usize) -> hipError_t;
    hipMemSetAccess(p: *mut c_void, n: usize, d: *const hipMemAccessDesc, count: usize) -> hipError_t;
    hipMemGetAllocationGranularity(g: *mut usize, p: *const hipMemAllocationProp, o: hipMemAllocationGranularity_flags) -> hipError_t;
    hipIpcGetMemHandle(h: *mut hipIpcMemHandle_t, p: *mut c_void) -> hipError_t;
    hipIpcOpenMemHandle(p: *mut *mut c_void, h: hipIpcMemHandle_t, flags: c_uint) -> hipError_t;
    hipIpcCloseMemHandle(p: *mut c_void) -> hipError_t;
    hipCtxCreate(c: *mut hipCtx_t, flags: c_uint, device: c_int) -> hipError_t;
    hipCtxDestroy(c: hipCtx_t) -> hipError_t;
    hipCtxGetCurrent(c: *mut hipCtx_t) -> hipError_t;
    hipCtxSetCurrent(c: hipCtx_t) -> hipError_t;
    hipCtxPushCurrent(c: hipCtx_t) -> hipError_t;
    hipCtxPopCurrent(c: *mut hipCtx_t) -> hipError_t;
    hipDevicePrimaryCtxSetFlags(device: c_int, flags: c_uint) -> hipError_t;
    hipDeviceGetMemPool(p: *mut hipMemPool_t, device: c_int) -> hipError_t;
    hipDeviceSetMemPool(device: c_int, p: hipMemPool_t) -> hipError_t;
    hipDeviceGetDefaultMemPool(p: *mut hipMemPool_t, device: c_int) -> hipError_t;
    hipMemPoolCreate(p: *mut hipMemPool_t, properties: *const hipMemPoolProps) -> hipError_t;
    hipMemPoolDestroy(p: hipMemPool_t) -> hipError_t;
    hipMemPoolGetAttribute(p: hipMemPool_t, a: hipMemPoolAttr, value: *mut c_void) -> hipError_t;
    hipExtStreamCreateWithCUMask(s: *mut hipStream_t, n: u32, mask: *const u32) -> hipError_t;
    hipExtStreamGetCUMask(s: hipStream_t, n: u32, mask: *mut u32) -> hipError_t;
    hipIpcGetEventHandle(h: *mut hipIpcEventHandle_t, e: hipEvent_t) -> hipError_t;
    hipIpcOpenEventHandle(e: *mut hipEvent_t, h: hipIpcEventHandle_t) -> hipError_t;
    hipMemPoolImportFromShareableHandle(p: *mut hipMemPool_t, h: *mut c_void, k: hipMemAllocationHandleType, flags: c_uint) -> hipError_t;
    hipMallocArray(a: *mut hipArray_t, d: *const hipChannelFormatDesc, w: usize, h: usize, flags: c_uint) -> hipError_t;
    hipLaunchKernel(f: *const c_void, grid: dim3, block: dim3, args: *mut *mut c_void, shared: usize, s: hipStream_t) -> hipError_t;
    hipGetSymbolAddress(p: *mut *mut c_void, symbol: *const c_void) -> hipError_t;
    hipMemcpyToSymbol(symbol: *const c_void, s: *const c_void, n: usize, offset: usize, k: hipMemcpyKind) -> hipError_t;
    __hipRegisterFatBinary(wrapper: *const c_void) -> hipFatBinaryHandle;
    __hipUnregisterFatBinary(b: hipFatBinaryHandle) -> ();
    __hipRegisterFunction(b: hipFatBinaryHandle, stub: *const c_void, d: *mut c_char, name: *const c_char, limit: c_uint, tid: *mut c_void, bid: *mut c_void, bd: *mut c_void, gd: *mut c_void, ws: *mut c_int) -> ();
    __hipRegisterVar(b: hipFatBinaryHandle, shadow: *mut c_void, h: *mut c_char, name: *const c_char, ext: c_int, size: usize, constant: c_int, global: c_int) -> ();
    hipOccupancyMaxActiveBlocksPerMultiprocessor(n: *mut c_int, f: *const c_void, block: c_int, shared: usize) -> hipError_t;
}

/// Tests of one file share a process, and with it captures, faults and the last error's device:
/// one runs at a time.
pub(crate) fn exclusive() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asserts success.
#[track_caller]
pub(crate) fn ok(answer: hipError_t) {
    assert_eq!(answer, hipSuccess);
}

pub(crate) const NULL_STREAM: hipStream_t = hipStream_t::NULL;

pub(crate) fn stream() -> hipStream_t {
    let mut stream = hipStream_t::NULL;
    ok(hipStreamCreate(&raw mut stream));
    stream
}

pub(crate) fn non_blocking_stream() -> hipStream_t {
    let mut stream = hipStream_t::NULL;
    ok(hipStreamCreateWithFlags(&raw mut stream, hipStreamNonBlocking));
    stream
}

pub(crate) fn event() -> hipEvent_t {
    let mut event = hipEvent_t::NULL;
    ok(hipEventCreate(&raw mut event));
    event
}

pub(crate) fn device_memory(bytes: usize) -> *mut c_void {
    let mut pointer = std::ptr::null_mut();
    ok(hipMalloc(&raw mut pointer, bytes));
    pointer
}

/// Pinned words, all zero.
pub(crate) fn pinned<'a>(count: usize) -> &'a mut [u32] {
    let mut pointer = std::ptr::null_mut();
    ok(hipHostMalloc(&raw mut pointer, 4 * count, 0));
    // SAFETY: pinned memory is ordinary, zeroed memory until it is freed, which the test does
    // last.
    unsafe { std::slice::from_raw_parts_mut(pointer.cast(), count) }
}

pub(crate) fn module(image: &[u8]) -> hipModule_t {
    let mut module = hipModule_t::NULL;
    ok(hipModuleLoadData(&raw mut module, image.as_ptr().cast()));
    module
}

pub(crate) fn function(module: hipModule_t, name: &std::ffi::CStr) -> hipFunction_t {
    let mut function = hipFunction_t::NULL;
    ok(hipModuleGetFunction(&raw mut function, module, name.as_ptr()));
    function
}

/// Launches `add(p, value, n)` with one workgroup.
pub(crate) fn launch_add(
    function: hipFunction_t,
    p: *mut c_void,
    value: c_int,
    n: c_int,
    stream: hipStream_t,
) -> hipError_t {
    let (mut p, mut value, mut n) = (p, value, n);
    let mut arguments =
        [(&raw mut p).cast::<c_void>(), (&raw mut value).cast(), (&raw mut n).cast()];
    let none = std::ptr::null_mut();
    hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, arguments.as_mut_ptr(), none)
}

/// Launches a kernel of one pointer with one work-item.
pub(crate) fn launch_one(
    function: hipFunction_t,
    p: *mut c_void,
    stream: hipStream_t,
) -> hipError_t {
    let mut p = p;
    let mut arguments = [(&raw mut p).cast::<c_void>()];
    let none = std::ptr::null_mut();
    hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments.as_mut_ptr(), none)
}

/// The words of device memory.
pub(crate) fn read_words(from: *const c_void, count: usize) -> Vec<u32> {
    let mut words = vec![0; count];
    ok(hipMemcpy(words.as_mut_ptr().cast(), from, 4 * count, hipMemcpyDeviceToHost));
    words
}

/// Stops a stream until the word becomes 1.
pub(crate) fn gate(stream: hipStream_t, word: &mut u32) {
    ok(hipStreamWaitValue32(stream, (&raw mut *word).cast(), 1, 1, u32::MAX));
}

/// Lets a gated stream go on.
pub(crate) fn open(word: &mut u32) {
    // SAFETY: the word is live and aligned; the stream's worker reads it meanwhile.
    unsafe { (&raw mut *word).write_volatile(1) };
}
