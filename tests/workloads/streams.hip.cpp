// What streams wait for: the null stream waits for blocking streams and they for it,
// non-blocking streams wait for nobody, events order what they are told to order.
#include "check.h"

#include <chrono>
#include <thread>

// Runs until the host says so.
__global__ void gate(volatile int* open, int* passed) {
    while (*open == 0) __builtin_amdgcn_s_sleep(1);
    *passed = 1;
}

__global__ void copy_word(int* to, const int* from) { *to = *from + 1; }

int main() {
    volatile int* open;
    int *passed, *seen, *word;
    hipStream_t blocking, other, free_stream;
    hipEvent_t start, stop, quick;
    HIP(hipHostMalloc((void**)&open, 4096, 0));
    HIP(hipHostMalloc((void**)&seen, 4096, 0));
    HIP(hipMalloc((void**)&passed, 4096));
    HIP(hipMalloc((void**)&word, 4096));
    HIP(hipStreamCreate(&blocking));
    HIP(hipStreamCreate(&other));
    HIP(hipStreamCreateWithFlags(&free_stream, hipStreamNonBlocking));
    HIP(hipEventCreate(&start));
    HIP(hipEventCreate(&stop));
    HIP(hipEventCreateWithFlags(&quick, hipEventDisableTiming));
    HIP(hipMemset(passed, 0, 4096));
    HIP(hipMemset(word, 0, 4096));
    HIP(hipDeviceSynchronize());

    // While a blocking stream is held up, so is what the null stream gets afterwards, and what
    // another blocking stream gets after that; a non-blocking stream goes on.
    *open = 0;
    seen[0] = seen[1] = seen[2] = -1;
    HIP(hipEventRecord(start, blocking));
    gate<<<1, 1, 0, blocking>>>(open, passed);
    copy_word<<<1, 1, 0, nullptr>>>(&seen[0], passed);
    copy_word<<<1, 1, 0, other>>>(&seen[1], passed);
    HIP(hipMemsetAsync(word, 0x01, 4, free_stream));
    HIP(hipMemcpyAsync(&seen[2], word, 4, hipMemcpyDeviceToHost, free_stream));
    HIP(hipStreamSynchronize(free_stream));
    CHECK(seen[2] == 0x01010101);
    EXPECT(hipStreamQuery(blocking), hipErrorNotReady);
    EXPECT(hipStreamQuery(nullptr), hipErrorNotReady);
    HIP(hipStreamQuery(free_stream));
    CHECK(seen[0] == -1 && seen[1] == -1);
    *open = 1;
    HIP(hipDeviceSynchronize());
    CHECK(seen[0] == 2 && seen[1] == 2);
    HIP(hipStreamQuery(blocking));

    // An event holds a non-blocking stream back.
    *open = 0;
    HIP(hipMemset(passed, 0, 4));
    HIP(hipDeviceSynchronize());
    gate<<<1, 1, 0, free_stream>>>(open, passed);
    HIP(hipEventRecord(quick, free_stream));
    EXPECT(hipEventQuery(quick), hipErrorNotReady);
    HIP(hipStreamWaitEvent(other, quick, 0));
    copy_word<<<1, 1, 0, other>>>(&seen[1], passed);
    seen[1] = -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(seen[1] == -1);
    *open = 1;
    HIP(hipStreamSynchronize(other));
    CHECK(seen[1] == 2);
    HIP(hipEventQuery(quick));

    HIP(hipEventRecord(stop, blocking));
    HIP(hipEventSynchronize(stop));
    float elapsed_ms = -1;
    HIP(hipEventElapsedTime(&elapsed_ms, start, stop));
    CHECK(elapsed_ms > 0);

    int least, greatest;
    hipStream_t urgent;
    HIP(hipDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest <= least);
    HIP(hipStreamCreateWithPriority(&urgent, hipStreamNonBlocking, greatest));
    HIP(hipMemsetAsync(word, 0x02, 4, urgent));
    HIP(hipStreamSynchronize(urgent));
    HIP(hipMemcpy(seen, word, 4, hipMemcpyDeviceToHost));
    CHECK(seen[0] == 0x02020202);
    for (hipStream_t stream : {blocking, other, free_stream, urgent}) HIP(hipStreamDestroy(stream));
    for (hipEvent_t event : {start, stop, quick}) HIP(hipEventDestroy(event));
    HIP(hipHostFree((void*)open));
    HIP(hipHostFree(seen));
    HIP(hipFree(passed));
    HIP(hipFree(word));
    return finish("streams");
}
