// Memory that kernels allocate: distinct, writable by any kernel, and given again once it is free.
#include "check.h"

// What malloc and free of device code are, where the compiler knows which HIP it is for.
extern "C" __device__ unsigned long long __ockl_dm_alloc(unsigned long long bytes);
extern "C" __device__ void __ockl_dm_dealloc(unsigned long long address);

__device__ static void* allocate(size_t bytes) { return (void*)__ockl_dm_alloc(bytes); }
__device__ static void release(void* memory) { __ockl_dm_dealloc((unsigned long long)memory); }

struct Node {
    Node* next;
    uint64_t value;
    uint64_t fill[5];
};

static const int BLOCKS = 6, THREADS = 96, ITEMS = BLOCKS * THREADS;

__device__ static int item() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void build(Node** lists, int length) {
    Node* list = nullptr;
    for (int at = 0; at < length; at++) {
        Node* node = (Node*)allocate(sizeof(Node));
        if (!node) break;
        node->next = list;
        node->value = item() * 1000 + at;
        for (auto& word : node->fill) word = node->value * 3;
        list = node;
    }
    lists[item()] = list;
}

__global__ void sum(Node** lists, uint64_t* sums, bool give_back) {
    uint64_t total = 0;
    for (Node *node = lists[item()], *next; node; node = next) {
        next = node->next;
        total += node->value;
        for (auto& word : node->fill) total += word;
        if (give_back) release(node);
    }
    sums[item()] = total;
}

// Too large for what the device library divides.
__global__ void large(uint64_t** memory, size_t words) {
    *memory = (uint64_t*)allocate(words * 8);
    for (size_t at = 0; *memory && at < words; at += 512) (*memory)[at] = at * 7;
}

__global__ void read_large(uint64_t** memory, uint64_t* sums, size_t words) {
    uint64_t total = 0;
    for (size_t at = 0; *memory && at < words; at += 512) total += (*memory)[at];
    release(*memory);
    *sums = total;
}

__global__ void nothing(void** memory) {
    release(nullptr);
    *memory = allocate((size_t)1 << 50);
}

int main() {
    const int LENGTH = 20;
    Node** lists;
    uint64_t* sums;
    HIP(hipMalloc(&lists, ITEMS * sizeof *lists));
    HIP(hipMalloc(&sums, ITEMS * sizeof *sums));
    std::vector<uint64_t> found(ITEMS);
    for (int round = 0; round < 3; round++) {
        build<<<BLOCKS, THREADS>>>(lists, LENGTH);
        for (bool give_back : {false, true}) {
            sum<<<BLOCKS, THREADS>>>(lists, sums, give_back);
            HIP(hipMemcpy(found.data(), sums, ITEMS * sizeof *sums, hipMemcpyDeviceToHost));
            for (int at = 0; at < ITEMS; at++)
                CHECK(found[at] == 16ull * (at * 1000ull * LENGTH + LENGTH * (LENGTH - 1) / 2));
        }
    }
    const size_t WORDS = 100000;
    large<<<1, 1>>>((uint64_t**)lists, WORDS);
    read_large<<<1, 1>>>((uint64_t**)lists, sums, WORDS);
    uint64_t expected = 0, total = 0;
    for (size_t at = 0; at < WORDS; at += 512) expected += at * 7;
    HIP(hipMemcpy(&total, sums, sizeof total, hipMemcpyDeviceToHost));
    CHECK(total == expected);
    nothing<<<1, 1>>>((void**)sums);
    HIP(hipMemcpy(&total, sums, sizeof total, hipMemcpyDeviceToHost));
    CHECK(total == 0);
    HIP(hipFree(lists));
    HIP(hipFree(sums));
    return finish("malloc");
}
