// A kernel that uses a part of the runtime that is not emulated: the queue that it is in.
#include "../workloads/printed.h"

__global__ void read_queue(uint64_t* result) {
    *result = *(const uint64_t*)__builtin_amdgcn_queue_ptr();
}

int main() {
    uint64_t* result;
    HIP(hipMalloc(&result, sizeof *result));
    std::string text = printed(2, [&] {
        read_queue<<<1, 1>>>(result);
        EXPECT(hipDeviceSynchronize(), hipErrorLaunchFailure);
    });
    CHECK(text.find("the queue, which is not emulated") != std::string::npos);
    return finish("missing");
}
