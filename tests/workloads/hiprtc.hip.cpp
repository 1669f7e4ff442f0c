// Compiles a kernel at run time, loads and launches it; a wrong source fails with a log.
#include "compile.h"

int main() {
    std::vector<char> code = compile(
        "extern \"C\" __global__ void triple(int* a, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) a[i] = 3 * i;\n"
        "}\n");
    hipModule_t module;
    hipFunction_t triple;
    HIP(hipModuleLoadData(&module, code.data()));
    HIP(hipModuleGetFunction(&triple, module, "triple"));
    int n = 1000, *device;
    HIP(hipMalloc((void**)&device, n * 4));
    HIP(hipMemset(device, 0xff, n * 4));
    void* arguments[] = {&device, &n};
    HIP(hipModuleLaunchKernel(triple, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    std::vector<int> result(n);
    HIP(hipMemcpy(result.data(), device, n * 4, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) CHECK(result[i] == 3 * i);
    HIP(hipFree(device));
    HIP(hipModuleUnload(module));

    hiprtcProgram wrong;
    RTC(hiprtcCreateProgram(&wrong, "__global__ void broken( {", "broken.cu", 0, nullptr, nullptr));
    CHECK(hiprtcCompileProgram(wrong, 0, nullptr) == HIPRTC_ERROR_COMPILATION);
    size_t log_bytes = 0;
    RTC(hiprtcGetProgramLogSize(wrong, &log_bytes));
    CHECK(log_bytes > 1);
    RTC(hiprtcDestroyProgram(&wrong));
    return finish("hiprtc");
}
