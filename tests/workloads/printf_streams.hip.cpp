// Kernels of several streams print at once, in turn, and from a graph.
#include "printed.h"

__global__ void speak(int value) { printf("value %d\n", value); }

static hipStream_t streams[3];

static void at_once() {
    const int BLOCKS = 16, ROUNDS = 12;
    std::string text = printed(1, [] {
        for (int stream = 0; stream < 3; stream++)
            insist<<<BLOCKS, 128, 0, streams[stream]>>>(stream, ROUNDS);
        for (auto& stream : streams) HIP(hipStreamSynchronize(stream));
    });
    CHECK(lines(text) == insisted(3, BLOCKS, ROUNDS));
}

static void in_turn() {
    std::string expected;
    std::string text = printed(1, [&] {
        for (int turn = 0; turn < 12; turn++) {
            hipStream_t stream = turn % 4 == 3 ? nullptr : streams[turn % 4];
            speak<<<1, 1, 0, stream>>>(turn);
            HIP(hipStreamSynchronize(stream));
            expected += "value " + std::to_string(turn) + "\n";
        }
    });
    CHECK(text == expected);
}

static void in_a_graph() {
    hipGraph_t graph;
    hipGraphExec_t exec;
    HIP(hipStreamBeginCapture(streams[0], hipStreamCaptureModeGlobal));
    speak<<<1, 1, 0, streams[0]>>>(4);
    HIP(hipStreamEndCapture(streams[0], &graph));
    HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    std::string text = printed(1, [&] {
        for (int times = 0; times < 3; times++) HIP(hipGraphLaunch(exec, streams[0]));
        HIP(hipStreamSynchronize(streams[0]));
    });
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    CHECK(text == "value 4\nvalue 4\nvalue 4\n");
}

int main() {
    for (auto& stream : streams) HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    at_once();
    in_turn();
    in_a_graph();
    for (auto& stream : streams) HIP(hipStreamDestroy(stream));
    return finish("printf_streams");
}
