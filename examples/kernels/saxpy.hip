// y[i] = a * x[i] + y[i]. No header and no device library, so that a compiler alone builds it:
//
//   clang++-15 -x hip --cuda-device-only --offload-arch=gfx90a -nogpuinc -nogpulib -O2 \
//       --no-gpu-bundle-output saxpy.hip -o saxpy.gfx90a.co

extern "C" __attribute__((global)) void saxpy(unsigned n, float a, const float *x, float *y) {
    unsigned i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
                 __builtin_amdgcn_workitem_id_x();
    if (i < n)
        y[i] = a * x[i] + y[i];
}
