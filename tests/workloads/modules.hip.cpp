// Modules: kernels and variables of code objects that are loaded at run time, and occupancy.
// The code object is compiled here, for the device that is there.
#include "check.h"
#include <sys/mman.h>

#include "compile.h"

static const char* SOURCE = R"(
extern "C" {
__device__ int counter = 41;
__constant__ float table[16];
__global__ void axpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + table[i & 15];
}
__global__ void count() { atomicAdd(&counter, 1); }
__global__ void reduce(const float* x, float* sums, int n) {
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
struct Big { const float* in; float* out; int n; float k[8]; };
__global__ void by_value(Big big) {
    int i = threadIdx.x;
    if (i < big.n) big.out[i] = big.in[i] * big.k[i & 7];
}
}
)";

extern "C" void** __hipRegisterFatBinary(const void* wrapper);

// What is no image, has no length, or is for another device. `junk` has what ends AMD's 5.2.3.
static void junk(const std::vector<char>& code) {
    // Runtimes look for tables behind what they are given, so there are zeros.
    static char page[4096];
    refused(page);
    strcpy(page, "this is no code object");
    refused(page);

    // Nothing is mapped behind these.
    char* pages = (char*)mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                              -1, 0);
    CHECK(pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0);
    strcpy(pages + 4096 - 64, "at the end");
    refused(pages + 4096 - 64);

    std::vector<char> other = code;
    other[48] = 0x2c;  // e_flags: gfx900, and no device here is one
    refused(other.data());

    // A wrapper as compilers make it begins with a magic and a version.
    uint64_t wrapper[3] = {7, (uint64_t)code.data(), 0};
    CHECK(__hipRegisterFatBinary(wrapper) == nullptr);
}

int main() {
    std::vector<char> code = compile(SOURCE);
    hipModule_t module;
    HIP(hipModuleLoadData(&module, code.data()));
    hipFunction_t axpy, count, reduce, by_value, none;
    HIP(hipModuleGetFunction(&axpy, module, "axpy"));
    HIP(hipModuleGetFunction(&count, module, "count"));
    HIP(hipModuleGetFunction(&reduce, module, "reduce"));
    HIP(hipModuleGetFunction(&by_value, module, "by_value"));
    EXPECT(hipModuleGetFunction(&none, module, "no_such_kernel"), hipErrorNotFound);

    int n = 1000;
    float a = 2, *x, *y;
    std::vector<float> in(n), out(n), constants(16);
    for (int i = 0; i < n; i++) in[i] = (float)(i % 37);
    for (int i = 0; i < 16; i++) constants[i] = (float)i;
    HIP(hipMalloc((void**)&x, n * 4));
    HIP(hipMalloc((void**)&y, n * 4));
    HIP(hipMemcpy(x, in.data(), n * 4, hipMemcpyHostToDevice));
    hipDeviceptr_t table, counter;
    size_t table_bytes = 0, counter_bytes = 0;
    HIP(hipModuleGetGlobal(&table, &table_bytes, module, "table"));
    HIP(hipModuleGetGlobal(&counter, &counter_bytes, module, "counter"));
    CHECK(table_bytes == 64 && counter_bytes == 4);
    HIP(hipMemcpyHtoD(table, constants.data(), 64));

    void* arguments[] = {&n, &a, &x, &y};
    HIP(hipModuleLaunchKernel(axpy, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    HIP(hipMemcpy(out.data(), y, n * 4, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) CHECK(out[i] == 2 * in[i] + constants[i & 15]);

    // The same arguments as one block of bytes.
    struct { int n; float a; float *x, *y; } block{n, 5, x, y};
    size_t bytes = sizeof block;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    HIP(hipModuleLaunchKernel(axpy, 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
    HIP(hipMemcpy(out.data(), y, n * 4, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) CHECK(out[i] == 5 * in[i] + constants[i & 15]);

    for (int i = 0; i < 3; i++)
        HIP(hipModuleLaunchKernel(count, 2, 1, 1, 50, 1, 1, 0, nullptr, nullptr, nullptr));
    int value = 0;
    HIP(hipMemcpyDtoH(&value, counter, 4));
    CHECK(value == 41 + 300);

    void* reduced[] = {&x, &y, &n};
    HIP(hipModuleLaunchKernel(reduce, 4, 1, 1, 256, 1, 1, 1024, nullptr, reduced, nullptr));
    HIP(hipMemcpy(out.data(), y, 16, hipMemcpyDeviceToHost));
    float expected = 0;
    for (float v : in) expected += v;
    CHECK(out[0] + out[1] + out[2] + out[3] == expected);

    struct {
        const float* in;
        float* out;
        int n;
        float k[8];
    } big{x, y, 64, {1, 2, 3, 4, 5, 6, 7, 8}};
    void* one[] = {&big};
    HIP(hipModuleLaunchKernel(by_value, 1, 1, 1, 64, 1, 1, 0, nullptr, one, nullptr));
    HIP(hipMemcpy(out.data(), y, 256, hipMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) CHECK(out[i] == in[i] * (float)(1 + (i & 7)));

    int blocks = 0, grid = 0, size = 0, attribute = 0;
    HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reduce, 256, 1024));
    CHECK(blocks > 0);
    HIP(hipModuleOccupancyMaxPotentialBlockSize(&grid, &size, axpy, 0, 0));
    CHECK(grid > 0 && size > 0 && size <= 1024);
    HIP(hipFuncGetAttribute(&attribute, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, axpy));
    CHECK(attribute == 1024);

    HIP(hipModuleUnload(module));
    junk(code);
    hipModule_t refused;
    EXPECT(hipModuleLoad(&refused, "/no/such/file.co"), hipErrorFileNotFound);
    HIP(hipFree(x));
    HIP(hipFree(y));
    return finish("modules");
}
