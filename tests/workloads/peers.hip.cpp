// Two devices: peer access, copies between them, and kernels on each.
#include "check.h"

__global__ void add(int* data, const int* other, int count) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) data[index] += other[index];
}

int main() {
    const int count = 10000;
    const size_t bytes = count * 4;
    int devices = 0, can = 0;
    HIP(hipGetDeviceCount(&devices));
    CHECK(devices >= 2);
    if (devices < 2) return finish("peers");
    HIP(hipDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    int *first, *second;
    std::vector<int> in(count), out(count);
    for (int index = 0; index < count; index++) in[index] = index;
    HIP(hipSetDevice(0));
    HIP(hipMalloc((void**)&first, bytes));
    HIP(hipDeviceEnablePeerAccess(1, 0));
    HIP(hipSetDevice(1));
    HIP(hipMalloc((void**)&second, bytes));
    HIP(hipDeviceEnablePeerAccess(0, 0));
    HIP(hipMemcpy(first, in.data(), bytes, hipMemcpyHostToDevice));
    HIP(hipMemcpyPeer(second, 1, first, 0, bytes));
    HIP(hipDeviceSynchronize());
    HIP(hipMemcpy(out.data(), second, bytes, hipMemcpyDeviceToHost));
    CHECK(out == in);

    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    add<<<(count + 255) / 256, 256, 0, stream>>>(second, first, count);
    HIP(hipMemcpyPeerAsync(first, 0, second, 1, bytes, stream));
    HIP(hipStreamSynchronize(stream));
    HIP(hipStreamDestroy(stream));
    HIP(hipSetDevice(0));
    add<<<(count + 255) / 256, 256>>>(first, second, count);
    HIP(hipMemcpy(out.data(), first, bytes, hipMemcpyDeviceToHost));
    for (int index = 0; index < count; index++) CHECK(out[index] == 4 * index);

    hipPointerAttribute_t attributes;
    HIP(hipPointerGetAttributes(&attributes, second));
    CHECK(attributes.device == 1 && attributes.memoryType == hipMemoryTypeDevice);
    hipDeviceProp_t one, two;
    HIP(hipGetDeviceProperties(&one, 0));
    HIP(hipGetDeviceProperties(&two, 1));
    CHECK(one.pciBusID != two.pciBusID);
    HIP(hipFree(first));
    HIP(hipFree(second));
    return finish("peers");
}
