// Memory pools and allocations in stream order.
#include "check.h"

__global__ void fill(int* data, int value, int count) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) data[index] = value + index;
}

int main() {
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    hipMemPool_t pool, own;
    HIP(hipDeviceGetDefaultMemPool(&pool, 0));
    const int count = 5000;
    std::vector<int> result(count);
    for (int round = 0; round < 5; round++) {
        int* data;
        HIP(hipMallocAsync((void**)&data, count * 4, stream));
        fill<<<(count + 255) / 256, 256, 0, stream>>>(data, round, count);
        HIP(hipMemcpyAsync(result.data(), data, count * 4, hipMemcpyDeviceToHost, stream));
        HIP(hipFreeAsync(data, stream));
        HIP(hipStreamSynchronize(stream));
        for (int index = 0; index < count; index++) CHECK(result[index] == round + index);
    }
    hipMemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = hipMemAllocationTypePinned;
    properties.location.type = hipMemLocationTypeDevice;
    properties.location.id = 0;
    HIP(hipMemPoolCreate(&own, &properties));
    uint64_t keep = 1 << 20, got = 0;
    HIP(hipMemPoolSetAttribute(own, hipMemPoolAttrReleaseThreshold, &keep));
    HIP(hipMemPoolGetAttribute(own, hipMemPoolAttrReleaseThreshold, &got));
    CHECK(got == keep);
    int* data;
    HIP(hipMallocFromPoolAsync((void**)&data, count * 4, own, stream));
    fill<<<(count + 255) / 256, 256, 0, stream>>>(data, 77, count);
    HIP(hipMemcpyAsync(result.data(), data, count * 4, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamSynchronize(stream));
    CHECK(result[0] == 77 && result[count - 1] == 77 + count - 1);
    HIP(hipFreeAsync(data, stream));
    HIP(hipStreamSynchronize(stream));
    // HIP 5.2.3 never returns from hipStreamDestroy while a pool holds free memory.
    HIP(hipMemPoolTrimTo(own, 0));
    HIP(hipMemPoolTrimTo(pool, 0));
    HIP(hipMemPoolDestroy(own));
    HIP(hipStreamDestroy(stream));
    return finish("pools");
}
