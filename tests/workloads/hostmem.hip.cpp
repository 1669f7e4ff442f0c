// Host memory that kernels reach: pinned, registered and managed.
#include "check.h"

__global__ void increment(int* data, int count) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) data[index] += 1;
}

// The headers of HIP 5.2 have no __managed__.
__attribute__((managed)) int managed_variable = 5;

__global__ void read_managed(int* to) { *to = managed_variable++; }

static const int COUNT = 3000;

static void run(int* device, const int* host, const char* what) {
    for (int round = 1; round <= 2; round++) {
        increment<<<(COUNT + 255) / 256, 256>>>(device, COUNT);
        HIP(hipDeviceSynchronize());
        for (int index = 0; index < COUNT; index++)
            if (host[index] != index + round) {
                bad++;
                fprintf(stderr, "%s: %d is %d\n", what, index, host[index]);
                break;
            }
    }
}

static void pinned(unsigned flags) {
    int *host, *device;
    HIP(hipHostMalloc((void**)&host, COUNT * 4, flags));
    HIP(hipHostGetDevicePointer((void**)&device, host, 0));
    for (int index = 0; index < COUNT; index++) host[index] = index;
    run(device, host, "pinned");
    hipPointerAttribute_t attributes;
    HIP(hipPointerGetAttributes(&attributes, host));
    CHECK(attributes.memoryType == hipMemoryTypeHost && attributes.hostPointer == host);
    unsigned got = 0;
    HIP(hipHostGetFlags(&got, host));
    HIP(hipHostFree(host));
}

static void registered() {
    std::vector<int> memory(COUNT + 8);
    int *host = memory.data() + 3, *device;
    HIP(hipHostRegister(host, COUNT * 4, hipHostRegisterDefault));
    HIP(hipHostGetDevicePointer((void**)&device, host, 0));
    for (int index = 0; index < COUNT; index++) host[index] = index;
    memory[2] = memory[COUNT + 3] = 1234;
    run(device, host, "registered");
    CHECK(memory[2] == 1234 && memory[COUNT + 3] == 1234);
    // Copies take the host address of registered memory.
    int* copy;
    HIP(hipMalloc((void**)&copy, COUNT * 4));
    HIP(hipMemcpyAsync(copy, host, COUNT * 4, hipMemcpyHostToDevice, nullptr));
    HIP(hipStreamSynchronize(nullptr));
    memset(host, 0, COUNT * 4);
    HIP(hipMemcpy(host, copy, COUNT * 4, hipMemcpyDeviceToHost));
    for (int index = 0; index < COUNT; index++) CHECK(host[index] == index + 2);
    HIP(hipFree(copy));
    HIP(hipHostUnregister(host));
}

static void managed() {
    int* memory;
    HIP(hipMallocManaged((void**)&memory, COUNT * 4, hipMemAttachGlobal));
    for (int index = 0; index < COUNT; index++) memory[index] = index;
    HIP(hipMemAdvise(memory, COUNT * 4, hipMemAdviseSetReadMostly, 0));
    HIP(hipMemPrefetchAsync(memory, COUNT * 4, 0, nullptr));
    HIP(hipDeviceSynchronize());
    int mostly = -1;
    HIP(hipMemRangeGetAttribute(&mostly, 4, hipMemRangeAttributeReadMostly, memory, COUNT * 4));
    CHECK(mostly == 1);
    HIP(hipMemAdvise(memory, COUNT * 4, hipMemAdviseUnsetReadMostly, 0));
    run(memory, memory, "managed");
    HIP(hipFree(memory));
    // The addresses may be given out again at once.
    for (int round = 0; round < 4; round++) {
        HIP(hipMallocManaged((void**)&memory, COUNT * 4, hipMemAttachGlobal));
        for (int index = 0; index < COUNT; index++) memory[index] = index;
        run(memory, memory, "managed again");
        HIP(hipFree(memory));
    }
    int* seen;
    HIP(hipHostMalloc((void**)&seen, 4, 0));
    read_managed<<<1, 1>>>(seen);
    HIP(hipDeviceSynchronize());
    CHECK(*seen == 5 && managed_variable == 6);
    HIP(hipHostFree(seen));
}

static int asked(hipMemRangeAttribute kind, const void* memory, size_t bytes) {
    int answer = -77;
    HIP(hipMemRangeGetAttribute(&answer, 4, kind, memory, bytes));
    return answer;
}

// What is said of one page holds for that page; of pages that differ less is known.
static void advised() {
    const size_t page = 4096, bytes = 3 * page;
    const int none = hipInvalidDeviceId;
    char* memory;
    HIP(hipMallocManaged((void**)&memory, bytes, hipMemAttachGlobal));
    CHECK(asked(hipMemRangeAttributeReadMostly, memory, bytes) == 0);
    CHECK(asked(hipMemRangeAttributePreferredLocation, memory, bytes) == none);
    CHECK(asked(hipMemRangeAttributeCoherencyMode, memory, bytes) == 0);
    HIP(hipMemAdvise(memory, bytes, hipMemAdviseSetReadMostly, 0));
    HIP(hipMemAdvise(memory, bytes, hipMemAdviseSetPreferredLocation, 0));
    HIP(hipMemAdvise(memory, bytes, hipMemAdviseSetAccessedBy, 0));
    HIP(hipMemAdvise(memory, bytes, hipMemAdviseSetCoarseGrain, 0));
    CHECK(asked(hipMemRangeAttributeReadMostly, memory, bytes) == 1);
    CHECK(asked(hipMemRangeAttributePreferredLocation, memory, bytes) == 0);
    CHECK(asked(hipMemRangeAttributeCoherencyMode, memory, bytes) == 1);
    char* part = memory + page + 7;
    HIP(hipMemAdvise(part, 1, hipMemAdviseUnsetReadMostly, 0));
    HIP(hipMemAdvise(part, 1, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
    HIP(hipMemAdvise(part, 1, hipMemAdviseUnsetAccessedBy, 0));
    HIP(hipMemAdvise(part, 1, hipMemAdviseUnsetCoarseGrain, 0));
    CHECK(asked(hipMemRangeAttributeReadMostly, memory, bytes) == 0);
    CHECK(asked(hipMemRangeAttributePreferredLocation, memory, bytes) == none);
    CHECK(asked(hipMemRangeAttributeCoherencyMode, memory, bytes) == 2);
    CHECK(asked(hipMemRangeAttributePreferredLocation, part, 1) == hipCpuDeviceId);
    CHECK(asked(hipMemRangeAttributeReadMostly, memory, page) == 1);
    CHECK(asked(hipMemRangeAttributeReadMostly, memory + 2 * page, page) == 1);
    CHECK(asked(hipMemRangeAttributeCoherencyMode, memory + page, 1) == 0);
    int by[2] = {-77, -77};
    HIP(hipMemRangeGetAttribute(by, 8, hipMemRangeAttributeAccessedBy, memory, page));
    CHECK(by[0] == 0 && by[1] == hipCpuDeviceId);
    HIP(hipMemRangeGetAttribute(by, 8, hipMemRangeAttributeAccessedBy, memory, bytes));
    CHECK(by[0] == hipCpuDeviceId && by[1] == none);
    HIP(hipFree(memory));
}

// Memory of the device of which others see writes at once: not every device has any.
static void fine_grained() {
    hipDeviceProp_t properties;
    HIP(hipGetDeviceProperties(&properties, 0));
    bool has = strncmp(properties.gcnArchName, "gfx906", 6) != 0;
    int* memory;
    hipError_t made =
        hipExtMallocWithFlags((void**)&memory, COUNT * 4, hipDeviceMallocFinegrained);
    CHECK(made == (has ? hipSuccess : hipErrorOutOfMemory));
    if (made != hipSuccess) {
        CHECK(hipGetLastError() == made);
        return;
    }
    std::vector<int> host(COUNT);
    for (int index = 0; index < COUNT; index++) host[index] = 3 * index;
    HIP(hipMemcpy(memory, host.data(), COUNT * 4, hipMemcpyHostToDevice));
    increment<<<(COUNT + 255) / 256, 256>>>(memory, COUNT);
    HIP(hipMemcpy(host.data(), memory, COUNT * 4, hipMemcpyDeviceToHost));
    for (int index = 0; index < COUNT; index++) CHECK(host[index] == 3 * index + 1);
    hipPointerAttribute_t attributes;
    HIP(hipPointerGetAttributes(&attributes, memory));
    CHECK(attributes.device == 0 && attributes.devicePointer == memory);
    HIP(hipFree(memory));
}

int main() {
    fine_grained();
    pinned(hipHostMallocDefault);
    pinned(hipHostMallocMapped | hipHostMallocPortable);
    pinned(hipHostMallocCoherent);
    pinned(hipHostMallocNonCoherent);
    registered();
    managed();
    advised();
    return finish("hostmem");
}
