// Compiles device code at run time, for the device that is there.
#pragma once
#include <hip/hiprtc.h>

#include <string>

#include "check.h"

#define RTC(call)                                                                               \
    do {                                                                                        \
        hiprtcResult got_ = (call);                                                             \
        if (got_ != HIPRTC_SUCCESS) {                                                           \
            bad++;                                                                              \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, (int)got_);       \
        }                                                                                       \
    } while (0)

static inline std::vector<char> compile(const char* source) {
    hipDeviceProp_t properties;
    HIP(hipGetDeviceProperties(&properties, 0));
    std::string architecture = std::string("--gpu-architecture=") + properties.gcnArchName;
    const char* options[] = {architecture.c_str()};
    hiprtcProgram program;
    RTC(hiprtcCreateProgram(&program, source, "workload.cu", 0, nullptr, nullptr));
    RTC(hiprtcCompileProgram(program, 1, options));
    size_t log_bytes = 0, bytes = 0;
    RTC(hiprtcGetProgramLogSize(program, &log_bytes));
    if (log_bytes > 1) {
        std::string log(log_bytes, 0);
        RTC(hiprtcGetProgramLog(program, &log[0]));
        fprintf(stderr, "%s\n", log.c_str());
    }
    RTC(hiprtcGetCodeSize(program, &bytes));
    std::vector<char> code(bytes);
    RTC(hiprtcGetCode(program, code.data()));
    RTC(hiprtcDestroyProgram(&program));
    return code;
}

// Loads an image that no runtime takes: it fails, and the last error is what it answered.
static inline int refused(const char* image) {
    hipModule_t module;
    hipError_t by_data = hipModuleLoadData(&module, image);
    hipError_t last = hipGetLastError();
    hipError_t by_data_ex = hipModuleLoadDataEx(&module, image, 0, nullptr, nullptr);
    CHECK(by_data != hipSuccess && by_data == last && by_data_ex == by_data);
    CHECK(hipGetLastError() == by_data_ex);
    return by_data;
}
