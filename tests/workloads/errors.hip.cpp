// What the functions answer to wrong arguments, and in wrong states; the last error; attributes of
// device, kernels, pointers and pools that are no facts about a machine.
//
// The expected codes are those that AMD's 5.2.3 gives on an emulated device. Left out is what ends
// its process or never returns (null where it wants a pointer, fills beyond an allocation), what it
// takes and should not (addresses inside of an allocation in hipFree, null in some functions of
// pools), and what depends on the machine.
#include "check.h"
#include "compile.h"

#pragma clang diagnostic ignored "-Wdeprecated-declarations"

#define RTC_EXPECT(call, expected) EXPECT((hipError_t)(call), (hipError_t)(expected))

__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
__device__ int variable[4];
__global__ void uses() { variable[0]++; }
static const char* SOURCE = R"(
extern "C" {
__device__ int cell[3];
__global__ void set(int* to, int value) { *to = value + cell[0]; }
})";

static const size_t BYTES = 4096;
static char* device;
static char* other;
static char* pinned;
static char host[BYTES];
static void* const NOWHERE = (void*)0x1234560;

static void devices() {
    int value = 0, count = 0;
    size_t size = 0;
    hipDevice_t ordinal = 0;
    hipDeviceProp_t properties;
    hipUUID uuid;
    char text[64];
    HIP(hipInit(0));
    HIP(hipInit(1));
    EXPECT(hipGetDeviceCount(nullptr), hipErrorInvalidValue);
    HIP(hipGetDeviceCount(&count));
    EXPECT(hipGetDevice(nullptr), hipErrorInvalidValue);
    EXPECT(hipSetDevice(-1), hipErrorInvalidDevice);
    EXPECT(hipSetDevice(1), hipErrorInvalidDevice);
    HIP(hipSetDevice(0));
    EXPECT(hipGetDeviceProperties(nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipGetDeviceProperties(&properties, 1), hipErrorInvalidDevice);
    EXPECT(hipGetDeviceProperties(&properties, -1), hipErrorInvalidDevice);
    HIP(hipDeviceGet(&ordinal, 0));
    EXPECT(hipDeviceGet(&ordinal, 1), hipErrorInvalidDevice);
    EXPECT(hipDeviceGet(&ordinal, -1), hipErrorInvalidDevice);
    EXPECT(hipDeviceGet(nullptr, 0), hipErrorInvalidDevice);
    HIP(hipDeviceGetName(text, 64, 0));
    EXPECT(hipDeviceGetName(text, 64, 7), hipErrorInvalidDevice);
    EXPECT(hipDeviceGetName(nullptr, 64, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceGetName(text, 0, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceGetName(text, -1, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceGetName(text, 3, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceGetUuid(&uuid, 1), hipErrorInvalidDevice);
    EXPECT(hipDeviceGetUuid(nullptr, 0), hipErrorInvalidValue);
    HIP(hipDeviceGetUuid(&uuid, 0));
    EXPECT(hipDeviceTotalMem(nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceTotalMem(&size, 1), hipErrorInvalidDevice);
    HIP(hipDeviceTotalMem(&size, 0));
    HIP(hipDeviceComputeCapability(&value, &count, 0));
    EXPECT(hipDeviceComputeCapability(&value, &count, 3), hipErrorInvalidDevice);
    EXPECT(hipDeviceComputeCapability(nullptr, &count, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceGetAttribute(nullptr, hipDeviceAttributeWarpSize, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 1), hipErrorInvalidDevice);
    EXPECT(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, -1), hipErrorInvalidDevice);
    EXPECT(hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)8000, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)12000, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)-1, 0), hipErrorInvalidValue);
    HIP(hipDeviceGetPCIBusId(text, 64, 0));
    EXPECT(hipDeviceGetPCIBusId(text, 64, 1), hipErrorInvalidDevice);
    EXPECT(hipDeviceGetPCIBusId(nullptr, 64, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceGetPCIBusId(text, 0, 0), hipErrorInvalidValue);
    HIP(hipDeviceGetPCIBusId(text, 4, 0));
    EXPECT(hipDeviceGetByPCIBusId(&value, "nonsense"), hipErrorInvalidValue);
    EXPECT(hipDeviceGetByPCIBusId(&value, "0000:7f:00.0"), hipErrorInvalidValue);
    EXPECT(hipDeviceGetByPCIBusId(&value, nullptr), hipErrorInvalidValue);
    EXPECT(hipDeviceGetByPCIBusId(nullptr, "0000:7f:00.0"), hipErrorInvalidValue);
    HIP(hipDeviceCanAccessPeer(&value, 0, 0));
    CHECK(value == 0);
    EXPECT(hipDeviceCanAccessPeer(&value, 0, 1), hipErrorInvalidDevice);
    EXPECT(hipDeviceCanAccessPeer(&value, -1, 0), hipErrorInvalidDevice);
    EXPECT(hipDeviceCanAccessPeer(nullptr, 0, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceEnablePeerAccess(0, 0), hipErrorInvalidDevice);
    EXPECT(hipDeviceEnablePeerAccess(1, 0), hipErrorInvalidDevice);
    EXPECT(hipDeviceEnablePeerAccess(0, 1), hipErrorInvalidValue);
    EXPECT(hipDeviceDisablePeerAccess(0), hipErrorInvalidDevice);
    EXPECT(hipDeviceDisablePeerAccess(1), hipErrorInvalidDevice);
    EXPECT(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrPerformanceRank, 0, 0),
        hipErrorInvalidDevice);
    EXPECT(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrPerformanceRank, 0, 1),
        hipErrorInvalidDevice);
    EXPECT(hipDeviceGetP2PAttribute(nullptr, hipDevP2PAttrPerformanceRank, 0, 1),
        hipErrorInvalidValue);
    EXPECT(hipDeviceGetP2PAttribute(&value, (hipDeviceP2PAttr)77, 0, 1), hipErrorInvalidDevice);
    hipFuncCache_t cache = hipFuncCachePreferNone;
    hipSharedMemConfig shared = hipSharedMemBankSizeDefault;
    HIP(hipDeviceGetCacheConfig(&cache));
    CHECK(cache == 0);
    EXPECT(hipDeviceGetCacheConfig(nullptr), hipErrorInvalidValue);
    HIP(hipDeviceSetCacheConfig(hipFuncCachePreferL1));
    HIP(hipDeviceSetCacheConfig((hipFuncCache_t)99));
    HIP(hipDeviceGetSharedMemConfig(&shared));
    CHECK(shared == 1);
    EXPECT(hipDeviceGetSharedMemConfig(nullptr), hipErrorInvalidValue);
    HIP(hipDeviceSetSharedMemConfig(hipSharedMemBankSizeFourByte));
    HIP(hipDeviceSetSharedMemConfig((hipSharedMemConfig)99));
    unsigned flags = 77;
    HIP(hipGetDeviceFlags(&flags));
    EXPECT(hipGetDeviceFlags(nullptr), hipErrorInvalidValue);
    HIP(hipSetDeviceFlags(hipDeviceScheduleSpin));
    HIP(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
    EXPECT(hipSetDeviceFlags(0x1000), hipErrorInvalidValue);
    HIP(hipSetDeviceFlags(hipDeviceScheduleAuto));
    HIP(hipGetDeviceFlags(&flags));
    int least = 7, greatest = 7;
    HIP(hipDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 1);
    CHECK(greatest == -1);
    HIP(hipDeviceGetStreamPriorityRange(nullptr, nullptr));
    HIP(hipChooseDevice(&value, &properties));
    EXPECT(hipChooseDevice(nullptr, &properties), hipErrorInvalidValue);
    EXPECT(hipChooseDevice(&value, nullptr), hipErrorInvalidValue);
    EXPECT(hipDriverGetVersion(nullptr), hipErrorInvalidValue);
    EXPECT(hipRuntimeGetVersion(nullptr), hipErrorInvalidValue);
    uint32_t link = 0, hops = 0;
    EXPECT(hipExtGetLinkTypeAndHopCount(0, 0, &link, &hops), hipErrorInvalidValue);
    EXPECT(hipExtGetLinkTypeAndHopCount(0, 1, &link, &hops), hipErrorInvalidDevice);
    EXPECT(hipExtGetLinkTypeAndHopCount(-1, 0, &link, &hops), hipErrorInvalidValue);
    EXPECT(hipExtGetLinkTypeAndHopCount(0, 0, nullptr, &hops), hipErrorInvalidValue);
    EXPECT(hipProfilerStart(), hipErrorNotSupported);
    EXPECT(hipProfilerStop(), hipErrorNotSupported);
}

static void attributes() {
    int value = 0;
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeCanMapHostMemory, 0));
    CHECK(value == 1);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeComputeMode, 0));
    CHECK(value == 0);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeConcurrentKernels, 0));
    CHECK(value == 1);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeConcurrentManagedAccess, 0));
    CHECK(value == 1);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeCooperativeLaunch, 0));
    CHECK(value == 1);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeDirectManagedMemAccessFromHost, 0));
    CHECK(value == 0);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeIntegrated, 0));
    CHECK(value == 0);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeIsMultiGpuBoard, 0));
    CHECK(value == 0);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeKernelExecTimeout, 0));
    CHECK(value == 0);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeComputeCapabilityMajor, 0));
    CHECK(value == 9);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeComputeCapabilityMinor, 0));
    CHECK(value == 0);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeManagedMemory, 0));
    CHECK(value == 1);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxBlockDimX, 0));
    CHECK(value == 1024);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxBlockDimY, 0));
    CHECK(value == 1024);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxBlockDimZ, 0));
    CHECK(value == 1024);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxGridDimX, 0));
    CHECK(value == 2147483647);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxGridDimY, 0));
    CHECK(value == 2147483647);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxGridDimZ, 0));
    CHECK(value == 2147483647);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxThreadsPerBlock, 0));
    CHECK(value == 1024);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxThreadsPerMultiProcessor, 0));
    CHECK(value == 2048);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxPitch, 0));
    CHECK(value == 2147483647);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributePageableMemoryAccess, 0));
    CHECK(value == 0);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributePageableMemoryAccessUsesHostPageTables, 0));
    CHECK(value == 0);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxRegistersPerBlock, 0));
    CHECK(value == 65536);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
    CHECK(value == 65536);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeTextureAlignment, 0));
    CHECK(value == 256);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeTexturePitchAlignment, 0));
    CHECK(value == 256);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeTotalConstantMemory, 0));
    CHECK(value == 2147483647);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
    CHECK(value == 64);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMemoryPoolsSupported, 0));
    CHECK(value == 0);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, 0));
    CHECK(value == 65536);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeCanUseStreamWaitValue, 0));
    CHECK(value == 1);
    HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeEccEnabled, 0));
    CHECK(value == 0);
    EXPECT(hipDeviceGetAttribute(&value, hipDeviceAttributeAsyncEngineCount, 0),
        hipErrorInvalidValue);
    CHECK(value == 0);
    EXPECT(hipDeviceGetAttribute(&value, hipDeviceAttributeCanUseHostPointerForRegisteredMem, 0),
        hipErrorInvalidValue);
    CHECK(value == 0);
    EXPECT(hipDeviceGetAttribute(&value, hipDeviceAttributeComputePreemptionSupported, 0),
        hipErrorInvalidValue);
    CHECK(value == 0);
    EXPECT(hipDeviceGetAttribute(&value, hipDeviceAttributeHostNativeAtomicSupported, 0),
        hipErrorInvalidValue);
    CHECK(value == 0);
    EXPECT(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxBlocksPerMultiProcessor, 0),
        hipErrorInvalidValue);
    CHECK(value == 0);
    EXPECT(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxRegistersPerMultiprocessor, 0),
        hipErrorInvalidValue);
    CHECK(value == 0);
    EXPECT(hipDeviceGetAttribute(&value, hipDeviceAttributeSharedMemPerBlockOptin, 0),
        hipErrorInvalidValue);
    CHECK(value == 0);
    EXPECT(hipDeviceGetAttribute(&value, hipDeviceAttributeSharedMemPerMultiprocessor, 0),
        hipErrorInvalidValue);
    CHECK(value == 0);
    EXPECT(hipDeviceGetAttribute(&value, hipDeviceAttributeSurfaceAlignment, 0),
        hipErrorInvalidValue);
    CHECK(value == 0);
    EXPECT(hipDeviceGetAttribute(&value, hipDeviceAttributeTccDriver, 0), hipErrorInvalidValue);
    CHECK(value == 0);
}

static void contexts() {
    hipCtx_t context = nullptr, current = nullptr;
    hipDevice_t ordinal;
    unsigned flags = 0;
    int version = 0, active = 0;
    HIP(hipCtxGetCurrent(&current));
    HIP(hipCtxGetDevice(&ordinal));
    EXPECT(hipCtxGetDevice(nullptr), hipErrorInvalidValue);
    EXPECT(hipCtxGetApiVersion(current, &version), hipErrorNotSupported);
    EXPECT(hipCtxGetFlags(&flags), hipErrorNotSupported);
    EXPECT(hipCtxSynchronize(), hipErrorNotSupported);
    EXPECT(hipCtxCreate(&context, 0, 5), hipErrorInvalidValue);
    HIP(hipCtxCreate(&context, 0, 0));
    HIP(hipCtxSetCurrent(context));
    HIP(hipCtxSetCurrent(nullptr));
    EXPECT(hipCtxDestroy(nullptr), hipErrorInvalidValue);
    HIP(hipDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active == 0);
    EXPECT(hipDevicePrimaryCtxGetState(9, &flags, &active), hipErrorInvalidDevice);
    HIP(hipDevicePrimaryCtxGetState(0, nullptr, nullptr));
    HIP(hipDevicePrimaryCtxRetain(&context, 0));
    EXPECT(hipDevicePrimaryCtxRetain(&context, 9), hipErrorInvalidDevice);
    EXPECT(hipDevicePrimaryCtxRetain(nullptr, 0), hipErrorInvalidValue);
    HIP(hipDevicePrimaryCtxRelease(0));
    EXPECT(hipDevicePrimaryCtxRelease(9), hipErrorInvalidDevice);
    EXPECT(hipDevicePrimaryCtxSetFlags(0, 0), hipErrorContextAlreadyInUse);
    EXPECT(hipDevicePrimaryCtxSetFlags(9, 0), hipErrorInvalidDevice);
    HIP(hipSetDevice(0));
}

static void memory() {
    void* memory = nullptr;
    size_t size = 0, pitch = 0;
    unsigned flags = 0;
    hipPitchedPtr pitched;
    hipDeviceptr_t base;
    EXPECT(hipMalloc(nullptr, 16), hipErrorInvalidValue);
    HIP(hipMalloc(&memory, 0));
    CHECK(memory == nullptr);
    EXPECT(hipMalloc(&memory, (size_t)1 << 50), hipErrorOutOfMemory);
    EXPECT(hipMalloc(&memory, (size_t)-1), hipErrorOutOfMemory);
    HIP(hipFree(nullptr));
    EXPECT(hipFree(NOWHERE), hipErrorInvalidValue);
    EXPECT(hipFree(host), hipErrorInvalidValue);
    HIP(hipMalloc(&memory, 100));
    HIP(hipFree(memory));
    EXPECT(hipFree(memory), hipErrorInvalidValue);
    EXPECT(hipHostMalloc(nullptr, 16, 0), hipErrorInvalidValue);
    HIP(hipHostMalloc(&memory, 0, 0));
    CHECK(memory == nullptr);
    EXPECT(hipHostMalloc(&memory, 16, 0xffffffff), hipErrorInvalidValue);
    EXPECT(hipHostMalloc(&memory, 16, hipHostMallocCoherent | hipHostMallocNonCoherent),
        hipErrorInvalidValue);
    HIP(hipHostMalloc(&memory, 16,
        hipHostMallocWriteCombined | hipHostMallocMapped | hipHostMallocPortable));
    HIP(hipHostGetFlags(&flags, memory));
    EXPECT(hipHostGetFlags(nullptr, memory), hipErrorInvalidValue);
    EXPECT(hipHostGetFlags(&flags, host), hipErrorInvalidValue);
    EXPECT(hipHostGetFlags(&flags, nullptr), hipErrorInvalidValue);
    HIP(hipHostFree(memory));
    EXPECT(hipHostFree(memory), hipErrorInvalidValue);
    HIP(hipHostFree(nullptr));
    EXPECT(hipHostFree(host), hipErrorInvalidValue);
    HIP(hipHostMalloc(&memory, 16, 0));
    HIP(hipFree(memory));
    HIP(hipMalloc(&memory, 16));
    HIP(hipHostFree(memory));
    EXPECT(hipMallocHost(nullptr, 16), hipErrorInvalidValue);
    EXPECT(hipMallocManaged(nullptr, 16, hipMemAttachGlobal), hipErrorInvalidValue);
    EXPECT(hipMallocManaged(&memory, 0, hipMemAttachGlobal), hipErrorInvalidValue);
    EXPECT(hipMallocManaged(&memory, 16, 0), hipErrorInvalidValue);
    EXPECT(hipMallocManaged(&memory, 16, 77), hipErrorInvalidValue);
    HIP(hipMallocManaged(&memory, 16, hipMemAttachHost));
    HIP(hipFree(memory));
    EXPECT(hipMallocPitch(nullptr, &pitch, 100, 4), hipErrorInvalidValue);
    HIP(hipMallocPitch(&memory, &pitch, 0, 4));
    CHECK(memory == nullptr);
    HIP(hipMallocPitch(&memory, &pitch, 100, 0));
    CHECK(memory == nullptr);
    HIP(hipMallocPitch(&memory, &pitch, 100, 4));
    CHECK(pitch == 256);
    HIP(hipFree(memory));
    HIP(hipMemAllocPitch(&base, &pitch, 100, 4, 3));
    HIP(hipMemAllocPitch(&base, &pitch, 100, 4, 0));
    HIP(hipMemAllocPitch(&base, &pitch, 100, 4, 4));
    HIP(hipFree(base));
    EXPECT(hipMalloc3D(nullptr, make_hipExtent(16, 2, 2)), hipErrorInvalidValue);
    HIP(hipMalloc3D(&pitched, make_hipExtent(0, 2, 2)));
    HIP(hipMalloc3D(&pitched, make_hipExtent(16, 0, 2)));
    HIP(hipMalloc3D(&pitched, make_hipExtent(16, 2, 0)));
    HIP(hipMalloc3D(&pitched, make_hipExtent(16, 2, 2)));
    CHECK(pitched.pitch == 256);
    CHECK(pitched.xsize == 16);
    CHECK(pitched.ysize == 2);
    HIP(hipFree(pitched.ptr));
    EXPECT(hipExtMallocWithFlags(nullptr, 16, hipDeviceMallocDefault), hipErrorInvalidValue);
    EXPECT(hipExtMallocWithFlags(&memory, 16, 0x40), hipErrorInvalidValue);
    HIP(hipExtMallocWithFlags(&memory, 0, hipDeviceMallocDefault));
    EXPECT(hipExtMallocWithFlags(&memory, 16, hipMallocSignalMemory), hipErrorInvalidValue);
    HIP(hipExtMallocWithFlags(&memory, 8, hipMallocSignalMemory));
    HIP(hipFree(memory));
    HIP(hipMemPtrGetInfo(device, &size));
    EXPECT(hipMemPtrGetInfo(nullptr, &size), hipErrorInvalidValue);
    EXPECT(hipMemPtrGetInfo(host, &size), hipErrorInvalidValue);
    HIP(hipMemGetAddressRange(&base, &size, device + 100));
    CHECK((char*)base == device);
    EXPECT(hipMemGetAddressRange(&base, &size, host), hipErrorInvalidDevicePointer);
    EXPECT(hipMemGetAddressRange(&base, &size, nullptr), hipErrorInvalidDevicePointer);
    HIP(hipMemGetAddressRange(&base, &size, pinned + 8));
    EXPECT(hipHostRegister(nullptr, 4096, 0), hipErrorInvalidValue);
    HIP(hipHostRegister(host, BYTES, 0));
    HIP(hipHostGetFlags(&flags, host));
    HIP(hipHostGetDevicePointer(&memory, host, 0));
    HIP(hipHostGetDevicePointer(&memory, host, 1));
    EXPECT(hipHostGetDevicePointer(nullptr, host, 0), hipErrorInvalidValue);
    HIP(hipHostUnregister(host));
    EXPECT(hipHostUnregister(host), hipErrorHostMemoryNotRegistered);
    HIP(hipHostGetDevicePointer(&memory, pinned, 0));
    CHECK(memory == pinned);
    EXPECT(hipHostGetDevicePointer(&memory, host, 0), hipErrorInvalidValue);
    EXPECT(hipHostGetDevicePointer(&memory, nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipMemAdvise(nullptr, 16, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
    EXPECT(hipMemAdvise(device, 0, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
    EXPECT(hipMemPrefetchAsync(nullptr, 16, 0, 0), hipErrorInvalidValue);
    EXPECT(hipMemPrefetchAsync(device, 0, 0, 0), hipErrorInvalidValue);
    EXPECT(hipStreamAttachMemAsync(nullptr, device, 16, hipMemAttachSingle), hipErrorInvalidValue);
    EXPECT(hipStreamAttachMemAsync(nullptr, nullptr, 16, hipMemAttachSingle), hipErrorInvalidValue);
    EXPECT(hipStreamAttachMemAsync(nullptr, device, 16, 99), hipErrorInvalidValue);
}

static void pointers() {
    hipPointerAttribute_t a;
    unsigned u = 0;
    void* p = nullptr;
    uint64_t id = 0;
    int integer = 0;
    size_t size = 0;
    memset(&a, 0x55, sizeof a);
    HIP(hipPointerGetAttributes(&a, device + 8));
    CHECK(a.memoryType == 1);
    CHECK(a.device == 0);
    CHECK((char*)a.devicePointer == device + 8);
    CHECK(!((char*)a.devicePointer == device));
    CHECK(a.hostPointer == nullptr);
    CHECK(a.isManaged == 0);
    CHECK(a.allocationFlags == 0);
    memset(&a, 0x55, sizeof a);
    HIP(hipPointerGetAttributes(&a, pinned + 8));
    CHECK(a.memoryType == 0);
    CHECK((char*)a.devicePointer == pinned + 8);
    CHECK((char*)a.hostPointer == pinned + 8);
    CHECK(a.isManaged == 0);
    CHECK(a.allocationFlags == 0);
    EXPECT(hipPointerGetAttributes(&a, host), hipErrorInvalidValue);
    EXPECT(hipPointerGetAttributes(&a, nullptr), hipErrorInvalidValue);
    EXPECT(hipPointerGetAttributes(nullptr, device), hipErrorInvalidValue);
    EXPECT(hipPointerGetAttributes(&a, NOWHERE), hipErrorInvalidValue);
    HIP(hipPointerGetAttribute(&u, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
    CHECK(u == 1);
    EXPECT(hipPointerGetAttribute(&p, HIP_POINTER_ATTRIBUTE_CONTEXT, device), hipErrorNotSupported);
    HIP(hipPointerGetAttribute(&p, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, device + 8));
    CHECK((char*)p == device + 8);
    EXPECT(hipPointerGetAttribute(&p, HIP_POINTER_ATTRIBUTE_HOST_POINTER, device),
        hipErrorInvalidValue);
    HIP(hipPointerGetAttribute(&p, HIP_POINTER_ATTRIBUTE_HOST_POINTER, pinned + 8));
    CHECK((char*)p == pinned + 8);
    EXPECT(hipPointerGetAttribute(&p, HIP_POINTER_ATTRIBUTE_P2P_TOKENS, device),
        hipErrorNotSupported);
    HIP(hipPointerGetAttribute(&integer, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
    CHECK((integer & 0xff) == 1);
    HIP(hipPointerGetAttribute(&id, HIP_POINTER_ATTRIBUTE_BUFFER_ID, device));
    HIP(hipPointerGetAttribute(&integer, HIP_POINTER_ATTRIBUTE_IS_MANAGED, device));
    CHECK((integer & 0xff) == 0);
    HIP(hipPointerGetAttribute(&integer, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device));
    CHECK(integer == 0);
    EXPECT(hipPointerGetAttribute(&integer, HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE,
        device), hipErrorNotSupported);
    HIP(hipPointerGetAttribute(&p, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, device + 8));
    CHECK((char*)p == device);
    HIP(hipPointerGetAttribute(&size, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, device + 8));
    HIP(hipPointerGetAttribute(&integer, HIP_POINTER_ATTRIBUTE_MAPPED, device));
    EXPECT(hipPointerGetAttribute(&integer, HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, device),
        hipErrorNotSupported);
    EXPECT(hipPointerGetAttribute(&integer, HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE,
        device), hipErrorNotSupported);
    HIP(hipPointerGetAttribute(&integer, HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS, device));
    CHECK(integer == 0);
    EXPECT(hipPointerGetAttribute(&integer, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, device),
        hipErrorNotSupported);
    EXPECT(hipPointerGetAttribute(&u, (hipPointer_attribute)99, device), hipErrorInvalidValue);
    EXPECT(hipPointerGetAttribute(nullptr, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, device),
        hipErrorInvalidValue);
    EXPECT(hipPointerGetAttribute(&u, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, host),
        hipErrorInvalidValue);
    EXPECT(hipPointerGetAttribute(&u, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, nullptr),
        hipErrorInvalidValue);
    hipPointer_attribute two[] = {HIP_POINTER_ATTRIBUTE_MEMORY_TYPE,
        HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void* outs[] = {&u, &integer};
    HIP(hipDrvPointerGetAttributes(2, two, outs, device));
    EXPECT(hipDrvPointerGetAttributes(2, nullptr, outs, device), hipErrorInvalidValue);
    EXPECT(hipDrvPointerGetAttributes(2, two, nullptr, device), hipErrorInvalidValue);
    EXPECT(hipDrvPointerGetAttributes(2, two, outs, nullptr), hipErrorInvalidValue);
    EXPECT(hipDrvPointerGetAttributes(0, two, outs, device), hipErrorInvalidValue);
    HIP(hipDrvPointerGetAttributes(2, two, outs, host));
}

static void copies() {
    hipMemcpyKind bad_kind = (hipMemcpyKind)77;
    HIP(hipMemcpy(device, host, BYTES, hipMemcpyHostToDevice));
    EXPECT(hipMemcpy(device, host, BYTES + 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
    EXPECT(hipMemcpy(device + 8, other, BYTES, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
    EXPECT(hipMemcpy(device, other + 8, BYTES, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
    EXPECT(hipMemcpy(host, device + 1, BYTES, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    EXPECT(hipMemcpy(pinned, device, BYTES + 1, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    EXPECT(hipMemcpy(nullptr, host, 16, hipMemcpyHostToDevice), hipErrorInvalidValue);
    EXPECT(hipMemcpy(device, nullptr, 16, hipMemcpyHostToDevice), hipErrorInvalidValue);
    EXPECT(hipMemcpy(nullptr, nullptr, 16, hipMemcpyDefault), hipErrorInvalidValue);
    HIP(hipMemcpy(nullptr, nullptr, 0, hipMemcpyDefault));
    HIP(hipMemcpy(device, host, 0, hipMemcpyHostToDevice));
    HIP(hipMemcpy(device, host, 16, bad_kind));
    HIP(hipMemcpy(device, host, 16, (hipMemcpyKind)-1));
    HIP(hipMemcpy(device, host, 0, bad_kind));
    HIP(hipMemcpy(device, host, 16, hipMemcpyDefault));
    HIP(hipMemcpy(device, host, 16, hipMemcpyDeviceToHost));
    HIP(hipMemcpy(device, host, 16, hipMemcpyHostToHost));
    HIP(hipMemcpy(host, device, 16, hipMemcpyHostToDevice));
    HIP(hipMemcpy(host, host + 64, 16, hipMemcpyHostToHost));
    EXPECT(hipMemcpy(host, host + 64, 16, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
    HIP(hipMemcpy(device, device, 16, hipMemcpyDeviceToDevice));
    HIP(hipMemcpyAsync(device, host, 16, bad_kind, 0));
    EXPECT(hipMemcpyAsync(nullptr, host, 16, hipMemcpyHostToDevice, 0), hipErrorInvalidValue);
    EXPECT(hipMemcpyAsync(device, host, BYTES + 1, hipMemcpyHostToDevice, 0), hipErrorInvalidValue);
    HIP(hipMemcpyAsync(device, host, 0, hipMemcpyHostToDevice, 0));
    EXPECT(hipMemcpyWithStream(device, nullptr, 16, hipMemcpyHostToDevice, 0),
        hipErrorInvalidValue);
    HIP(hipMemcpyWithStream(device, host, 16, bad_kind, 0));
    EXPECT(hipMemcpyHtoD(nullptr, host, 16), hipErrorInvalidValue);
    EXPECT(hipMemcpyHtoD(device, nullptr, 16), hipErrorInvalidValue);
    HIP(hipMemcpyHtoD(device, host, 0));
    EXPECT(hipMemcpyHtoD(device, host, BYTES + 1), hipErrorInvalidValue);
    EXPECT(hipMemcpyDtoH(nullptr, device, 16), hipErrorInvalidValue);
    EXPECT(hipMemcpyDtoH(host, device, BYTES + 1), hipErrorInvalidValue);
    EXPECT(hipMemcpyDtoD(device, nullptr, 16), hipErrorInvalidValue);
    EXPECT(hipMemcpyDtoD(device, other, BYTES + 1), hipErrorInvalidValue);
    HIP(hipMemcpyPeer(device, 0, other, 0, 16));
    EXPECT(hipMemcpyPeer(device, 5, other, 0, 16), hipErrorInvalidDevice);
    EXPECT(hipMemcpyPeer(device, 0, other, -1, 16), hipErrorInvalidDevice);
    EXPECT(hipMemcpyPeer(nullptr, 0, other, 0, 16), hipErrorInvalidValue);
    EXPECT(hipMemcpyPeerAsync(device, 5, other, 0, 16, 0), hipErrorInvalidDevice);
    HIP(hipMemcpy2D(device, 64, host, 64, 64, 4, hipMemcpyHostToDevice));
    EXPECT(hipMemcpy2D(device, 32, host, 64, 64, 4, hipMemcpyHostToDevice),
        hipErrorInvalidPitchValue);
    EXPECT(hipMemcpy2D(device, 64, host, 32, 64, 4, hipMemcpyHostToDevice),
        hipErrorInvalidPitchValue);
    HIP(hipMemcpy2D(device, 64, host, 64, 0, 4, hipMemcpyHostToDevice));
    HIP(hipMemcpy2D(device, 64, host, 64, 64, 0, hipMemcpyHostToDevice));
    EXPECT(hipMemcpy2D(nullptr, 64, host, 64, 64, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    EXPECT(hipMemcpy2D(device, 64, nullptr, 64, 64, 4, hipMemcpyHostToDevice),
        hipErrorInvalidValue);
    HIP(hipMemcpy2D(device, 64, host, 64, 64, 4, bad_kind));
    EXPECT(hipMemcpy2D(device, 64, host, 64, 64, 100, hipMemcpyHostToDevice), hipErrorInvalidValue);
    EXPECT(hipMemcpy2D(device, 64, other, 64, 64, 100, hipMemcpyDeviceToDevice),
        hipErrorInvalidValue);
    EXPECT(hipMemcpy2D(device, 0, host, 64, 64, 4, hipMemcpyHostToDevice),
        hipErrorInvalidPitchValue);
    EXPECT(hipMemcpy2DAsync(device, 32, host, 64, 64, 4, hipMemcpyHostToDevice, 0),
        hipErrorInvalidPitchValue);
    HIP(hipMemcpy2DAsync(device, 64, host, 64, 64, 4, bad_kind, 0));
    EXPECT(hipMemcpy2DAsync(nullptr, 64, host, 64, 64, 4, hipMemcpyHostToDevice, 0),
        hipErrorInvalidValue);
    hip_Memcpy2D two;
    memset(&two, 0, sizeof two);
    two.srcMemoryType = hipMemoryTypeHost;
    two.srcHost = host;
    two.srcPitch = 64;
    two.dstMemoryType = hipMemoryTypeDevice;
    two.dstDevice = device;
    two.dstPitch = 64;
    two.WidthInBytes = 64;
    two.Height = 4;
    HIP(hipMemcpyParam2D(&two));
    two.srcPitch = 32;
    EXPECT(hipMemcpyParam2D(&two), hipErrorInvalidValue);
    two.srcPitch = 0;
    HIP(hipMemcpyParam2D(&two));
    two.srcPitch = 64;
    two.WidthInBytes = 0;
    HIP(hipMemcpyParam2D(&two));
    two.WidthInBytes = 64;
    two.dstDevice = nullptr;
    EXPECT(hipMemcpyParam2D(&two), hipErrorInvalidValue);
    two.dstDevice = device;
    // Rows beyond the allocation, of host memory that is there, and that is not all there.
    for (size_t height : {65, 1 << 20}) {
        two.Height = height;
        EXPECT(hipMemcpyParam2D(&two), hipErrorInvalidValue);
        EXPECT(hipMemcpyParam2DAsync(&two, 0), hipErrorInvalidValue);
        hip_Memcpy2D back;
        memset(&back, 0, sizeof back);
        back.srcMemoryType = hipMemoryTypeDevice;
        back.srcDevice = device;
        back.dstMemoryType = hipMemoryTypeHost;
        back.dstHost = host;
        back.srcPitch = back.dstPitch = back.WidthInBytes = 64;
        back.Height = height;
        EXPECT(hipMemcpyParam2D(&back), hipErrorInvalidValue);
        EXPECT(hipMemcpyParam2DAsync(&back, 0), hipErrorInvalidValue);
        EXPECT(hipMemcpy2D(pinned, 64, device, 64, 64, height, hipMemcpyDeviceToHost),
            hipErrorInvalidValue);
        EXPECT(hipMemcpy2D(device, 64, pinned, 64, 64, height, hipMemcpyHostToDevice),
            hipErrorInvalidValue);
    }
    hipMemcpy3DParms three;
    memset(&three, 0, sizeof three);
    EXPECT(hipMemcpy3D(nullptr), hipErrorInvalidValue);
    EXPECT(hipMemcpy3D(&three), hipErrorInvalidValue);
    three.srcPtr = make_hipPitchedPtr(host, 64, 64, 4);
    three.dstPtr = make_hipPitchedPtr(device, 64, 64, 4);
    three.extent = make_hipExtent(64, 4, 2);
    three.kind = hipMemcpyHostToDevice;
    HIP(hipMemcpy3D(&three));
    three.kind = bad_kind;
    HIP(hipMemcpy3D(&three));
    three.kind = hipMemcpyHostToDevice;
    three.extent = make_hipExtent(0, 4, 2);
    HIP(hipMemcpy3D(&three));
    three.extent = make_hipExtent(64, 4, 0);
    HIP(hipMemcpy3D(&three));
    three.extent = make_hipExtent(65, 4, 2);
    EXPECT(hipMemcpy3D(&three), hipErrorInvalidValue);
    three.extent = make_hipExtent(64, 4, 200);
    EXPECT(hipMemcpy3D(&three), hipErrorInvalidValue);
    three.extent = make_hipExtent(64, 4, 2);
    three.dstPtr.ptr = nullptr;
    EXPECT(hipMemcpy3D(&three), hipErrorInvalidValue);
    EXPECT(hipMemcpy3DAsync(nullptr, 0), hipErrorInvalidValue);
    HIP_MEMCPY3D driver;
    memset(&driver, 0, sizeof driver);
    EXPECT(hipDrvMemcpy3D(nullptr), hipErrorInvalidValue);
    EXPECT(hipDrvMemcpy3DAsync(nullptr, 0), hipErrorInvalidValue);
}

static void fills() {
    HIP(hipMemset(device, 1, BYTES));
    EXPECT(hipMemset(device, 1, BYTES + 1), hipErrorInvalidValue);
    EXPECT(hipMemset(nullptr, 1, 16), hipErrorInvalidValue);
    HIP(hipMemset(nullptr, 1, 0));
    HIP(hipMemset(device, 1, 0));
    EXPECT(hipMemset(host, 1, 16), hipErrorInvalidValue);
    HIP(hipMemset(pinned, 1, 16));
    EXPECT(hipMemset(NOWHERE, 1, 16), hipErrorInvalidValue);
    EXPECT(hipMemsetAsync(device, 1, BYTES + 1, 0), hipErrorInvalidValue);
    EXPECT(hipMemsetAsync(nullptr, 1, 16, 0), hipErrorInvalidValue);
    EXPECT(hipMemsetAsync(host, 1, 16, 0), hipErrorInvalidValue);
    EXPECT(hipMemsetD8(nullptr, 1, 16), hipErrorInvalidValue);
    EXPECT(hipMemsetD8(device, 1, BYTES + 1), hipErrorInvalidValue);
    EXPECT(hipMemsetD16(device, 1, BYTES / 2 + 1), hipErrorInvalidValue);
    EXPECT(hipMemsetD16(nullptr, 1, 2), hipErrorInvalidValue);
    HIP(hipMemsetD16(device, 1, 0));
    EXPECT(hipMemsetD32(device, 1, BYTES / 4 + 1), hipErrorInvalidValue);
    EXPECT(hipMemsetD32(nullptr, 1, 2), hipErrorInvalidValue);
    EXPECT(hipMemsetD32Async(device, 1, BYTES / 4 + 1, 0), hipErrorInvalidValue);
    HIP(hipMemset2D(device, 64, 1, 64, 4));
    EXPECT(hipMemset2D(device, 32, 1, 64, 4), hipErrorInvalidValue);
    HIP(hipMemset2D(device, 64, 1, 0, 4));
    HIP(hipMemset2D(device, 64, 1, 64, 0));
    EXPECT(hipMemset2D(device, 64, 1, 64, 100), hipErrorInvalidValue);
    EXPECT(hipMemset2D(nullptr, 64, 1, 64, 4), hipErrorInvalidValue);
    EXPECT(hipMemset2DAsync(device, 32, 1, 64, 4, 0), hipErrorInvalidValue);
    HIP(hipMemset3D(make_hipPitchedPtr(device, 64, 64, 4), 1, make_hipExtent(64, 4, 2)));
    HIP(hipMemset3D(make_hipPitchedPtr(device, 64, 64, 4), 1, make_hipExtent(64, 4, 0)));
    HIP(hipMemset3D(make_hipPitchedPtr(device, 64, 64, 4), 1, make_hipExtent(0, 4, 2)));
    EXPECT(hipMemset3D(make_hipPitchedPtr(device, 64, 64, 4), 1, make_hipExtent(64, 4, 200)),
        hipErrorInvalidValue);
    EXPECT(hipMemset3D(make_hipPitchedPtr(nullptr, 64, 64, 4), 1, make_hipExtent(64, 4, 2)),
        hipErrorInvalidValue);
}

static void streams() {
    HIP(hipDeviceSynchronize());
    hipStream_t stream = nullptr, gone = nullptr;
    unsigned flags = 0;
    int priority = 7;
    EXPECT(hipStreamCreate(nullptr), hipErrorInvalidValue);
    EXPECT(hipStreamCreateWithFlags(nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipStreamCreateWithFlags(&stream, 77), hipErrorInvalidValue);
    EXPECT(hipStreamCreateWithPriority(nullptr, 0, 0), hipErrorInvalidValue);
    EXPECT(hipStreamCreateWithPriority(&stream, 77, 0), hipErrorInvalidValue);
    HIP(hipStreamCreateWithPriority(&stream, 0, -100));
    HIP(hipStreamGetPriority(stream, &priority));
    CHECK(priority == -1);
    HIP(hipStreamDestroy(stream));
    HIP(hipStreamCreateWithPriority(&stream, 0, 100));
    HIP(hipStreamGetPriority(stream, &priority));
    CHECK(priority == 1);
    HIP(hipStreamDestroy(stream));
    EXPECT(hipExtStreamCreateWithCUMask(&stream, 0, nullptr), hipErrorInvalidValue);
    uint32_t mask[4] = {~0u, ~0u, ~0u, ~0u};
    EXPECT(hipExtStreamCreateWithCUMask(&stream, 1, nullptr), hipErrorInvalidValue);
    HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    HIP(hipStreamGetFlags(stream, &flags));
    EXPECT(hipStreamGetFlags(stream, nullptr), hipErrorInvalidValue);
    EXPECT(hipStreamGetFlags(nullptr, &flags), hipErrorInvalidValue);
    EXPECT(hipStreamGetPriority(stream, nullptr), hipErrorInvalidValue);
    HIP(hipStreamGetPriority(nullptr, &priority));
    EXPECT(hipStreamGetFlags((hipStream_t)NOWHERE, &flags), hipErrorContextIsDestroyed);
    HIP(hipStreamQuery(stream));
    HIP(hipStreamQuery(nullptr));
    HIP(hipStreamSynchronize(stream));
    HIP(hipStreamSynchronize(nullptr));
    HIP(hipStreamCreate(&gone));
    HIP(hipStreamDestroy(gone));
    EXPECT(hipStreamDestroy(gone), hipErrorContextIsDestroyed);
    EXPECT(hipStreamDestroy(nullptr), hipErrorInvalidHandle);
    EXPECT(hipStreamQuery(gone), hipErrorContextIsDestroyed);
    EXPECT(hipStreamSynchronize(gone), hipErrorContextIsDestroyed);
    EXPECT(hipStreamGetFlags(gone, &flags), hipErrorContextIsDestroyed);
    EXPECT(hipStreamGetPriority(gone, &priority), hipErrorContextIsDestroyed);
    EXPECT(hipStreamWaitEvent(gone, nullptr, 0), hipErrorInvalidHandle);
    EXPECT(hipStreamAddCallback(gone, nullptr, nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipStreamAddCallback(stream, nullptr, nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipStreamAddCallback(stream, [](hipStream_t, hipError_t, void*) {}, nullptr, 7),
        hipErrorInvalidValue);
    EXPECT(hipStreamWaitEvent(stream, nullptr, 0), hipErrorInvalidHandle);
    EXPECT(hipStreamWaitValue32(stream, nullptr, 0, hipStreamWaitValueEq, 0xffffffff),
        hipErrorInvalidValue);
    EXPECT(hipStreamWriteValue32(stream, nullptr, 0, 0), hipErrorInvalidValue);
    HIP(hipStreamDestroy(stream));
    int id = hipGetStreamDeviceId(nullptr);
    CHECK(id == 0);
}

static void events() {
    HIP(hipDeviceSynchronize());
    hipEvent_t event = nullptr, second = nullptr, gone = nullptr;
    float ms = 0;
    hipStream_t stream;
    EXPECT(hipEventCreate(nullptr), hipErrorInvalidValue);
    EXPECT(hipEventCreateWithFlags(nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipEventCreateWithFlags(&event, 0x100), hipErrorInvalidValue);
    EXPECT(hipEventCreateWithFlags(&event, hipEventReleaseToDevice | hipEventReleaseToSystem),
        hipErrorInvalidValue);
    HIP(hipEventCreate(&event));
    HIP(hipEventCreate(&second));
    HIP(hipEventQuery(event));
    HIP(hipEventSynchronize(event));
    EXPECT(hipEventElapsedTime(&ms, event, second), hipErrorInvalidHandle);
    EXPECT(hipEventElapsedTime(nullptr, event, second), hipErrorInvalidValue);
    EXPECT(hipEventElapsedTime(&ms, nullptr, second), hipErrorInvalidHandle);
    EXPECT(hipEventElapsedTime(&ms, event, nullptr), hipErrorInvalidHandle);
    HIP(hipEventRecord(event, 0));
    EXPECT(hipEventElapsedTime(&ms, event, second), hipErrorInvalidHandle);
    EXPECT(hipEventRecord(nullptr, 0), hipErrorInvalidHandle);
    EXPECT(hipEventQuery(nullptr), hipErrorInvalidHandle);
    EXPECT(hipEventSynchronize(nullptr), hipErrorInvalidHandle);
    EXPECT(hipEventDestroy(nullptr), hipErrorInvalidHandle);
    HIP(hipEventRecord(second, 0));
    HIP(hipEventSynchronize(second));
    HIP(hipEventQuery(event));
    HIP(hipEventElapsedTime(&ms, event, second));
    HIP(hipEventDestroy(second));
    HIP(hipEventCreateWithFlags(&second, hipEventDisableTiming));
    HIP(hipEventRecord(second, 0));
    HIP(hipEventSynchronize(second));
    EXPECT(hipEventElapsedTime(&ms, event, second), hipErrorInvalidHandle);
    EXPECT(hipEventElapsedTime(&ms, second, event), hipErrorInvalidHandle);
    EXPECT(hipEventElapsedTime(&ms, second, second), hipErrorInvalidHandle);
    HIP(hipStreamCreate(&stream));
    HIP(hipStreamWaitEvent(stream, second, 0));
    EXPECT(hipStreamWaitEvent(stream, second, 7), hipErrorInvalidValue);
    HIP(hipStreamWaitEvent(nullptr, second, 0));
    HIP(hipEventRecord(event, stream));
    HIP(hipStreamDestroy(stream));
    HIP(hipEventSynchronize(event));
    HIP(hipEventDestroy(event));
    HIP(hipEventDestroy(second));
}

static void launches() {
    int* data = (int*)device;
    int value = 1;
    void* arguments[] = {&data, &value};
    hipFuncAttributes a; int integer = 0, blocks = 0, size = 0;
    HIP(hipLaunchKernel((const void*)add, dim3(1), dim3(1), arguments, 0, 0));
    EXPECT(hipLaunchKernel(nullptr, dim3(1), dim3(1), arguments, 0, 0),
        hipErrorInvalidDeviceFunction);
    EXPECT(hipLaunchKernel((const void*)host, dim3(1), dim3(1), arguments, 0, 0),
        hipErrorInvalidDeviceFunction);
    EXPECT(hipLaunchKernel((const void*)add, dim3(0), dim3(1), arguments, 0, 0),
        hipErrorInvalidValue);
    EXPECT(hipLaunchKernel((const void*)add, dim3(1), dim3(0), arguments, 0, 0),
        hipErrorInvalidValue);
    EXPECT(hipLaunchKernel((const void*)add, dim3(1), dim3(1025), arguments, 0, 0),
        hipErrorInvalidConfiguration);
    EXPECT(hipLaunchKernel((const void*)add, dim3(1), dim3(32, 32, 2), arguments, 0, 0),
        hipErrorInvalidConfiguration);
    EXPECT(hipLaunchKernel((const void*)add, dim3(1, 1 << 20), dim3(1, 1 << 20), arguments, 0, 0),
        hipErrorInvalidConfiguration);
    EXPECT(hipLaunchKernel((const void*)add, dim3(1), dim3(1), arguments, 65537, 0),
        hipErrorOutOfMemory);
    EXPECT(hipLaunchKernel((const void*)add, dim3(1 << 30), dim3(64), arguments, 0, 0),
        hipErrorInvalidConfiguration);
    EXPECT(hipGetLastError(), hipErrorInvalidConfiguration);
    EXPECT(hipLaunchCooperativeKernel((const void*)add, dim3(1), dim3(1025), arguments, 0, 0),
        hipErrorInvalidConfiguration);
    EXPECT(hipLaunchCooperativeKernel((const void*)add, dim3(1 << 20), dim3(64), arguments, 0, 0),
        hipErrorCooperativeLaunchTooLarge);
    EXPECT(hipLaunchCooperativeKernel((const void*)nullptr, dim3(1), dim3(1), arguments, 0, 0),
        hipErrorInvalidSymbol);
    EXPECT(hipLaunchCooperativeKernel((const void*)add, dim3(0), dim3(1), arguments, 0, 0),
        hipErrorInvalidValue);
    EXPECT(hipExtLaunchKernel(nullptr, dim3(1), dim3(1), arguments, 0, 0, nullptr, nullptr, 0),
        hipErrorInvalidDeviceFunction);
    EXPECT(hipFuncGetAttributes(nullptr, (const void*)add), hipErrorInvalidValue);
    EXPECT(hipFuncGetAttributes(&a, nullptr), hipErrorInvalidValue);
    EXPECT(hipFuncGetAttributes(&a, (const void*)host), hipErrorInvalidSymbol);
    HIP(hipFuncGetAttributes(&a, (const void*)add));
    CHECK(a.cacheModeCA == 0);
    CHECK(a.constSizeBytes == 0);
    CHECK(a.localSizeBytes == 0);
    CHECK(a.maxDynamicSharedSizeBytes == 65536);
    CHECK(a.maxThreadsPerBlock == 1024);
    CHECK(a.preferredShmemCarveout == 0);
    CHECK(a.sharedSizeBytes == 0);
    HIP(hipFuncSetAttribute(nullptr, hipFuncAttributeMaxDynamicSharedMemorySize, 1024));
    HIP(hipFuncSetAttribute((const void*)add, hipFuncAttributeMaxDynamicSharedMemorySize, 1024));
    HIP(hipFuncSetAttribute((const void*)add, hipFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    HIP(hipFuncSetAttribute((const void*)add, (hipFuncAttribute)99, 1024));
    HIP(hipFuncSetCacheConfig((const void*)add, hipFuncCachePreferL1));
    HIP(hipFuncSetCacheConfig(nullptr, hipFuncCachePreferL1));
    HIP(hipFuncSetCacheConfig((const void*)add, (hipFuncCache_t)99));
    HIP(hipFuncSetSharedMemConfig((const void*)add, hipSharedMemBankSizeFourByte));
    HIP(hipFuncSetSharedMemConfig(nullptr, hipSharedMemBankSizeFourByte));
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)add, 64, 0));
    CHECK(blocks == 32);
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)add, 1024, 0));
    CHECK(blocks == 2);
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)add, 256, 32768));
    CHECK(blocks == 2);
    EXPECT(hipOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, (const void*)add, 64, 0),
        hipErrorInvalidValue);
    EXPECT(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)nullptr, 64, 0),
        hipErrorInvalidValue);
    EXPECT(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)add, 0, 0),
        hipErrorInvalidValue);
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)add, 2048, 0));
    EXPECT(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)add, -5, 0),
        hipErrorInvalidValue);
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)add, 64, 1 << 20));
    CHECK(blocks == 0);
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void*)add, 64, 0, 0));
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void*)add, 64, 0, 9));
    HIP(hipOccupancyMaxPotentialBlockSize(&integer, &size, (const void*)add, 0, 0));
    EXPECT(hipOccupancyMaxPotentialBlockSize(nullptr, &size, (const void*)add, 0, 0),
        hipErrorInvalidValue);
    EXPECT(hipOccupancyMaxPotentialBlockSize(&integer, nullptr, (const void*)add, 0, 0),
        hipErrorInvalidValue);
    EXPECT(hipOccupancyMaxPotentialBlockSize(&integer, &size, (const void*)nullptr, 0, 0),
        hipErrorInvalidValue);
    HIP(hipOccupancyMaxPotentialBlockSize(&integer, &size, (const void*)add, 0, 128));
    HIP(hipDeviceSynchronize());
}

static void symbols() {
    void* address = nullptr;
    size_t size = 0;
    int value[4] = {};
    HIP(hipGetSymbolAddress(&address, HIP_SYMBOL(variable)));
    EXPECT(hipGetSymbolAddress(&address, nullptr), hipErrorInvalidSymbol);
    EXPECT(hipGetSymbolAddress(&address, host), hipErrorInvalidSymbol);
    HIP(hipGetSymbolSize(&size, HIP_SYMBOL(variable)));
    EXPECT(hipGetSymbolSize(&size, nullptr), hipErrorInvalidSymbol);
    EXPECT(hipGetSymbolSize(&size, host), hipErrorInvalidSymbol);
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(variable), value, 16, 0, hipMemcpyHostToDevice));
    EXPECT(hipMemcpyToSymbol(HIP_SYMBOL(variable), value, 17, 0, hipMemcpyHostToDevice),
        hipErrorInvalidValue);
    EXPECT(hipMemcpyToSymbol(HIP_SYMBOL(variable), value, 8, 12, hipMemcpyHostToDevice),
        hipErrorInvalidValue);
    EXPECT(hipMemcpyToSymbol(HIP_SYMBOL(variable), nullptr, 8, 0, hipMemcpyHostToDevice),
        hipErrorInvalidValue);
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(variable), value, 0, 0, hipMemcpyHostToDevice));
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(variable), value, 8, 0, hipMemcpyDeviceToHost));
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(variable), value, 8, 0, (hipMemcpyKind)77));
    EXPECT(hipMemcpyToSymbol(nullptr, value, 8, 0, hipMemcpyHostToDevice), hipErrorInvalidSymbol);
    EXPECT(hipMemcpyToSymbol(host, value, 8, 0, hipMemcpyHostToDevice), hipErrorInvalidSymbol);
    HIP(hipMemcpyFromSymbol(value, HIP_SYMBOL(variable), 16, 0, hipMemcpyDeviceToHost));
    EXPECT(hipMemcpyFromSymbol(value, HIP_SYMBOL(variable), 8, 12, hipMemcpyDeviceToHost),
        hipErrorInvalidValue);
    EXPECT(hipMemcpyFromSymbol(nullptr, HIP_SYMBOL(variable), 8, 0, hipMemcpyDeviceToHost),
        hipErrorInvalidValue);
    EXPECT(hipMemcpyFromSymbol(value, nullptr, 8, 0, hipMemcpyDeviceToHost), hipErrorInvalidSymbol);
    HIP(hipMemcpyFromSymbol(value, HIP_SYMBOL(variable), 8, 0, hipMemcpyHostToDevice));
    EXPECT(hipMemcpyToSymbolAsync(HIP_SYMBOL(variable), value, 17, 0, hipMemcpyHostToDevice, 0),
        hipErrorInvalidValue);
    EXPECT(hipMemcpyFromSymbolAsync(value, HIP_SYMBOL(variable), 17, 0, hipMemcpyDeviceToHost, 0),
        hipErrorInvalidValue);
}

static void modules() {
    std::vector<char> code = compile(SOURCE);
    hipModule_t module = nullptr;
    hipFunction_t function = nullptr;
    hipDeviceptr_t cell;
    size_t bytes = 0;
    int value = 0;
    EXPECT(hipModuleLoad(&module, "/no/such/file"), hipErrorFileNotFound);
    EXPECT(hipModuleLoad(&module, nullptr), hipErrorInvalidValue);
    EXPECT(hipModuleLoadData(&module, nullptr), hipErrorInvalidValue);
    HIP(hipModuleLoadData(&module, code.data()));
    EXPECT(hipModuleGetFunction(nullptr, module, "set"), hipErrorInvalidValue);
    EXPECT(hipModuleGetFunction(&function, module, nullptr), hipErrorInvalidValue);
    EXPECT(hipModuleGetFunction(&function, module, ""), hipErrorNotFound);
    EXPECT(hipModuleGetFunction(&function, module, "cell"), hipErrorNotFound);
    EXPECT(hipModuleGetFunction(&function, nullptr, "set"), hipErrorNotFound);
    HIP(hipModuleGetFunction(&function, module, "set"));
    HIP(hipModuleGetGlobal(&cell, &bytes, module, "cell"));
    CHECK(bytes == 12);
    HIP(hipModuleGetGlobal(nullptr, &bytes, module, "cell"));
    HIP(hipModuleGetGlobal(&cell, nullptr, module, "cell"));
    EXPECT(hipModuleGetGlobal(&cell, &bytes, module, "nothing"), hipErrorNotFound);
    EXPECT(hipModuleGetGlobal(&cell, &bytes, module, "set"), hipErrorNotFound);
    EXPECT(hipModuleGetGlobal(&cell, &bytes, module, nullptr), hipErrorInvalidValue);
    EXPECT(hipModuleGetGlobal(&cell, &bytes, nullptr, "cell"), hipErrorNotFound);
    EXPECT(hipModuleGetGlobal(&cell, &bytes, module, ""), hipErrorNotFound);
    textureReference* reference = nullptr;
    void* arguments[] = {&device, &value};
    HIP(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, nullptr));
    EXPECT(hipModuleLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, 0, arguments, nullptr),
        hipErrorInvalidImage);
    EXPECT(hipModuleLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, 0, arguments, nullptr),
        hipErrorInvalidValue);
    EXPECT(hipModuleLaunchKernel(function, 1, 1, 1, 0, 1, 1, 0, 0, arguments, nullptr),
        hipErrorInvalidValue);
    EXPECT(hipModuleLaunchKernel(function, 1, 1, 1, 2048, 1, 1, 0, 0, arguments, nullptr),
        hipErrorInvalidConfiguration);
    EXPECT(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 1 << 20, 0, arguments, nullptr),
        hipErrorOutOfMemory);
    EXPECT(hipModuleLaunchKernel(function, 1 << 30, 1, 1, 64, 1, 1, 0, 0, arguments, nullptr),
        hipErrorInvalidConfiguration);
    struct { void* to;
    int value;
    } block = {device, 3};
    size_t block_bytes = sizeof block;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE,
        &block_bytes, HIP_LAUNCH_PARAM_END};
    void* wrong[] = {HIP_LAUNCH_PARAM_BUFFER_SIZE, &block_bytes, HIP_LAUNCH_PARAM_BUFFER_POINTER,
        &block, HIP_LAUNCH_PARAM_END};
    void* open[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE,
        &block_bytes, nullptr};
    HIP(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, nullptr, extra));
    EXPECT(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, extra),
        hipErrorInvalidValue);
    HIP(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    CHECK(value == 1024);
    HIP(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
    CHECK(value == 0);
    HIP(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, function));
    CHECK(value == 0);
    HIP(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
    CHECK(value == 0);
    HIP(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA, function));
    CHECK(value == 0);
    HIP(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    CHECK(value == 65536);
    HIP(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, function));
    CHECK(value == 0);
    EXPECT(hipFuncGetAttribute(&value, (hipFunction_attribute)99, function), hipErrorInvalidValue);
    EXPECT(hipFuncGetAttribute(nullptr, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function),
        hipErrorInvalidValue);
    EXPECT(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, nullptr),
        hipErrorInvalidValue);
    int blocks = 0;
    HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, 0));
    CHECK(blocks == 32);
    EXPECT(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, function, 64, 0),
        hipErrorInvalidValue);
    HIP(hipModuleOccupancyMaxPotentialBlockSize(&blocks, &value, function, 0, 0));
    EXPECT(hipModuleOccupancyMaxPotentialBlockSize(nullptr, &value, function, 0, 0),
        hipErrorInvalidValue);
    HIP(hipDeviceSynchronize());
    HIP(hipModuleUnload(module));
    EXPECT(hipModuleUnload(nullptr), hipErrorNotFound);
    EXPECT(hipModuleUnload(module), hipErrorNotFound);
    EXPECT(hipModuleGetFunction(&function, module, "set"), hipErrorNotFound);
}

static void pools() {
    hipMemPool_t pool = nullptr, fallback = nullptr;
    void* memory = nullptr;
    uint64_t wide = 0;
    int flag = 0;
    hipMemPoolProps props;
    memset(&props, 0, sizeof props);
    HIP(hipDeviceGetDefaultMemPool(&fallback, 0));
    EXPECT(hipDeviceGetDefaultMemPool(nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceGetDefaultMemPool(&pool, 5), hipErrorInvalidValue);
    HIP(hipDeviceGetMemPool(&pool, 0));
    CHECK(pool == fallback);
    EXPECT(hipDeviceGetMemPool(nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipDeviceGetMemPool(&pool, -1), hipErrorInvalidValue);
    EXPECT(hipDeviceSetMemPool(0, nullptr), hipErrorInvalidValue);
    EXPECT(hipDeviceSetMemPool(7, fallback), hipErrorInvalidValue);
    EXPECT(hipMemPoolCreate(nullptr, &props), hipErrorInvalidValue);
    EXPECT(hipMemPoolCreate(&pool, &props), hipErrorInvalidValue);
    props.allocType = hipMemAllocationTypePinned;
    props.location.type = hipMemLocationTypeDevice;
    props.location.id = 9;
    EXPECT(hipMemPoolCreate(&pool, &props), hipErrorInvalidValue);
    props.location.id = 0;
    HIP(hipMemPoolCreate(&pool, &props));
    hipMemPoolAttr all[] = {hipMemPoolReuseFollowEventDependencies,
        hipMemPoolReuseAllowOpportunistic,
        hipMemPoolReuseAllowInternalDependencies};
    HIP(hipMemPoolGetAttribute(pool, all[0], &flag));
    CHECK(flag == 1);
    HIP(hipMemPoolGetAttribute(pool, all[1], &flag));
    CHECK(flag == 1);
    HIP(hipMemPoolGetAttribute(pool, all[2], &flag));
    CHECK(flag == 1);
    HIP(hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, &wide));
    CHECK(wide == 0);
    HIP(hipMemPoolGetAttribute(pool, hipMemPoolAttrReservedMemCurrent, &wide));
    CHECK(wide == 0);
    HIP(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &wide));
    CHECK(wide == 0);
    EXPECT(hipMemPoolGetAttribute(pool, (hipMemPoolAttr)99, &wide), hipErrorInvalidValue);
    EXPECT(hipMemPoolGetAttribute(nullptr, hipMemPoolAttrReleaseThreshold, &wide),
        hipErrorInvalidValue);
    wide = 1 << 20;
    flag = 0;
    HIP(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &wide));
    HIP(hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, &wide));
    CHECK(wide == 1048576);
    wide = 77;
    EXPECT(hipMemPoolSetAttribute(pool, hipMemPoolAttrReservedMemHigh, &wide),
        hipErrorInvalidValue);
    EXPECT(hipMemPoolSetAttribute(pool, hipMemPoolAttrReservedMemCurrent, &wide),
        hipErrorInvalidValue);
    wide = 0;
    HIP(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &wide));
    HIP(hipMemPoolSetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &flag));
    EXPECT(hipMemPoolSetAttribute(pool, (hipMemPoolAttr)99, &wide), hipErrorInvalidValue);
    EXPECT(hipMemPoolSetAttribute(nullptr, hipMemPoolAttrReleaseThreshold, &wide),
        hipErrorInvalidValue);
    hipMemAccessDesc access;
    access.location.type = hipMemLocationTypeDevice;
    access.location.id = 0;
    access.flags = hipMemAccessFlagsProtReadWrite;
    HIP(hipMemPoolSetAccess(pool, &access, 0));
    access.location.id = 9;
    hipMemLocation location;
    location.type = hipMemLocationTypeDevice;
    location.id = 0;
    hipMemAccessFlags flags;
    EXPECT(hipMallocAsync(nullptr, 16, 0), hipErrorInvalidValue);
    EXPECT(hipMallocAsync(&memory, 0, 0), hipErrorInvalidValue);
    EXPECT(hipMallocFromPoolAsync(nullptr, 16, pool, 0), hipErrorInvalidValue);
    EXPECT(hipMallocFromPoolAsync(&memory, 0, pool, 0), hipErrorInvalidValue);
    EXPECT(hipMallocFromPoolAsync(&memory, 16, nullptr, 0), hipErrorInvalidValue);
    HIP(hipMallocFromPoolAsync(&memory, 1000, pool, 0));
    HIP(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &wide));
    CHECK(wide == 1000);
    EXPECT(hipMemPoolTrimTo(nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipFreeAsync(nullptr, 0), hipErrorInvalidValue);
    HIP(hipFreeAsync(memory, 0));
    HIP(hipDeviceSynchronize());
    HIP(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &wide));
    CHECK(wide == 0);
    EXPECT(hipMemPoolDestroy(nullptr), hipErrorInvalidValue);
    HIP(hipMemPoolTrimTo(pool, 0));
    HIP(hipMemPoolDestroy(pool));
}

static void captures() {
    hipStream_t stream, blocking, free_;
    hipGraph_t graph = nullptr;
    hipStreamCaptureStatus status;
    unsigned long long id = 0;
    hipEvent_t event;
    float ms;
    HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    HIP(hipStreamCreate(&blocking));
    HIP(hipStreamCreateWithFlags(&free_, hipStreamNonBlocking));
    HIP(hipEventCreate(&event));
    EXPECT(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal),
        hipErrorStreamCaptureUnsupported);
    EXPECT(hipStreamBeginCapture(stream, (hipStreamCaptureMode)9), hipErrorInvalidValue);
    EXPECT(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureUnmatched);
    EXPECT(hipStreamEndCapture(nullptr, &graph), hipErrorInvalidValue);
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 0);
    EXPECT(hipStreamIsCapturing(stream, nullptr), hipErrorInvalidValue);
    HIP(hipStreamIsCapturing(nullptr, &status));
    HIP(hipStreamGetCaptureInfo(stream, &status, &id));
    EXPECT(hipStreamGetCaptureInfo(stream, nullptr, &id), hipErrorInvalidValue);
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipErrorIllegalState);
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamGetCaptureInfo(stream, &status, &id));
    CHECK(status == 1);
    hipGraph_t inner = nullptr;
    const hipGraphNode_t* deps = nullptr;
    size_t count = 9;
    HIP(hipStreamGetCaptureInfo_v2(stream, &status, &id, &inner, &deps, &count));
    CHECK(count == 0);
    EXPECT(hipStreamGetCaptureInfo_v2(stream, nullptr, &id, &inner, &deps, &count),
        hipErrorInvalidValue);
    EXPECT(hipStreamUpdateCaptureDependencies(free_, nullptr, 0, hipStreamSetCaptureDependencies),
        hipErrorIllegalState);
    HIP(hipMemcpyAsync(device, pinned, 16, hipMemcpyHostToDevice, stream));
    EXPECT(hipMemcpyAsync(nullptr, pinned, 16, hipMemcpyHostToDevice, stream),
        hipErrorInvalidValue);
    HIP(hipMemsetAsync(device, 0, 16, stream));
    HIP(hipEventRecord(event, stream));
    EXPECT(hipStreamEndCapture(stream, nullptr), hipErrorInvalidValue);
    HIP(hipStreamEndCapture(stream, &graph));
    if (graph) HIP(hipGraphDestroy(graph));
    graph = nullptr;
    // Each call that is not permitted in its own capture.
    void* memory = nullptr;
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipStreamSynchronize(stream));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipStreamQuery(stream));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipStreamSynchronize(free_));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipStreamQuery(free_));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipStreamSynchronize(nullptr));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipDeviceSynchronize());
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipMalloc(&memory, 16), hipErrorStreamCaptureUnsupported);
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    if (memory) HIP(hipFree(memory));
    memory = nullptr;
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipMemcpy(device, host, 16, hipMemcpyHostToDevice), hipErrorStreamCaptureImplicit);
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipMemset(device, 0, 16), hipErrorStreamCaptureImplicit);
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipMemcpyAsync(device, host, 16, hipMemcpyHostToDevice, 0));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipMemsetAsync(device, 0, 16, 0));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipMemsetAsync(device, 0, 16, blocking));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipMemsetAsync(device, 0, 16, free_));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipEventRecord(event, 0));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipEventRecord(event, free_));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipEventSynchronize(event));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipStreamWaitEvent(stream, event, 0));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipStreamDestroy(nullptr), hipErrorInvalidHandle);
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipStreamGetFlags(stream, nullptr), hipErrorInvalidValue);
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipMallocManaged(&memory, 16, hipMemAttachGlobal));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipHostMalloc(&memory, 16, 0), hipErrorStreamCaptureUnsupported);
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipFree(nullptr), hipErrorStreamCaptureUnsupported);
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipHostFree(nullptr), hipErrorStreamCaptureUnsupported);
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipSetDevice(0));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipLaunchCooperativeKernel((const void*)uses, dim3(1), dim3(1), nullptr, 0, stream));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipLaunchKernel((const void*)uses, dim3(1), dim3(2000), nullptr, 0, stream),
        hipErrorInvalidConfiguration);
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipLaunchKernel((const void*)uses, dim3(0), dim3(1), nullptr, 0, stream),
        hipErrorInvalidValue);
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipLaunchKernel((const void*)uses, dim3(1), dim3(1), nullptr, 0, 0));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
    HIP(hipThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == 0);
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipMalloc(&memory, 16));
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == 1);
    HIP(hipStreamEndCapture(stream, &graph));
    CHECK(graph != nullptr);
    HIP(hipGraphDestroy(graph));
    graph = nullptr;

    if (memory) HIP(hipFree(memory));
    HIP(hipThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == 2);
    EXPECT(hipThreadExchangeStreamCaptureMode(nullptr), hipErrorInvalidValue);
    mode = (hipStreamCaptureMode)9;
    EXPECT(hipThreadExchangeStreamCaptureMode(&mode), hipErrorInvalidValue);
    HIP(hipEventDestroy(event));
    HIP(hipStreamDestroy(free_));
    HIP(hipStreamDestroy(blocking));
    HIP(hipStreamDestroy(stream));
}

static void graphs() {
    hipGraph_t graph = nullptr, clone = nullptr, empty = nullptr;
    hipGraphExec_t exec = nullptr;
    hipGraphNode_t a, b, c, none;
    size_t count = 0;
    hipGraphNodeType type;
    int* data = (int*)device;
    int value = 1;
    void* arguments[] = {&data, &value};
    hipKernelNodeParams kernel;
    memset(&kernel, 0, sizeof kernel);
    kernel.func = (void*)add;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    hipMemsetParams fill;
    memset(&fill, 0, sizeof fill);
    fill.dst = device;
    fill.elementSize = 1;
    fill.width = 64;
    fill.height = 1;
    fill.value = 3;
    fill.pitch = 64;
    EXPECT(hipGraphCreate(nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipGraphCreate(&graph, 1), hipErrorInvalidValue);
    HIP(hipGraphCreate(&graph, 0));
    HIP(hipGraphCreate(&empty, 0));
    EXPECT(hipGraphAddEmptyNode(nullptr, graph, nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipGraphAddEmptyNode(&a, nullptr, nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipGraphAddEmptyNode(&a, graph, nullptr, 1), hipErrorInvalidValue);
    HIP(hipGraphAddEmptyNode(&a, graph, nullptr, 0));
    EXPECT(hipGraphAddKernelNode(&b, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphAddKernelNode(nullptr, graph, nullptr, 0, &kernel), hipErrorInvalidValue);
    EXPECT(hipGraphAddKernelNode(&b, nullptr, nullptr, 0, &kernel), hipErrorInvalidValue);
    kernel.func = nullptr;
    EXPECT(hipGraphAddKernelNode(&b, graph, nullptr, 0, &kernel), hipErrorInvalidValue);
    kernel.func = (void*)host;
    kernel.func = (void*)add;
    kernel.blockDim = dim3(2000);
    EXPECT(hipGraphAddKernelNode(&b, graph, nullptr, 0, &kernel), hipErrorInvalidConfiguration);
    kernel.blockDim = dim3(0);
    EXPECT(hipGraphAddKernelNode(&b, graph, nullptr, 0, &kernel), hipErrorInvalidValue);
    kernel.blockDim = dim3(1);
    kernel.kernelParams = nullptr;
    kernel.kernelParams = arguments;
    HIP(hipGraphAddKernelNode(&b, graph, &a, 1, &kernel));
    EXPECT(hipGraphAddMemsetNode(&c, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphAddMemsetNode(nullptr, graph, nullptr, 0, &fill), hipErrorInvalidValue);
    fill.elementSize = 3;
    EXPECT(hipGraphAddMemsetNode(&c, graph, nullptr, 0, &fill), hipErrorInvalidValue);
    fill.elementSize = 1;
    fill.dst = nullptr;
    EXPECT(hipGraphAddMemsetNode(&c, graph, nullptr, 0, &fill), hipErrorInvalidValue);
    fill.dst = device;
    HIP(hipGraphAddMemsetNode(&c, graph, &b, 1, &fill));
    EXPECT(hipGraphAddMemcpyNode(&none, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphAddMemcpyNode1D(&none, graph, nullptr, 0, nullptr, host, 16,
        hipMemcpyHostToDevice), hipErrorInvalidValue);
    EXPECT(hipGraphAddMemcpyNode1D(&none, graph, nullptr, 0, device, nullptr, 16,
        hipMemcpyHostToDevice), hipErrorInvalidValue);
    EXPECT(hipGraphAddMemcpyNode1D(nullptr, graph, nullptr, 0, device, host, 16,
        hipMemcpyHostToDevice), hipErrorInvalidValue);
    EXPECT(hipGraphAddHostNode(&none, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphAddEventRecordNode(&none, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphAddEventWaitNode(&none, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphAddChildGraphNode(&none, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphAddChildGraphNode(nullptr, graph, nullptr, 0, empty), hipErrorInvalidValue);
    HIP(hipGraphGetNodes(graph, nullptr, &count));
    CHECK(count == 3);
    EXPECT(hipGraphGetNodes(graph, nullptr, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphGetNodes(nullptr, nullptr, &count), hipErrorInvalidValue);
    HIP(hipGraphGetRootNodes(graph, nullptr, &count));
    CHECK(count == 1);
    EXPECT(hipGraphGetRootNodes(nullptr, nullptr, &count), hipErrorInvalidValue);
    HIP(hipGraphGetEdges(graph, nullptr, nullptr, &count));
    CHECK(count == 2);
    EXPECT(hipGraphGetEdges(graph, nullptr, nullptr, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphGetEdges(nullptr, nullptr, nullptr, &count), hipErrorInvalidValue);
    EXPECT(hipGraphNodeGetType(b, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphNodeGetType(nullptr, &type), hipErrorInvalidValue);
    HIP(hipGraphNodeGetDependencies(b, nullptr, &count));
    CHECK(count == 1);
    EXPECT(hipGraphNodeGetDependencies(nullptr, nullptr, &count), hipErrorInvalidValue);
    EXPECT(hipGraphNodeGetDependencies(b, nullptr, nullptr), hipErrorInvalidValue);
    HIP(hipGraphNodeGetDependentNodes(b, nullptr, &count));
    CHECK(count == 1);
    EXPECT(hipGraphNodeGetDependentNodes(nullptr, nullptr, &count), hipErrorInvalidValue);
    EXPECT(hipGraphAddDependencies(graph, &a, &b, 1), hipErrorInvalidValue);
    EXPECT(hipGraphAddDependencies(graph, nullptr, &b, 1), hipErrorInvalidValue);
    HIP(hipGraphAddDependencies(graph, nullptr, nullptr, 0));
    EXPECT(hipGraphAddDependencies(nullptr, &a, &b, 1), hipErrorInvalidValue);
    EXPECT(hipGraphRemoveDependencies(graph, nullptr, &a, 1), hipErrorInvalidValue);
    EXPECT(hipGraphKernelNodeGetParams(b, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphKernelNodeGetParams(nullptr, &kernel), hipErrorInvalidValue);
    EXPECT(hipGraphKernelNodeSetParams(b, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphKernelNodeSetParams(nullptr, &kernel), hipErrorInvalidValue);
    EXPECT(hipGraphMemsetNodeGetParams(c, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphMemsetNodeSetParams(c, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphClone(nullptr, graph), hipErrorInvalidValue);
    EXPECT(hipGraphClone(&clone, nullptr), hipErrorInvalidValue);
    HIP(hipGraphClone(&clone, graph));
    HIP(hipGraphNodeFindInClone(&none, b, clone));
    EXPECT(hipGraphNodeFindInClone(nullptr, b, clone), hipErrorInvalidValue);
    EXPECT(hipGraphNodeFindInClone(&none, nullptr, clone), hipErrorInvalidValue);
    EXPECT(hipGraphNodeFindInClone(&none, b, empty), hipErrorInvalidValue);
    EXPECT(hipGraphInstantiate(nullptr, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
    EXPECT(hipGraphInstantiate(&exec, nullptr, nullptr, nullptr, 0), hipErrorInvalidValue);
    HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    EXPECT(hipGraphInstantiateWithFlags(&exec, graph, 77), hipErrorInvalidValue);
    EXPECT(hipGraphInstantiateWithFlags(nullptr, graph, 0), hipErrorInvalidValue);
    EXPECT(hipGraphLaunch(nullptr, 0), hipErrorInvalidValue);
    HIP(hipGraphLaunch(exec, 0));
    HIP(hipStreamSynchronize(0));
    HIP(hipGraphExecKernelNodeSetParams(exec, b, &kernel));
    EXPECT(hipGraphExecKernelNodeSetParams(exec, b, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphExecKernelNodeSetParams(nullptr, b, &kernel), hipErrorInvalidValue);
    EXPECT(hipGraphExecKernelNodeSetParams(exec, nullptr, &kernel), hipErrorInvalidValue);
    HIP(hipGraphExecMemsetNodeSetParams(exec, c, &fill));
    EXPECT(hipGraphExecMemsetNodeSetParams(exec, c, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphExecMemsetNodeSetParams(nullptr, c, &fill), hipErrorInvalidValue);
    EXPECT(hipGraphExecMemcpyNodeSetParams(exec, b, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphExecHostNodeSetParams(exec, b, nullptr), hipErrorInvalidValue);
    hipGraphExecUpdateResult result;
    hipGraphNode_t at = nullptr;
    HIP(hipGraphExecUpdate(exec, graph, &at, &result));
    CHECK(result == 0);
    EXPECT(hipGraphExecUpdate(exec, empty, &at, &result), hipErrorGraphExecUpdateFailure);
    CHECK(result == 2);
    EXPECT(hipGraphExecUpdate(nullptr, graph, &at, &result), hipErrorInvalidValue);
    EXPECT(hipGraphExecUpdate(exec, nullptr, &at, &result), hipErrorInvalidValue);
    EXPECT(hipGraphExecUpdate(exec, graph, &at, nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphDestroyNode(nullptr), hipErrorInvalidValue);
    HIP(hipGraphDestroyNode(c));
    HIP(hipGraphGetNodes(graph, nullptr, &count));
    CHECK(count == 2);
    HIP(hipGraphInstantiate(&exec, empty, nullptr, nullptr, 0));
    HIP(hipGraphLaunch(exec, 0));
    EXPECT(hipGraphExecDestroy(nullptr), hipErrorInvalidValue);
    EXPECT(hipGraphDestroy(nullptr), hipErrorInvalidValue);
    HIP(hipGraphDestroy(clone));
    HIP(hipGraphDestroy(graph));
    HIP(hipGraphDestroy(empty));
}

static void last_errors() {
    HIP(hipDeviceSynchronize());
    HIP(hipGetLastError());
    EXPECT(hipFree(host), hipErrorInvalidValue);
    EXPECT(hipPeekAtLastError(), hipErrorInvalidValue);
    EXPECT(hipPeekAtLastError(), hipErrorInvalidValue);
    EXPECT(hipGetLastError(), hipErrorInvalidValue);
    HIP(hipGetLastError());
    EXPECT(hipSetDevice(-1), hipErrorInvalidDevice);
    EXPECT(hipFree(host), hipErrorInvalidValue);
    EXPECT(hipGetLastError(), hipErrorInvalidValue);
    HIP(hipStreamQuery(0));
    HIP(hipGetLastError());
    CHECK(!strcmp(hipGetErrorName(hipErrorInvalidValue), "hipErrorInvalidValue"));
    CHECK(!strcmp(hipGetErrorName(hipSuccess), "hipSuccess"));
}

static void ipc() {
    hipIpcMemHandle_t handle;
    EXPECT(hipIpcGetMemHandle(nullptr, device), hipErrorInvalidValue);
    EXPECT(hipIpcGetMemHandle(&handle, nullptr), hipErrorInvalidValue);
    EXPECT(hipIpcGetMemHandle(&handle, host), hipErrorInvalidDevicePointer);
    EXPECT(hipIpcGetMemHandle(&handle, NOWHERE), hipErrorInvalidDevicePointer);
    EXPECT(hipIpcOpenMemHandle(nullptr, handle, hipIpcMemLazyEnablePeerAccess),
        hipErrorInvalidValue);
    EXPECT(hipIpcCloseMemHandle(nullptr), hipErrorInvalidValue);
    EXPECT(hipIpcCloseMemHandle(host), hipErrorInvalidHandle);
}

static void rtc() {
    hiprtcProgram program = nullptr;
    size_t size = 0;
    const char* name = nullptr;
    int a, b;
    RTC_EXPECT(hiprtcVersion(&a, &b), HIPRTC_SUCCESS);
    RTC_EXPECT(hiprtcVersion(nullptr, &b), HIPRTC_ERROR_INVALID_INPUT);
    RTC_EXPECT(hiprtcCreateProgram(nullptr, SOURCE, "x", 0, nullptr, nullptr),
        HIPRTC_ERROR_INVALID_PROGRAM);
    RTC_EXPECT(hiprtcCreateProgram(&program, SOURCE, nullptr, -1, nullptr, nullptr),
        HIPRTC_ERROR_INVALID_INPUT);
    RTC_EXPECT(hiprtcCreateProgram(&program, "this is no program", "x", 0, nullptr, nullptr),
        HIPRTC_SUCCESS);
    RTC_EXPECT(hiprtcCompileProgram(program, 0, nullptr), HIPRTC_ERROR_COMPILATION);
    RTC_EXPECT(hiprtcGetCodeSize(program, &size), HIPRTC_SUCCESS);
    RTC_EXPECT(hiprtcGetProgramLogSize(program, &size), HIPRTC_SUCCESS);
    RTC_EXPECT(hiprtcGetProgramLogSize(program, nullptr), HIPRTC_ERROR_INVALID_INPUT);
    RTC_EXPECT(hiprtcGetProgramLog(program, nullptr), HIPRTC_ERROR_INVALID_INPUT);
    RTC_EXPECT(hiprtcGetLoweredName(program, "nothing", &name),
        HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
    RTC_EXPECT(hiprtcGetLoweredName(program, nullptr, &name), HIPRTC_ERROR_INVALID_INPUT);
    RTC_EXPECT(hiprtcAddNameExpression(program, nullptr), HIPRTC_ERROR_INVALID_INPUT);
    RTC_EXPECT(hiprtcDestroyProgram(nullptr), HIPRTC_ERROR_INVALID_INPUT);
    RTC_EXPECT(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
}

int main() {
    HIP(hipMalloc((void**)&device, BYTES));
    HIP(hipMalloc((void**)&other, BYTES));
    HIP(hipHostMalloc((void**)&pinned, BYTES, 0));
    devices();
    attributes();
    contexts();
    memory();
    pointers();
    copies();
    fills();
    streams();
    events();
    launches();
    symbols();
    modules();
    pools();
    captures();
    graphs();
    last_errors();
    ipc();
    rtc();
    return finish("errors");
}
