// Graphs: captured from streams, built node by node, and updated after instantiation.
#include "check.h"

__global__ void scale(float* data, float factor, int count) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) data[index] = data[index] * factor + 1;
}

static const int COUNT = 1024;
static const size_t BYTES = COUNT * sizeof(float);

static void captured() {
    hipStream_t stream, side;
    hipEvent_t fork, join;
    float *a, *b, *in, *out;
    HIP(hipStreamCreate(&stream));
    HIP(hipStreamCreate(&side));
    HIP(hipEventCreate(&fork));
    HIP(hipEventCreate(&join));
    HIP(hipMalloc((void**)&a, BYTES));
    HIP(hipMalloc((void**)&b, BYTES));
    HIP(hipHostMalloc((void**)&in, BYTES, 0));
    HIP(hipHostMalloc((void**)&out, 2 * BYTES, 0));

    hipGraph_t graph;
    hipGraphExec_t exec;
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipMemcpyAsync(a, in, BYTES, hipMemcpyHostToDevice, stream));
    HIP(hipEventRecord(fork, stream));
    HIP(hipStreamWaitEvent(side, fork, 0));
    scale<<<COUNT / 256, 256, 0, stream>>>(a, 2, COUNT);
    HIP(hipMemsetAsync(b, 0, BYTES, side));
    scale<<<COUNT / 256, 256, 0, side>>>(b, 5, COUNT);
    HIP(hipEventRecord(join, side));
    HIP(hipStreamWaitEvent(stream, join, 0));
    HIP(hipMemcpyAsync(out, a, BYTES, hipMemcpyDeviceToHost, stream));
    HIP(hipMemcpyAsync(out + COUNT, b, BYTES, hipMemcpyDeviceToHost, stream));
    hipStreamCaptureStatus status;
    HIP(hipStreamIsCapturing(stream, &status));
    CHECK(status == hipStreamCaptureStatusActive);
    HIP(hipStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    HIP(hipGraphGetNodes(graph, nullptr, &nodes));
    CHECK(nodes == 6);
    HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int round = 0; round < 3; round++) {
        // The sources are read at each launch.
        for (int index = 0; index < COUNT; index++) in[index] = (float)(index + round);
        memset(out, 0, 2 * BYTES);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        for (int index = 0; index < COUNT; index++) {
            CHECK(out[index] == 2 * (float)(index + round) + 1);
            CHECK(out[COUNT + index] == 1);
        }
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    HIP(hipFree(a));
    HIP(hipFree(b));
    HIP(hipHostFree(in));
    HIP(hipHostFree(out));
    HIP(hipStreamDestroy(stream));
    HIP(hipStreamDestroy(side));
    HIP(hipEventDestroy(fork));
    HIP(hipEventDestroy(join));
}

static void built() {
    hipStream_t stream;
    float *a, *b;
    std::vector<float> in(COUNT), out(COUNT);
    HIP(hipStreamCreate(&stream));
    HIP(hipMalloc((void**)&a, BYTES));
    HIP(hipMalloc((void**)&b, BYTES));
    for (int index = 0; index < COUNT; index++) in[index] = (float)index;

    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t upload, clear, kernel, move, download;
    HIP(hipGraphCreate(&graph, 0));
    HIP(hipGraphAddMemcpyNode1D(&upload, graph, nullptr, 0, a, in.data(), BYTES,
                                hipMemcpyHostToDevice));
    hipMemsetParams fill;
    memset(&fill, 0, sizeof fill);
    fill.dst = b;
    fill.value = 0x7f;
    fill.elementSize = 1;
    fill.width = BYTES;
    fill.height = 1;
    HIP(hipGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
    float factor = 3;
    int count = COUNT;
    void* arguments[] = {&a, &factor, &count};
    hipKernelNodeParams params;
    memset(&params, 0, sizeof params);
    params.func = (void*)scale;
    params.gridDim = dim3(COUNT / 256);
    params.blockDim = dim3(256);
    params.kernelParams = arguments;
    HIP(hipGraphAddKernelNode(&kernel, graph, &upload, 1, &params));
    hipGraphNode_t before[] = {kernel, clear};
    HIP(hipGraphAddMemcpyNode1D(&move, graph, before, 2, b, a, BYTES / 2, hipMemcpyDeviceToDevice));
    HIP(hipGraphAddMemcpyNode1D(&download, graph, &move, 1, out.data(), b, BYTES,
                                hipMemcpyDeviceToHost));
    hipGraphNodeType type;
    HIP(hipGraphNodeGetType(kernel, &type));
    CHECK(type == hipGraphNodeTypeKernel);
    HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
    uint32_t filled;
    memcpy(&filled, &out[COUNT - 1], 4);
    CHECK(filled == 0x7f7f7f7f);
    for (int index = 0; index < COUNT / 2; index++) CHECK(out[index] == 3 * (float)index + 1);

    // The instance takes new parameters; the graph keeps its own.
    factor = 10;
    HIP(hipGraphExecKernelNodeSetParams(exec, kernel, &params));
    fill.value = 0x11;
    HIP(hipGraphExecMemsetNodeSetParams(exec, clear, &fill));
    HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
    memcpy(&filled, &out[COUNT - 1], 4);
    CHECK(filled == 0x11111111);
    for (int index = 0; index < COUNT / 2; index++) CHECK(out[index] == 10 * (float)index + 1);

    hipGraph_t clone;
    hipGraphExec_t second;
    HIP(hipGraphClone(&clone, graph));
    HIP(hipGraphInstantiate(&second, clone, nullptr, nullptr, 0));
    HIP(hipGraphLaunch(second, stream));
    HIP(hipStreamSynchronize(stream));
    CHECK(out[5] == 3 * 5 + 1);

    HIP(hipGraphExecDestroy(second));
    HIP(hipGraphDestroy(clone));
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    HIP(hipFree(a));
    HIP(hipFree(b));
    HIP(hipStreamDestroy(stream));
}

int main() {
    captured();
    built();
    return finish("graphs");
}
