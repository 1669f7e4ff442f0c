// A host node between two kernels of a graph that runs three times: each works on what the one before
// left. In HIP 5.2.3 the callback may run before the work ahead of it, and after a wait for the stream.
#include "check.h"

static const int COUNT = 1000;

__global__ void add(int* data, int value) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < COUNT) data[index] += value;
}

struct Work {
    int* data;
    int factor;
    int runs;
};

static void multiply_some(void* of) {
    Work* work = (Work*)of;
    work->runs++;
    // Only every third word changes.
    for (int index = 0; index < COUNT; index += 3) work->data[index] *= work->factor;
}

int main() {
    int* pinned;
    hipStream_t stream;
    HIP(hipHostMalloc((void**)&pinned, COUNT * 4, 0));
    HIP(hipStreamCreate(&stream));

    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t first, host, last;
    HIP(hipGraphCreate(&graph, 0));
    int one = 1, hundred = 100;
    void* one_args[] = {&pinned, &one};
    void* hundred_args[] = {&pinned, &hundred};
    hipKernelNodeParams kernel = {};
    kernel.func = (void*)add;
    kernel.gridDim = dim3((COUNT + 255) / 256);
    kernel.blockDim = dim3(256);
    kernel.kernelParams = one_args;
    HIP(hipGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
    Work counted = {pinned, 2, 0};
    hipHostNodeParams node = {multiply_some, &counted};
    HIP(hipGraphAddHostNode(&host, graph, &first, 1, &node));
    kernel.kernelParams = hundred_args;
    HIP(hipGraphAddKernelNode(&last, graph, &host, 1, &kernel));
    HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int index = 0; index < COUNT; index++) pinned[index] = 0;
    for (int run = 0; run < 3; run++) HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
    CHECK(counted.runs == 3);
    // Where the callback writes: ((1 * 2 + 101) * 2 + 101) * 2 + 100.
    for (int index = 0; index < COUNT; index++) CHECK(pinned[index] == (index % 3 ? 303 : 714));
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    HIP(hipStreamDestroy(stream));
    HIP(hipHostFree(pinned));
    return finish("host_nodes");
}
