// Kernels that print, to both streams.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void speak(int number) {
    printf("the device says %d to the %s\n", number, "output");
    const char text[] = "the device says 0 to the error\n";
    __ockl_fprintf_append_string_n(__ockl_fprintf_stderr_begin(), text, sizeof text, 1);
}

int main() {
    printf("the program speaks\n");
    for (int number = 1; number <= 3; number++) {
        speak<<<1, 1>>>(number);
        if (hipDeviceSynchronize() != hipSuccess) abort();
    }
    printf("speak bad=0\n");
}
