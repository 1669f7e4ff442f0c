// A cooperative launch whose workgroups wait for each other, several times.
#include "check.h"

// Needs what check.h includes.
#include <hip/hip_cooperative_groups.h>

// Each workgroup adds what its neighbour had in the round before.
__global__ void rounds(int* values, int* next, int count) {
    auto grid = cooperative_groups::this_grid();
    for (int round = 0; round < count; round++) {
        if (threadIdx.x == 0)
            next[blockIdx.x] = values[blockIdx.x] + values[(blockIdx.x + 1) % gridDim.x];
        grid.sync();
        if (threadIdx.x == 0) values[blockIdx.x] = next[blockIdx.x];
        grid.sync();
    }
}

int main() {
    const int groups = 12;
    int count = 9, supported = 0, *values, *next;
    HIP(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, 0));
    CHECK(supported == 1);
    HIP(hipMalloc((void**)&values, groups * 4));
    HIP(hipMalloc((void**)&next, groups * 4));
    std::vector<int> expected(groups), result(groups);
    for (int index = 0; index < groups; index++) expected[index] = index * index;
    HIP(hipMemcpy(values, expected.data(), groups * 4, hipMemcpyHostToDevice));
    void* arguments[] = {&values, &next, &count};
    HIP(hipLaunchCooperativeKernel((void*)rounds, dim3(groups), dim3(128), arguments, 0, nullptr));
    HIP(hipDeviceSynchronize());
    HIP(hipMemcpy(result.data(), values, groups * 4, hipMemcpyDeviceToHost));
    for (int round = 0; round < count; round++) {
        std::vector<int> before = expected;
        for (int index = 0; index < groups; index++)
            expected[index] = before[index] + before[(index + 1) % groups];
    }
    CHECK(result == expected);
    int blocks = 0;
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rounds, 128, 0));
    CHECK(blocks > 0);
    HIP(hipFree(values));
    HIP(hipFree(next));
    return finish("cooperative");
}
