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

// A graph that copies `from` to the host, and to where.
struct Download {
    hipGraph_t graph;
    hipGraphNode_t node;
};

static Download download(void* to, const void* from) {
    Download made;
    HIP(hipGraphCreate(&made.graph, 0));
    HIP(hipGraphAddMemcpyNode1D(&made.node, made.graph, nullptr, 0, to, from, BYTES,
                                hipMemcpyDeviceToHost));
    return made;
}

// Launches, and looks where the content came: every other place is the program's own.
static void launch(hipGraphExec_t exec, std::vector<std::vector<uint8_t>>& places, size_t expected,
                   uint8_t content) {
    static uint8_t mark = 100;
    mark++;
    for (auto& place : places) memset(place.data(), mark, BYTES);
    HIP(hipGraphLaunch(exec, nullptr));
    HIP(hipStreamSynchronize(nullptr));
    for (auto& place : places) {
        uint8_t here = &place == &places[expected] ? content : mark;
        CHECK(place[0] == here && place[BYTES - 1] == here);
    }
}

// Copies to the host whose nodes change: in the graph, in the instance, by another graph.
static void changed() {
    uint8_t *a, *b;
    HIP(hipMalloc((void**)&a, BYTES));
    HIP(hipMalloc((void**)&b, BYTES));
    HIP(hipMemset(a, 0x0a, BYTES));
    HIP(hipMemset(b, 0x0b, BYTES));
    std::vector<std::vector<uint8_t>> places(4, std::vector<uint8_t>(BYTES));
    auto at = [&](size_t place) { return places[place].data(); };

    Download first = download(at(0), a);
    hipGraphExec_t exec, other;
    HIP(hipGraphInstantiate(&exec, first.graph, nullptr, nullptr, 0));
    launch(exec, places, 0, 0x0a);
    HIP(hipGraphExecMemcpyNodeSetParams1D(exec, first.node, at(1), b, BYTES,
                                          hipMemcpyDeviceToHost));
    launch(exec, places, 1, 0x0b);
    HIP(hipGraphMemcpyNodeSetParams1D(first.node, at(2), b, BYTES, hipMemcpyDeviceToHost));
    HIP(hipGraphInstantiate(&other, first.graph, nullptr, nullptr, 0));
    launch(other, places, 2, 0x0b);
    launch(exec, places, 1, 0x0b);

    Download second = download(at(3), a);
    // Left as it is where nothing failed.
    hipGraphNode_t failed = (hipGraphNode_t)0x10;
    hipGraphExecUpdateResult result = hipGraphExecUpdateError;
    HIP(hipGraphExecUpdate(exec, second.graph, &failed, &result));
    CHECK(result == hipGraphExecUpdateSuccess);
    launch(exec, places, 3, 0x0a);
    HIP(hipGraphExecDestroy(other));

    hipGraph_t clone;
    HIP(hipGraphClone(&clone, second.graph));
    HIP(hipGraphMemcpyNodeSetParams1D(second.node, at(0), a, BYTES, hipMemcpyDeviceToHost));
    HIP(hipGraphInstantiate(&other, clone, nullptr, nullptr, 0));
    launch(other, places, 3, 0x0a);
    HIP(hipGraphExecDestroy(other));
    hipGraphNode_t copied;
    HIP(hipGraphNodeFindInClone(&copied, second.node, clone));
    HIP(hipGraphMemcpyNodeSetParams1D(copied, at(1), b, BYTES, hipMemcpyDeviceToHost));
    HIP(hipGraphInstantiate(&other, clone, nullptr, nullptr, 0));
    launch(other, places, 1, 0x0b);
    HIP(hipGraphExecDestroy(other));

    hipGraph_t parent;
    hipGraphNode_t child;
    HIP(hipGraphCreate(&parent, 0));
    HIP(hipGraphAddChildGraphNode(&child, parent, nullptr, 0, second.graph));
    HIP(hipGraphInstantiate(&other, parent, nullptr, nullptr, 0));
    launch(other, places, 0, 0x0a);
    HIP(hipGraphExecDestroy(other));
    HIP(hipGraphDestroyNode(second.node));
    HIP(hipGraphAddMemcpyNode1D(&second.node, second.graph, nullptr, 0, at(2), b, BYTES,
                                hipMemcpyDeviceToHost));
    HIP(hipGraphInstantiate(&other, second.graph, nullptr, nullptr, 0));
    launch(other, places, 2, 0x0b);
    HIP(hipGraphExecDestroy(other));
    HIP(hipGraphExecDestroy(exec));

    // The runtime made the node: nothing that the program passed names it.
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphNode_t node;
    size_t nodes = 1;
    HIP(hipStreamCreate(&stream));
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP(hipMemcpyAsync(at(0), a, BYTES, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamEndCapture(stream, &graph));
    HIP(hipGraphGetNodes(graph, &node, &nodes));
    HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    launch(exec, places, 0, 0x0a);
    HIP(hipGraphExecMemcpyNodeSetParams1D(exec, node, at(3), b, BYTES, hipMemcpyDeviceToHost));
    launch(exec, places, 3, 0x0b);

    HIP(hipGraphExecDestroy(exec));
    for (hipGraph_t made : {first.graph, second.graph, clone, parent, graph}) {
        HIP(hipGraphDestroy(made));
    }
    HIP(hipStreamDestroy(stream));
    HIP(hipFree(a));
    HIP(hipFree(b));
}

int main() {
    captured();
    built();
    changed();
    return finish("graphs");
}
