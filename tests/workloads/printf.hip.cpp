// What kernels print: every line of every work-item arrives once, with its arguments.
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

#include <set>
#include <string>

__global__ void speak(int value) {
    printf("item %d of %s: %d %5.2f %lx\n", (int)(blockIdx.x * blockDim.x + threadIdx.x), "many",
           value, value * 0.5, 0x123456789abcdefl);
}

__global__ void once() { printf("no arguments\n"); }

int main() {
    char path[] = "/tmp/printf-XXXXXX";
    int file = mkstemp(path);
    int terminal = dup(1);
    fflush(stdout);
    dup2(file, 1);
    speak<<<2, 70>>>(7);
    HIP(hipDeviceSynchronize());
    once<<<1, 1>>>();
    HIP(hipDeviceSynchronize());
    fflush(stdout);
    dup2(terminal, 1);

    std::multiset<std::string> expected, seen;
    char line[200];
    for (int item = 0; item < 140; item++) {
        snprintf(line, sizeof line, "item %d of many: 7  3.50 123456789abcdef\n", item);
        expected.insert(line);
    }
    expected.insert("no arguments\n");
    lseek(file, 0, SEEK_SET);
    FILE* stream = fdopen(file, "r");
    while (fgets(line, sizeof line, stream)) seen.insert(line);
    CHECK(seen == expected);
    if (seen != expected)
        for (auto& text : seen) fprintf(stderr, "printed: %s", text.c_str());
    unlink(path);
    return finish("printf");
}
