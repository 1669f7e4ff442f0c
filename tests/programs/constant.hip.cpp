// A kernel with one constant that the compiler stores as a literal of the code.
#include <hip/hip_runtime.h>
#include <cstdio>
#define CK(x) do{ hipError_t e=(x); if(e!=hipSuccess){ printf("%s -> %d\n",#x,(int)e); return 1; } }while(0)
__global__ void scale(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * 1.2345f;
}
int main() {
    const int n = 300;
    float in[n], out[n];
    for (int i = 0; i < n; i++) in[i] = i;
    float *din, *dout;
    CK(hipMalloc(&din, sizeof in));
    CK(hipMalloc(&dout, sizeof out));
    CK(hipMemcpy(din, in, sizeof in, hipMemcpyHostToDevice));
    scale<<<(n + 63) / 64, 64>>>(din, dout, n);
    CK(hipMemcpy(out, dout, sizeof out, hipMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < n; i++) if (out[i] != in[i] * 1.2345f) bad++;
    printf("constant bad=%d\n", bad);
    CK(hipFree(din));
    CK(hipFree(dout));
    return bad != 0;
}
