// A program that ends while its work is not done: a kernel that never ends, copies behind it,
// callbacks that never come. It must end at once, and well. The argument says how it ends.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

__global__ void forever(volatile int* stop) {
    while (*stop == 0) __builtin_amdgcn_s_sleep(1);
}

static void never(hipStream_t, hipError_t, void*) { fprintf(stderr, "the callback came\n"); }

static int child(const char* way) {
    volatile int* stop;
    int* data;
    hipStream_t stream;
    HIP(hipHostMalloc((void**)&stop, 4096, 0));
    HIP(hipMalloc((void**)&data, 4096));
    HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    *stop = 0;
    forever<<<1, 64, 0, stream>>>(stop);
    HIP(hipMemcpyAsync((void*)(stop + 64), data, 512, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamAddCallback(stream, never, nullptr, 0));
    if (!strcmp(way, "exit")) exit(bad.load());
    if (!strcmp(way, "quick")) _exit(bad.load());
    if (!strcmp(way, "thread")) std::thread([] { exit(bad.load()); }).join();
    return bad.load();
}

int main(int argc, char** argv) {
    if (argc > 1) return child(argv[1]);
    for (const char* way : {"return", "exit", "quick", "thread"}) {
        pid_t process = fork();
        if (process == 0) {
            alarm(60);
            execl("/proc/self/exe", argv[0], way, (char*)nullptr);
            _exit(127);
        }
        int status = -1;
        CHECK(waitpid(process, &status, 0) == process);
        if (status) fprintf(stderr, "%s: status %#x\n", way, status);
        CHECK(status == 0);
    }
    return finish("exit");
}
