// The module that streams.hip.cpp loads from memory. Freestanding: needs no device libraries.
// clang-15 -x hip --offload-arch=gfx90a --cuda-device-only -nogpuinc -nogpulib -O2 --no-gpu-bundle-output streams_module.hip -o streams_module.co
// xxd -i < streams_module.co > streams_module.inc
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

__device__ unsigned moduleLaunches = 0;

static __attribute__((device)) int index() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
}

// values[i] = a * values[i] + b
extern "C" __global__ void affine(float* values, float a, float b, int n) {
  int i = index();
  if (i < n) values[i] = a * values[i] + b;
  if (i == 0) __atomic_fetch_add(&moduleLaunches, 1u, __ATOMIC_RELAXED);
}

// The first column of a pitched matrix gets the sum of its row.
extern "C" __global__ void row_sums(unsigned char* matrix, unsigned long pitch, int width, int height) {
  int row = index();
  if (row >= height) return;
  float* cells = (float*)(matrix + row * pitch);
  float sum = 0;
  for (int x = 0; x < width; x++) sum += cells[x];
  cells[0] = sum;
  if (row == 0) __atomic_fetch_add(&moduleLaunches, 1u, __ATOMIC_RELAXED);
}
