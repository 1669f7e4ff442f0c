// Two streams with events across them, asynchronous copies from and to pinned memory, a module
// loaded from memory and launched both ways, a 2D copy with padding, a kernel that takes a struct
// with two pointers, and a device array of device pointers. Prints "bad=0" if all results are right.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

#define CK(call)                                                                        \
  do {                                                                                  \
    hipError_t error = (call);                                                          \
    if (error != hipSuccess) {                                                          \
      printf("%s -> %d %s\n", #call, (int)error, hipGetErrorString(error));             \
      return 1;                                                                         \
    }                                                                                   \
  } while (0)

static const unsigned char kModule[] = {
#include "streams_module.inc"
};

struct Operands {
  float* out;
  const float* in;
  float factor;
  int n;
};

__global__ void scale(Operands o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < o.n) o.out[i] = o.in[i] * o.factor;
}

// Adds up what `count` buffers hold at the same place.
__global__ void gather(float* const* buffers, int count, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < count; k++) sum += buffers[k][i];
  out[i] = sum;
}

int main() {
  const int n = 1000, block = 256, grid = (n + block - 1) / block;
  const size_t bytes = n * sizeof(float);
  int bad = 0;

  hipStream_t first, second;
  CK(hipStreamCreate(&first));
  CK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  hipEvent_t start, copied, scaled, stop;
  CK(hipEventCreate(&start));
  CK(hipEventCreateWithFlags(&copied, hipEventDisableTiming));
  CK(hipEventCreateWithFlags(&scaled, hipEventDisableTiming));
  CK(hipEventCreate(&stop));

  float *input, *output;
  CK(hipHostMalloc((void**)&input, bytes, hipHostMallocDefault));
  CK(hipHostMalloc((void**)&output, bytes, hipHostMallocDefault));
  float *a, *b, *c, *sum;
  CK(hipMalloc((void**)&a, bytes));
  CK(hipMalloc((void**)&b, bytes));
  CK(hipMalloc((void**)&c, bytes));
  CK(hipMalloc((void**)&sum, bytes));

  // Across two streams: copy on the first, work on the second, more on the first.
  for (int i = 0; i < n; i++) input[i] = (float)i;
  CK(hipEventRecord(start, first));
  CK(hipMemcpyAsync(a, input, bytes, hipMemcpyHostToDevice, first));
  CK(hipEventRecord(copied, first));
  CK(hipStreamWaitEvent(second, copied, 0));
  hipLaunchKernelGGL(scale, dim3(grid), dim3(block), 0, second, Operands{b, a, 2.0f, n});
  CK(hipGetLastError());
  CK(hipEventRecord(scaled, second));
  CK(hipStreamWaitEvent(first, scaled, 0));
  hipLaunchKernelGGL(scale, dim3(grid), dim3(block), 0, first, Operands{c, b, 0.5f, n});
  CK(hipGetLastError());
  CK(hipMemcpyAsync(output, c, bytes, hipMemcpyDeviceToHost, first));
  CK(hipEventRecord(stop, first));
  CK(hipStreamSynchronize(first));
  for (int i = 0; i < n; i++) bad += output[i] != (float)i;
  float milliseconds = -1;
  CK(hipEventElapsedTime(&milliseconds, start, stop));
  bad += !(milliseconds >= 0);

  // A module from memory; its image may go away once it is loaded.
  hipModule_t module;
  {
    std::vector<unsigned char> image(kModule, kModule + sizeof kModule);
    CK(hipModuleLoadData(&module, image.data()));
    memset(image.data(), 0xee, image.size());
  }
  hipFunction_t affine, row_sums;
  CK(hipModuleGetFunction(&affine, module, "affine"));
  CK(hipModuleGetFunction(&row_sums, module, "row_sums"));

  // Arguments one by one.
  float factor = 3.0f, offset = 1.0f;
  int count = n;
  void* arguments[] = {&b, &factor, &offset, &count};
  CK(hipModuleLaunchKernel(affine, grid, 1, 1, block, 1, 1, 0, second, arguments, nullptr));
  CK(hipMemcpyAsync(output, b, bytes, hipMemcpyDeviceToHost, second));
  CK(hipStreamSynchronize(second));
  for (int i = 0; i < n; i++) bad += output[i] != 6.0f * i + 1.0f;

  // A matrix whose rows are padded on both sides of a 2D copy.
  const int width = 19, height = 23, host_columns = 24;
  std::vector<float> matrix(host_columns * height, -1.0f);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) matrix[y * host_columns + x] = (float)(x + y);
  unsigned char* pitched;
  size_t pitch;
  CK(hipMallocPitch((void**)&pitched, &pitch, width * sizeof(float), height));
  CK(hipMemset(pitched, 0xff, pitch * height));
  CK(hipMemcpy2D(pitched, pitch, matrix.data(), host_columns * sizeof(float),
                 width * sizeof(float), height, hipMemcpyHostToDevice));

  // Arguments as one block.
  struct {
    unsigned char* matrix;
    size_t pitch;
    int width, height;
  } packed = {pitched, pitch, width, height};
  size_t packed_bytes = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                   &packed_bytes, HIP_LAUNCH_PARAM_END};
  CK(hipModuleLaunchKernel(row_sums, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  std::vector<float> back(host_columns * height, -1.0f);
  CK(hipMemcpy2D(back.data(), host_columns * sizeof(float), pitched, pitch, width * sizeof(float),
                 height, hipMemcpyDeviceToHost));
  for (int y = 0; y < height; y++) {
    float expected = 0;
    for (int x = 0; x < width; x++) expected += (float)(x + y);
    bad += back[y * host_columns] != expected;
    for (int x = 1; x < width; x++) bad += back[y * host_columns + x] != (float)(x + y);
    for (int x = width; x < host_columns; x++) bad += back[y * host_columns + x] != -1.0f;
  }
  hipDeviceptr_t launches;
  size_t launches_bytes;
  CK(hipModuleGetGlobal(&launches, &launches_bytes, module, "moduleLaunches"));
  unsigned launched = 0;
  bad += launches_bytes != sizeof launched;
  CK(hipMemcpyDtoH(&launched, launches, sizeof launched));
  bad += launched != 2;

  // Device pointers that lie in device memory.
  float* pointers[3] = {a, b, c};
  float** device_pointers;
  CK(hipMalloc((void**)&device_pointers, sizeof pointers));
  CK(hipMemcpy(device_pointers, pointers, sizeof pointers, hipMemcpyHostToDevice));
  hipLaunchKernelGGL(gather, dim3(grid), dim3(block), 0, 0, device_pointers, 3, sum, n);
  CK(hipGetLastError());
  std::vector<float> sums(n);
  CK(hipMemcpy(sums.data(), sum, bytes, hipMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) bad += sums[i] != 8.0f * i + 1.0f;

  CK(hipModuleUnload(module));
  CK(hipFree(device_pointers));
  CK(hipFree(pitched));
  for (float* buffer : {a, b, c, sum}) CK(hipFree(buffer));
  for (float* buffer : {input, output}) CK(hipHostFree(buffer));
  for (hipEvent_t event : {start, copied, scaled, stop}) CK(hipEventDestroy(event));
  CK(hipStreamDestroy(first));
  CK(hipStreamDestroy(second));
  printf("streams bad=%d\n", bad);
  return bad != 0;
}
