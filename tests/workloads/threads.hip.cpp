// Two, then eight threads, each with a stream, an event and a callback: 300 rounds of copies,
// a kernel and a fill, with every result checked.
#include "check.h"

#include <thread>

__global__ void add(unsigned char* to, const unsigned char* from, int bytes, int value) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < bytes) to[index] = from[index] + value;
}

static void counted(hipStream_t, hipError_t status, void* counter) {
    if (status == hipSuccess) ++*(std::atomic<int>*)counter;
}

static void work(int thread, int rounds) {
    const int bytes = 16384;
    hipStream_t stream;
    hipEvent_t event;
    unsigned char *a, *b, *in, *out;
    std::atomic<int> callbacks{0};
    HIP(hipSetDevice(0));
    HIP(hipStreamCreate(&stream));
    HIP(hipEventCreate(&event));
    HIP(hipMalloc((void**)&a, bytes));
    HIP(hipMalloc((void**)&b, bytes));
    HIP(hipHostMalloc((void**)&in, bytes, 0));
    HIP(hipHostMalloc((void**)&out, bytes, 0));
    for (int round = 0; round < rounds; round++) {
        unsigned char value = (unsigned char)(round * 7 + thread);
        memset(in, value, bytes);
        HIP(hipMemcpyAsync(a, in, bytes, hipMemcpyHostToDevice, stream));
        add<<<bytes / 256, 256, 0, stream>>>(b, a, bytes, 3);
        HIP(hipMemsetAsync(b, 0xee, 16, stream));
        HIP(hipMemcpyAsync(a, b, bytes, hipMemcpyDeviceToDevice, stream));
        HIP(hipMemcpyAsync(out, a, bytes, hipMemcpyDeviceToHost, stream));
        HIP(hipEventRecord(event, stream));
        HIP(hipStreamAddCallback(stream, counted, &callbacks, 0));
        if (round & 1)
            HIP(hipEventSynchronize(event));
        else
            HIP(hipStreamSynchronize(stream));
        unsigned char expected = value + 3;
        CHECK(out[0] == 0xee && out[15] == 0xee);
        CHECK(out[16] == expected && out[bytes / 2] == expected && out[bytes - 1] == expected);
    }
    HIP(hipStreamSynchronize(stream));
    CHECK(callbacks.load() == rounds);
    HIP(hipStreamDestroy(stream));
    HIP(hipEventDestroy(event));
    HIP(hipFree(a));
    HIP(hipFree(b));
    HIP(hipHostFree(in));
    HIP(hipHostFree(out));
}

int main() {
    for (int count : {2, 8}) {
        std::vector<std::thread> threads;
        for (int thread = 0; thread < count; thread++) threads.emplace_back(work, thread, 300);
        for (auto& thread : threads) thread.join();
    }
    return finish("threads");
}
