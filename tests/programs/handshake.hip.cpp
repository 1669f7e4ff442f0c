// A kernel that waits for values which come and go between two calls: no recording holds them.
#include <hip/hip_runtime.h>

#include <cstdio>

#define CHECK(call) if (hipError_t error = (call)) return printf("%s: %d\n", #call, error), 1

__global__ void follow(volatile int* word, int last) {
    for (int value = 1; value <= last; value++) {
        while (word[0] != value) __builtin_amdgcn_s_sleep(1);
        word[1] = value;
    }
}

int main() {
    volatile int* word;
    CHECK(hipHostMalloc((void**)&word, 64, 0));
    word[0] = word[1] = 0;
    follow<<<1, 1>>>(word, 3);
    for (int value = 1; value <= 3; value++) {
        word[0] = value;
        while (word[1] != value) {}
    }
    CHECK(hipDeviceSynchronize());
    CHECK(hipHostFree((void*)word));
    printf("handshake bad=0\n");
    return 0;
}
