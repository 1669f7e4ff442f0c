// Kernels for what a launch does beyond arithmetic: waiting workgroups, faults, atomics of all
// kinds, scratch, calls, registers indexed at run time, lanes that talk to each other.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

typedef unsigned long long u64;

// Every block adds itself, then waits for all blocks.
extern "C" __global__ void all_meet(unsigned* counter, unsigned* seen) {
  if (threadIdx.x == 0) {
    atomicAdd(counter, 1u);
    while (__hip_atomic_load(counter, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < gridDim.x) {
      __builtin_amdgcn_s_sleep(1);
    }
  }
  __syncthreads();
  seen[blockIdx.x * blockDim.x + threadIdx.x] = *counter;
}

// Block 0 waits, without sleeping, for what the last block writes.
extern "C" __global__ void first_waits_for_last(volatile unsigned* flag, unsigned* out) {
  if (blockIdx.x == gridDim.x - 1) {
    if (threadIdx.x == 0) { out[1] = 7; __threadfence(); *flag = 1; }
  } else if (blockIdx.x == 0) {
    while (*flag == 0) { }
    if (threadIdx.x == 0) out[0] = ((volatile unsigned*)out)[1] + 1;
  }
}

extern "C" __global__ void store_to(int* p, int lane) {
  if ((int)threadIdx.x == lane) *p = 1;
}

extern "C" __global__ void lds_at(int* out, int at) {
  extern __shared__ int s[];
  s[at + threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[at + threadIdx.x];
}

extern "C" __global__ void stop(int code) {
  if (code) __builtin_trap();
}

extern "C" __global__ void atomics32(unsigned* a, const unsigned* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = x[i];
  atomicAdd(a + 0, v); atomicSub(a + 1, v); atomicMin(a + 2, v); atomicMax(a + 3, v);
  atomicMin((int*)a + 4, (int)v); atomicMax((int*)a + 5, (int)v);
  atomicAnd(a + 6, v | 0xff); atomicOr(a + 7, v & 0xff00); atomicXor(a + 8, v);
  atomicInc(a + 9, 5u); atomicDec(a + 10, 7u); atomicExch(a + 11, v);
  atomicAdd((float*)a + 12, (float)(v & 15));
}

extern "C" __global__ void atomics64(u64* a, const u64* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u64 v = x[i];
  atomicAdd(a + 0, v); atomicMin(a + 1, v); atomicMax(a + 2, v); atomicAnd(a + 3, v | 0xff);
  atomicOr(a + 4, v & 0xff00); atomicXor(a + 5, v); atomicExch(a + 6, v);
  atomicAdd((double*)a + 7, (double)(v & 15));
  u64 old = a[8], assumed;
  do { assumed = old; old = atomicCAS(a + 8, assumed, assumed * 3 + v); } while (old != assumed);
}

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(int* out) {
  out[threadIdx.x] = ackermann(threadIdx.x & 1, threadIdx.x % 6);
}

// A private array that is indexed at run time.
extern "C" __global__ void private_array(const int* in, int* out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[24];
  for (int i = 0; i < 24; i++) a[i] = in[(t * 7 + i * 5) % n];
  for (int i = 1; i < 24; i++) {
    int v = a[i], j = i;
    while (j > 0 && a[j - 1] > v) { a[j] = a[j - 1]; j--; }
    a[j] = v;
  }
  int h = 0;
  for (int i = 0; i < 24; i++) h = h * 31 + a[i];
  out[t] = h;
}

typedef float float8 __attribute__((ext_vector_type(8)));
extern "C" __global__ void indexed_registers(const float* in, float* out, int k) {
  float8 v;
  for (int i = 0; i < 8; i++) v[i] = in[threadIdx.x * 8 + i];
  v[k] = 100.0f;
  out[threadIdx.x] = v[(k + threadIdx.x) & 7] + v[(k + 1) & 7];
}

// Bytes and shorts, which become SDWA forms.
extern "C" __global__ void bytes(const unsigned char* a, const signed char* b, short* c, unsigned char* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4) return;
  uchar4 x = ((const uchar4*)a)[i];
  char4 y = ((const char4*)b)[i];
  c[4 * i] = (short)(x.x * y.x); c[4 * i + 1] = (short)(x.y + y.y);
  c[4 * i + 2] = (short)(x.z - y.z); c[4 * i + 3] = (short)(x.w << (y.w & 3));
  uchar4 r;
  r.x = x.x > x.y ? x.x : x.y; r.y = (unsigned char)(x.y + x.z); r.z = x.z ^ x.w; r.w = x.w >> 1;
  ((uchar4*)d)[i] = r;
}

extern "C" __global__ void halves(const __half* a, const __half* b, __half* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __hadd(__hmul(a[i], b[i]), a[i]);
}

extern "C" __global__ void doubles(const double* a, const double* b, double* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { c[3 * i] = a[i] / b[i]; c[3 * i + 1] = sqrt(fabs(a[i])); c[3 * i + 2] = sin(a[i]); }
}

extern "C" __global__ void divisions(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { c[2 * i] = a[i] / b[i]; c[2 * i + 1] = sinf(a[i]); }
}

// A sum over the wave by DPP, as compilers build it.
extern "C" __global__ void wave_sum(const int* in, int* out) {
  int v = in[threadIdx.x];
  v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x112, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x114, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x118, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x142, 0xa, 0xf, false);
  v += __builtin_amdgcn_update_dpp(0, v, 0x143, 0xc, 0xf, false);
  out[threadIdx.x] = v;
}

extern "C" __global__ void work_items(unsigned* out) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
           z = blockIdx.z * blockDim.z + threadIdx.z;
  unsigned w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
  out[(z * h + y) * w + x] = x | y << 8 | z << 16 | blockIdx.z << 24;
}

extern "C" __global__ void hash(unsigned* out, int rounds) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = i;
  for (int r = 0; r < rounds; r++) v = (v ^ (v >> 15)) * 0x2c1b3c6du + r;
  out[i] = v;
}
