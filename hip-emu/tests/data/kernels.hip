// Kernels for the tests. Freestanding: no headers, no device libraries.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

__device__ int total = 5;
__device__ int table[4] = {1, 2, 3, 4};

static __device__ unsigned index() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
}

// p[i] += value
extern "C" __global__ void add(int* p, int value, int n) {
  int i = index();
  if (i < n) p[i] += value;
}

// Writes one word wherever the address points.
extern "C" __global__ void poke(int* p) { *p = 1; }

// Ends in a trap, as a failed device assertion does.
extern "C" __global__ void trap(int* p) {
  if (*p != 12345) __builtin_trap();
}

extern "C" __global__ void use_globals(int* out) { *out = total + table[3]; }
