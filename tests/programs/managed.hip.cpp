// Managed variables, which the program and a kernel both use by name.
#include <hip/hip_runtime.h>

#include <cstdio>

__attribute__((managed)) int counter = 40;
__attribute__((managed)) float table[4] = {1, 2, 3, 4};

__global__ void change() {
  if (threadIdx.x == 0) counter += 1;
  table[threadIdx.x] *= 2;
}

int main() {
  counter += 1;  // Before any call to HIP.
  change<<<1, 4>>>();
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  int bad = counter != 42;
  for (int i = 0; i < 4; i++) bad += table[i] != 2.0f * (i + 1);
  printf("managed bad=%d\n", bad);
  return bad != 0;
}
