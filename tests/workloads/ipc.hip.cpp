// Device memory of one process, read and written by another; an event that both know.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>

static const size_t BYTES = 100000;

__global__ void invert(unsigned char* data, int bytes) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < bytes) data[index] = ~data[index];
}

template <class Handle>
static std::string to_text(const Handle& handle) {
    std::string text;
    char digits[3];
    for (size_t index = 0; index < sizeof handle; index++) {
        snprintf(digits, sizeof digits, "%02x", ((const unsigned char*)&handle)[index]);
        text += digits;
    }
    return text;
}

template <class Handle>
static Handle from_text(const std::string& text) {
    Handle handle;
    for (size_t index = 0; index < sizeof handle; index++)
        ((unsigned char*)&handle)[index] =
            (unsigned char)strtol(text.substr(2 * index, 2).c_str(), nullptr, 16);
    return handle;
}

static int child(const char* memory_text, const char* event_text) {
    hipIpcMemHandle_t handle = from_text<hipIpcMemHandle_t>(memory_text);
    hipEvent_t event;
    hipStream_t stream;
    HIP(hipIpcOpenEventHandle(&event, from_text<hipIpcEventHandle_t>(event_text)));
    HIP(hipEventSynchronize(event));
    HIP(hipEventQuery(event));
    HIP(hipStreamCreate(&stream));
    HIP(hipStreamWaitEvent(stream, event, 0));
    HIP(hipStreamSynchronize(stream));
    HIP(hipStreamDestroy(stream));
    HIP(hipEventDestroy(event));
    void* memory = nullptr;
    HIP(hipIpcOpenMemHandle(&memory, handle, hipIpcMemLazyEnablePeerAccess));
    std::vector<unsigned char> seen(BYTES);
    HIP(hipMemcpy(seen.data(), memory, BYTES, hipMemcpyDeviceToHost));
    CHECK(seen == pattern(BYTES, 1));
    invert<<<(BYTES + 255) / 256, 256>>>((unsigned char*)memory, BYTES);
    HIP(hipDeviceSynchronize());
    HIP(hipMemcpy(memory, "CHILD", 5, hipMemcpyHostToDevice));
    HIP(hipIpcCloseMemHandle(memory));
    return bad.load();
}

int main(int argc, char** argv) {
    if (argc > 2) return child(argv[1], argv[2]);
    hipEvent_t event;
    hipIpcEventHandle_t event_handle;
    HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming | hipEventInterprocess));
    HIP(hipIpcGetEventHandle(&event_handle, event));
    unsigned char* memory;
    std::vector<unsigned char> content = pattern(BYTES, 1), seen(BYTES);
    for (int round = 0; round < 2; round++) {
        HIP(hipMalloc((void**)&memory, BYTES));
        HIP(hipMemcpy(memory, content.data(), BYTES, hipMemcpyHostToDevice));
        hipIpcMemHandle_t handle;
        HIP(hipIpcGetMemHandle(&handle, memory));
        std::string memory_text = to_text(handle), event_text = to_text(event_handle);
        HIP(hipEventRecord(event, nullptr));
        pid_t process = fork();
        if (process == 0) {
            execl("/proc/self/exe", argv[0], memory_text.c_str(), event_text.c_str(),
                  (char*)nullptr);
            _exit(127);
        }
        int status = -1;
        CHECK(waitpid(process, &status, 0) == process && status == 0);
        HIP(hipMemcpy(seen.data(), memory, BYTES, hipMemcpyDeviceToHost));
        CHECK(!memcmp(seen.data(), "CHILD", 5));
        for (size_t index = 5; index < BYTES; index++)
            if (seen[index] != (unsigned char)~content[index]) bad++;
        HIP(hipFree(memory));
    }
    HIP(hipEventDestroy(event));
    // Memory that was shared is ordinary again for whoever gets its place.
    HIP(hipMalloc((void**)&memory, BYTES));
    HIP(hipMemset(memory, 9, BYTES));
    HIP(hipMemcpy(seen.data(), memory, BYTES, hipMemcpyDeviceToHost));
    CHECK(seen[0] == 9 && seen[BYTES - 1] == 9);
    HIP(hipFree(memory));
    return finish("ipc");
}
