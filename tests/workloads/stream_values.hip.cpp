// Streams that write values and wait for them.
#include "check.h"

#include <chrono>
#include <thread>

int main() {
    uint32_t* word;
    uint64_t* wide;
    hipStream_t writer, waiter;
    HIP(hipStreamCreateWithFlags(&writer, hipStreamNonBlocking));
    HIP(hipStreamCreateWithFlags(&waiter, hipStreamNonBlocking));
    HIP(hipExtMallocWithFlags((void**)&word, 8, hipMallocSignalMemory));
    HIP(hipExtMallocWithFlags((void**)&wide, 8, hipMallocSignalMemory));
    *(volatile uint64_t*)wide = 0;
    *(volatile uint32_t*)word = 0;
    int* data;
    int* seen;
    HIP(hipMalloc((void**)&data, 4));
    HIP(hipHostMalloc((void**)&seen, 4, 0));
    HIP(hipMemset(data, 0, 4));
    HIP(hipDeviceSynchronize());

    // One stream waits for the other.
    HIP(hipStreamWaitValue32(waiter, word, 42, hipStreamWaitValueEq, 0xffffffff));
    HIP(hipMemcpyAsync(seen, data, 4, hipMemcpyDeviceToHost, waiter));
    HIP(hipMemsetAsync(data, 7, 4, writer));
    HIP(hipStreamWriteValue32(writer, word, 42, 0));
    HIP(hipStreamSynchronize(waiter));
    CHECK(*seen == 0x07070707);
    CHECK(*(volatile uint32_t*)word == 42);

    // A stream waits for the host.
    HIP(hipStreamWaitValue64(waiter, wide, 1000, hipStreamWaitValueGte, ~0ull));
    HIP(hipMemsetAsync(data, 9, 4, waiter));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT(hipStreamQuery(waiter), hipErrorNotReady);
    *(volatile uint64_t*)wide = 5000;
    HIP(hipStreamSynchronize(waiter));
    HIP(hipMemcpy(seen, data, 4, hipMemcpyDeviceToHost));
    CHECK(*seen == 0x09090909);

    HIP(hipStreamWriteValue64(writer, wide, 0x123456789abcull, 0));
    HIP(hipStreamWaitValue64(writer, wide, 0x80, hipStreamWaitValueAnd, 0xff));
    HIP(hipStreamSynchronize(writer));
    CHECK(*(volatile uint64_t*)wide == 0x123456789abcull);
    HIP(hipFree(word));
    HIP(hipFree(wide));
    HIP(hipFree(data));
    HIP(hipHostFree(seen));
    HIP(hipStreamDestroy(writer));
    HIP(hipStreamDestroy(waiter));
    return finish("stream_values");
}
