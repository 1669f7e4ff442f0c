// A process that forks while it uses a device. The child has no device and may only end; the
// parent's work is not disturbed.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

__global__ void add(int* data, int value, int count) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) data[index] += value;
}

int main() {
    const int count = 50000;
    std::vector<int> result(count);
    int* data;
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    HIP(hipMalloc((void**)&data, count * 4));
    HIP(hipMemset(data, 0, count * 4));
    HIP(hipDeviceSynchronize());
    for (int round = 0; round < 6; round++) {
        add<<<(count + 255) / 256, 256, 0, stream>>>(data, 1, count);
        pid_t process = fork();
        if (process == 0) {
            alarm(60);
            if (round & 1) _exit(7);
            execl("/bin/true", "true", (char*)nullptr);
            _exit(127);
        }
        add<<<(count + 255) / 256, 256, 0, stream>>>(data, 10, count);
        int status = -1;
        CHECK(waitpid(process, &status, 0) == process);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (round & 1 ? 7 : 0));
        HIP(hipMemcpyAsync(result.data(), data, count * 4, hipMemcpyDeviceToHost, stream));
        HIP(hipStreamSynchronize(stream));
        CHECK(result[0] == 11 * (round + 1) && result[count - 1] == 11 * (round + 1));
    }
    HIP(hipFree(data));
    HIP(hipStreamDestroy(stream));
    return finish("fork");
}
