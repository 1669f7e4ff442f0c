// Host memory that is used again as soon as its copy is done, by whatever call waited for that.
#include "check.h"

static const int COUNT = 1024;
static const size_t BYTES = COUNT * sizeof(int);

__global__ void add(int* data, int value) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < COUNT) data[index] += value;
}

// Two buffers of the device that hold `first` and `second`, and places on the host.
struct Memory {
    int *device, *other, *pinned;
    std::vector<int> pageable, more;
    hipStream_t blocking, apart;

    Memory() : pageable(COUNT), more(COUNT) {
        HIP(hipMalloc((void**)&device, BYTES));
        HIP(hipMalloc((void**)&other, BYTES));
        HIP(hipHostMalloc((void**)&pinned, BYTES, 0));
        HIP(hipStreamCreate(&blocking));
        HIP(hipStreamCreateWithFlags(&apart, hipStreamNonBlocking));
        HIP(hipMemset(device, 0, BYTES));
        HIP(hipMemset(other, 0, BYTES));
        HIP(hipDeviceSynchronize());
    }
    ~Memory() {
        HIP(hipDeviceSynchronize());
        HIP(hipStreamDestroy(blocking));
        HIP(hipStreamDestroy(apart));
        HIP(hipHostFree(pinned));
        HIP(hipFree(device));
        HIP(hipFree(other));
    }
};

static void work(int* data, int value, hipStream_t stream) {
    add<<<COUNT / 256, 256, 0, stream>>>(data, value);
}

static void is(const int* data, int value) {
    CHECK(data[0] == value && data[COUNT - 1] == value);
}

// The program's own: no result of the device.
static void use(int* data) {
    static int mark = 1000;
    for (int index = 0; index < COUNT; index++) data[index] = mark++;
}

// A copy of the null stream; a synchronous one to another place waits for both.
static void null_stream(bool pinned) {
    Memory memory;
    int* to = pinned ? memory.pinned : memory.pageable.data();
    work(memory.device, 7, nullptr);
    HIP(hipMemcpyAsync(to, memory.device, BYTES, hipMemcpyDeviceToHost, nullptr));
    HIP(hipMemcpy(memory.more.data(), memory.other, BYTES, hipMemcpyDeviceToHost));
    is(to, 7);
    use(to);
    HIP(hipDeviceSynchronize());
    HIP(hipMemcpyAsync(to, memory.device, BYTES, hipMemcpyDeviceToHost, nullptr));
    HIP(hipMemcpy2D(memory.more.data(), 64, memory.other, 64, 64, 4, hipMemcpyDeviceToHost));
    is(to, 7);
    use(to);
}

// A kernel writes pinned memory, and a synchronous copy waits for it.
static void kernel() {
    Memory memory;
    memset(memory.pinned, 0, BYTES);
    work(memory.pinned, 7, nullptr);
    HIP(hipMemcpy(memory.more.data(), memory.other, BYTES, hipMemcpyDeviceToHost));
    is(memory.pinned, 7);
    for (int index = 0; index < COUNT; index++) memory.pinned[index] = 100;
    work(memory.pinned, 7, nullptr);
    HIP(hipMemcpy(memory.more.data(), memory.other, BYTES, hipMemcpyDeviceToHost));
    is(memory.pinned, 107);
}

// The null stream waits for a blocking stream, and a blocking stream for it.
static void blocking_stream() {
    Memory memory;
    work(memory.device, 7, memory.blocking);
    HIP(hipMemcpyAsync(memory.pinned, memory.device, BYTES, hipMemcpyDeviceToHost,
                       memory.blocking));
    work(memory.other, 1, nullptr);
    HIP(hipStreamSynchronize(nullptr));
    is(memory.pinned, 7);
    use(memory.pinned);
    HIP(hipDeviceSynchronize());

    HIP(hipMemcpyAsync(memory.pinned, memory.device, BYTES, hipMemcpyDeviceToHost,
                       memory.blocking));
    HIP(hipMemcpy(memory.more.data(), memory.other, BYTES, hipMemcpyDeviceToHost));
    is(memory.pinned, 7);
    use(memory.pinned);
    HIP(hipStreamSynchronize(memory.blocking));

    work(memory.device, 7, nullptr);
    HIP(hipMemcpyAsync(memory.pinned, memory.device, BYTES, hipMemcpyDeviceToHost, nullptr));
    work(memory.other, 1, memory.blocking);
    HIP(hipStreamSynchronize(memory.blocking));
    is(memory.pinned, 14);
    use(memory.pinned);
    HIP(hipDeviceSynchronize());
}

// A stream apart is not waited for: what it copies is final when it is waited for itself.
static void stream_apart() {
    Memory memory;
    work(memory.device, 7, memory.apart);
    HIP(hipMemcpyAsync(memory.pinned, memory.device, BYTES, hipMemcpyDeviceToHost, memory.apart));
    work(memory.other, 1, nullptr);
    HIP(hipStreamSynchronize(nullptr));
    HIP(hipMemcpy(memory.more.data(), memory.other, BYTES, hipMemcpyDeviceToHost));
    is(memory.more.data(), 1);
    HIP(hipStreamSynchronize(memory.apart));
    is(memory.pinned, 7);
}

// A copy on a stream that waits for itself.
static void with_stream() {
    Memory memory;
    work(memory.device, 7, memory.blocking);
    HIP(hipMemcpyWithStream(memory.pageable.data(), memory.device, BYTES, hipMemcpyDeviceToHost,
                            memory.blocking));
    is(memory.pageable.data(), 7);
    use(memory.pageable.data());
    work(memory.device, 7, memory.blocking);
    HIP(hipStreamSynchronize(memory.blocking));
}

// The copy that waits writes to the same place.
static void same_place() {
    Memory memory;
    work(memory.device, 7, memory.blocking);
    work(memory.other, 9, memory.blocking);
    HIP(hipMemcpyAsync(memory.pinned, memory.device, BYTES, hipMemcpyDeviceToHost,
                       memory.blocking));
    HIP(hipMemcpy(memory.pinned, memory.other, BYTES, hipMemcpyDeviceToHost));
    is(memory.pinned, 9);
    HIP(hipStreamSynchronize(memory.blocking));
    is(memory.pinned, 9);
}

// Registered memory, which kernels reach by another address.
static void registered() {
    Memory memory;
    std::vector<int> host(COUNT, 5);
    int* device;
    HIP(hipHostRegister(host.data(), BYTES, hipHostRegisterMapped));
    HIP(hipHostGetDevicePointer((void**)&device, host.data(), 0));
    for (int round = 1; round <= 2; round++) {
        work(device, 7, nullptr);
        HIP(hipDeviceSynchronize());
        is(host.data(), round == 1 ? 12 : 24);
        for (int index = 0; index < COUNT; index++) host[index] = 17;
    }
    HIP(hipHostUnregister(host.data()));
}

// Two executable graphs of one graph read the same place, which changes in between.
static void two_instances() {
    Memory memory;
    hipGraph_t graph;
    hipGraphNode_t node;
    hipGraphExec_t both[2];
    HIP(hipGraphCreate(&graph, 0));
    HIP(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, memory.device, memory.pageable.data(),
                                BYTES, hipMemcpyHostToDevice));
    for (hipGraphExec_t& one : both) HIP(hipGraphInstantiate(&one, graph, nullptr, nullptr, 0));
    for (int round = 0; round < 6; round++) {
        for (int& value : memory.pageable) value = 100 * (round % 2);
        HIP(hipGraphLaunch(both[round % 2 ^ round / 4], memory.blocking));
        HIP(hipStreamSynchronize(memory.blocking));
        HIP(hipMemcpy(memory.more.data(), memory.device, BYTES, hipMemcpyDeviceToHost));
        is(memory.more.data(), 100 * (round % 2));
    }
    for (hipGraphExec_t one : both) HIP(hipGraphExecDestroy(one));
    HIP(hipGraphDestroy(graph));
}

int main() {
    registered();
    two_instances();
    null_stream(false);
    null_stream(true);
    kernel();
    blocking_stream();
    stream_apart();
    with_stream();
    same_place();
    return finish("reuse");
}
