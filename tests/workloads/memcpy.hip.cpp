// Copies of 1 KiB, 1 MiB and 64 MiB in every direction and kind, and of two and three dimensions.
#include "check.h"

typedef std::vector<unsigned char> Bytes;

static void linear(size_t bytes, hipStream_t stream) {
    Bytes source = pattern(bytes, bytes), result(bytes);
    unsigned char *a, *b, *pinned, *back;
    HIP(hipMalloc((void**)&a, bytes));
    HIP(hipMalloc((void**)&b, bytes));
    HIP(hipHostMalloc((void**)&pinned, bytes, hipHostMallocDefault));
    HIP(hipHostMalloc((void**)&back, bytes, hipHostMallocDefault));

    HIP(hipMemcpy(a, source.data(), bytes, hipMemcpyHostToDevice));
    HIP(hipMemcpy(b, a, bytes, hipMemcpyDeviceToDevice));
    HIP(hipMemcpy(result.data(), b, bytes, hipMemcpyDeviceToHost));
    CHECK(result == source);

    Bytes second = pattern(bytes, bytes + 1);
    HIP(hipMemcpy(a, second.data(), bytes, hipMemcpyDefault));
    HIP(hipMemcpy(b, a, bytes, hipMemcpyDefault));
    HIP(hipMemcpy(result.data(), b, bytes, hipMemcpyDefault));
    CHECK(result == second);

    HIP(hipMemcpy(result.data(), source.data(), bytes, hipMemcpyHostToHost));
    CHECK(result == source);

    Bytes third = pattern(bytes, bytes + 2);
    memcpy(pinned, third.data(), bytes);
    HIP(hipMemcpyAsync(a, pinned, bytes, hipMemcpyHostToDevice, stream));
    HIP(hipMemcpyAsync(b, a, bytes, hipMemcpyDeviceToDevice, stream));
    HIP(hipMemcpyAsync(back, b, bytes, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamSynchronize(stream));
    CHECK(!memcmp(back, third.data(), bytes));

    Bytes fourth = pattern(bytes, bytes + 3);
    HIP(hipMemcpyAsync(a, fourth.data(), bytes, hipMemcpyHostToDevice, stream));
    HIP(hipMemcpyAsync(result.data(), a, bytes, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamSynchronize(stream));
    CHECK(result == fourth);

    HIP(hipMemcpyHtoD((hipDeviceptr_t)a, source.data(), bytes));
    HIP(hipMemcpyDtoD((hipDeviceptr_t)b, (hipDeviceptr_t)a, bytes));
    HIP(hipMemcpyDtoH(result.data(), (hipDeviceptr_t)b, bytes));
    CHECK(result == source);

    // Inside allocations, at odd offsets and sizes.
    size_t part = bytes / 2 - 13;
    HIP(hipMemcpy(a + 7, second.data() + 3, part, hipMemcpyHostToDevice));
    HIP(hipMemcpy(b + 5, a + 7, part, hipMemcpyDeviceToDevice));
    HIP(hipMemcpy(result.data() + 1, b + 5, part, hipMemcpyDeviceToHost));
    CHECK(!memcmp(result.data() + 1, second.data() + 3, part));
    CHECK(result[0] == source[0] && result[part + 1] == source[part + 1]);

    HIP(hipFree(a));
    HIP(hipFree(b));
    HIP(hipHostFree(pinned));
    HIP(hipHostFree(back));
}

static void two_dimensions(hipStream_t stream) {
    const size_t width = 200, height = 37, host_pitch = 256;
    Bytes source = pattern(host_pitch * height, 21), result(host_pitch * height, 0);
    unsigned char *a, *b;
    size_t pitch_a, pitch_b = 512;
    HIP(hipMallocPitch((void**)&a, &pitch_a, width, height));
    HIP(hipMalloc((void**)&b, pitch_b * height));
    CHECK(pitch_a >= width);
    HIP(hipMemcpy2D(a, pitch_a, source.data(), host_pitch, width, height, hipMemcpyHostToDevice));
    HIP(hipMemcpy2DAsync(b, pitch_b, a, pitch_a, width, height, hipMemcpyDeviceToDevice, stream));
    HIP(hipStreamSynchronize(stream));
    HIP(hipMemcpy2D(result.data(), host_pitch, b, pitch_b, width, height, hipMemcpyDeviceToHost));
    for (size_t y = 0; y < height; y++) {
        CHECK(!memcmp(&result[y * host_pitch], &source[y * host_pitch], width));
        CHECK(result[y * host_pitch + width] == 0);
    }
    HIP(hipFree(a));
    HIP(hipFree(b));
}

static void three_dimensions() {
    const size_t width = 60, height = 11, depth = 5;
    Bytes source = pattern(width * height * depth, 31), result(width * height * depth, 0);
    hipPitchedPtr device, other;
    HIP(hipMalloc3D(&device, hipExtent{width, height, depth}));
    HIP(hipMalloc3D(&other, hipExtent{width, height, depth}));
    hipMemcpy3DParms parms;
    memset(&parms, 0, sizeof parms);
    parms.srcPtr = make_hipPitchedPtr(source.data(), width, width, height);
    parms.dstPtr = device;
    parms.extent = make_hipExtent(width, height, depth);
    parms.kind = hipMemcpyHostToDevice;
    HIP(hipMemcpy3D(&parms));
    parms.srcPtr = device;
    parms.dstPtr = other;
    parms.kind = hipMemcpyDeviceToDevice;
    HIP(hipMemcpy3D(&parms));
    // Only a box inside comes back.
    memset(&parms, 0, sizeof parms);
    parms.srcPtr = other;
    parms.srcPos = make_hipPos(3, 2, 1);
    parms.dstPtr = make_hipPitchedPtr(result.data(), width, width, height);
    parms.dstPos = make_hipPos(3, 2, 1);
    parms.extent = make_hipExtent(width - 7, height - 3, depth - 2);
    parms.kind = hipMemcpyDeviceToHost;
    HIP(hipMemcpy3D(&parms));
    for (size_t z = 0; z < depth; z++)
        for (size_t y = 0; y < height; y++)
            for (size_t x = 0; x < width; x++) {
                bool inside = x >= 3 && x < width - 4 && y >= 2 && y < height - 1 && z >= 1 &&
                              z < depth - 1;
                size_t at = (z * height + y) * width + x;
                if (result[at] != (inside ? source[at] : 0)) bad++;
            }
    HIP(hipFree(device.ptr));
    HIP(hipFree(other.ptr));
}

int main() {
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    for (size_t bytes : {(size_t)1 << 10, (size_t)1 << 20, (size_t)64 << 20}) linear(bytes, stream);
    two_dimensions(stream);
    three_dimensions();
    HIP(hipStreamDestroy(stream));
    return finish("memcpy");
}
