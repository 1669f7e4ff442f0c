// Callbacks that store into host memory: which kernels and copies of the same stream read next, and
// for which a kernel of another stream waits.
#include "check.h"

static const int COUNT = 1000;

__global__ void add(int* data, int value) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < COUNT) data[index] += value;
}

__global__ void gate(volatile int* open, int* passed) {
    while (*open == 0) __builtin_amdgcn_s_sleep(1);
    *passed = 1;
}

struct Work {
    int* data;
    int factor;
    int runs;
};

static void multiply(hipStream_t, hipError_t status, void* of) {
    Work* work = (Work*)of;
    if (status != hipSuccess) bad++;
    for (int index = 0; index < COUNT; index++) work->data[index] *= work->factor;
    work->runs++;
}

static void open_gate(hipStream_t, hipError_t, void* of) { *(volatile int*)of = 1; }

int main() {
    int *pinned, *device, *passed;
    volatile int* gate_word;
    hipStream_t stream, other;
    HIP(hipHostMalloc((void**)&pinned, COUNT * 4, 0));
    HIP(hipHostMalloc((void**)&gate_word, 4096, 0));
    HIP(hipMalloc((void**)&device, COUNT * 4));
    HIP(hipMalloc((void**)&passed, 4));
    HIP(hipStreamCreate(&stream));
    HIP(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));

    // Kernel, callback, kernel, callback, copy: each works on what the one before left.
    for (int index = 0; index < COUNT; index++) pinned[index] = index;
    Work twice = {pinned, 2, 0}, thrice = {pinned, 3, 0};
    add<<<(COUNT + 255) / 256, 256, 0, stream>>>(pinned, 1);
    HIP(hipStreamAddCallback(stream, multiply, &twice, 0));
    add<<<(COUNT + 255) / 256, 256, 0, stream>>>(pinned, 5);
    HIP(hipStreamAddCallback(stream, multiply, &thrice, 0));
    HIP(hipMemcpyAsync(device, pinned, COUNT * 4, hipMemcpyHostToDevice, stream));
    HIP(hipStreamSynchronize(stream));
    CHECK(twice.runs == 1 && thrice.runs == 1);
    std::vector<int> seen(COUNT);
    HIP(hipMemcpy(seen.data(), device, COUNT * 4, hipMemcpyDeviceToHost));
    for (int index = 0; index < COUNT; index++) {
        CHECK(seen[index] == ((index + 1) * 2 + 5) * 3);
        CHECK(pinned[index] == seen[index]);
    }

    // A kernel of one stream waits for the callback of another.
    *gate_word = 0;
    HIP(hipMemset(passed, 0, 4));
    HIP(hipDeviceSynchronize());
    gate<<<1, 1, 0, other>>>(gate_word, passed);
    add<<<1, 256, 0, stream>>>(device, 1);
    HIP(hipStreamAddCallback(stream, open_gate, (void*)gate_word, 0));
    HIP(hipStreamSynchronize(other));
    int got = 0;
    HIP(hipMemcpy(&got, passed, 4, hipMemcpyDeviceToHost));
    CHECK(got == 1);

    HIP(hipStreamDestroy(stream));
    HIP(hipStreamDestroy(other));
    HIP(hipHostFree(pinned));
    HIP(hipHostFree((void*)gate_word));
    HIP(hipFree(device));
    HIP(hipFree(passed));
    return finish("callbacks");
}
