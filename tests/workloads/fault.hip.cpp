// Kernels and programs that do what they must not. Every way ends the program or gives an
// error; "fault bad=N" is only printed if the mistake went unnoticed.
#include "check.h"

__global__ void store(int* to) { *to = 1; }
__global__ void trap() { __builtin_trap(); }

int main(int argc, char** argv) {
    const char* way = argc > 1 ? argv[1] : "";
    int* device;
    HIP(hipMalloc((void**)&device, 4096));
    if (!strcmp(way, "null")) store<<<1, 1>>>(nullptr);
    if (!strcmp(way, "beyond")) store<<<1, 1>>>(device + 1024);
    if (!strcmp(way, "freed")) {
        HIP(hipFree(device));
        store<<<1, 1>>>(device);
    }
    if (!strcmp(way, "host")) store<<<1, 1>>>((int*)malloc(4096));
    if (!strcmp(way, "trap")) trap<<<1, 1>>>();
    if (!strcmp(way, "read")) return *(volatile int*)device;
    if (hipDeviceSynchronize() != hipSuccess) return 3;
    bad++;
    return finish("fault");
}
