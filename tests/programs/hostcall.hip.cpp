// Kernels that call functions of the program, and what becomes of calls that nobody can serve.
#include "../workloads/printed.h"

typedef uint64_t Results __attribute__((ext_vector_type(2)));
extern "C" __device__ Results __ockl_hostcall_preview(uint32_t service, uint64_t, uint64_t,
                                                      uint64_t, uint64_t, uint64_t, uint64_t,
                                                      uint64_t, uint64_t);

static uint64_t calls = 0;

static void add_up(uint64_t* results, const uint64_t* arguments) {
    calls++;
    results[0] = results[1] = 0;
    for (int at = 0; at < 7; at++) {
        results[0] += arguments[at];
        results[1] ^= arguments[at] << at;
    }
}

__global__ void call(uint32_t service, uint64_t function, uint64_t* results) {
    uint64_t item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item % 3 == 1) return;
    auto result = __ockl_hostcall_preview(service, function, item, 2, 3, 4, 5, 6, 7);
    results[2 * item] = result.x;
    results[2 * item + 1] = result.y;
}

// The device is broken by a call that cannot be served, and standard error says why.
static void refused(uint32_t service, uint64_t function, const char* why) {
    uint64_t* results;
    HIP(hipMalloc(&results, 4096));
    std::string text = printed(2, [&] {
        call<<<1, 64>>>(service, function, results);
        EXPECT(hipDeviceSynchronize(), hipErrorLaunchFailure);
    });
    CHECK(text.find(why) != std::string::npos);
    if (bad) fprintf(stderr, "said: %s\n", text.c_str());
    HIP(hipDeviceReset());
}

int main() {
    const int ITEMS = 200;
    std::vector<uint64_t> found(2 * ITEMS, 0), expected(2 * ITEMS, 0);
    uint64_t* results;
    HIP(hipMalloc(&results, found.size() * 8));
    HIP(hipMemset(results, 0, found.size() * 8));
    call<<<2, ITEMS / 2>>>(1, (uint64_t)&add_up, results);
    HIP(hipMemcpy(found.data(), results, found.size() * 8, hipMemcpyDeviceToHost));
    uint64_t called = 0;
    for (uint64_t item = 0; item < ITEMS; item++) {
        if (item % 3 == 1) continue;
        called++;
        const uint64_t arguments[7] = {item, 2, 3, 4, 5, 6, 7};
        add_up(&expected[2 * item], arguments);
    }
    CHECK(found == expected);
    CHECK(calls == 2 * called);
    HIP(hipFree(results));
    refused(9, 0, "service 9 is not emulated");
    refused(1, 0, "0x0 is not code of this process");
    refused(1, (uint64_t)found.data(), "is not code of this process");
    refused(2, 0, "printf: a part of no message");
    refused(3, 0x1234, "free(0x1234), which malloc did not give");
    return finish("hostcall");
}
