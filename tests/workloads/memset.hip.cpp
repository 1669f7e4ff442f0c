// Memory set by 8, 16 and 32 bits, in one, two and three dimensions, at sizes that are no
// multiple of anything.
#include "check.h"

template <class T>
static void check_words(void* device, size_t start, size_t count, T value, size_t total) {
    std::vector<T> result(total / sizeof(T));
    HIP(hipMemcpy(result.data(), device, total, hipMemcpyDeviceToHost));
    T around;
    memset(&around, 0xa5, sizeof around);
    for (size_t index = 0; index < result.size(); index++) {
        bool inside = index >= start && index < start + count;
        if (result[index] != (inside ? value : around)) bad++;
    }
}

// HIP 5.2.3 fills gigabytes if a fill starts inside an 8-byte word and ends before the word does.
static bool safe(size_t start, size_t bytes) { return start % 8 == 0 || start % 8 + bytes >= 8; }

int main() {
    const size_t total = 1 << 20;
    unsigned char* device;
    hipStream_t stream;
    HIP(hipMalloc((void**)&device, total));
    HIP(hipStreamCreate(&stream));
    for (size_t count : {1u, 3u, 64u, 1000u, 65537u, 100003u}) {
        for (size_t start : {0u, 1u, 5u}) {
            if (safe(start, count)) {
                HIP(hipMemset(device, 0xa5, total));
                HIP(hipMemset(device + start, 0x5a, count));
                HIP(hipDeviceSynchronize());
                check_words<uint8_t>(device, start, count, 0x5a, total);

                HIP(hipMemset(device, 0xa5, total));
                HIP(hipMemsetD8((hipDeviceptr_t)(device + start), 0x3c, count));
                HIP(hipDeviceSynchronize());
                check_words<uint8_t>(device, start, count, 0x3c, total);
            }
            if (safe(2 * start, 2 * count)) {
                HIP(hipMemset(device, 0xa5, total));
                HIP(hipMemsetD16((hipDeviceptr_t)(device + 2 * start), 0x1234, count));
                HIP(hipDeviceSynchronize());
                check_words<uint16_t>(device, start, count, 0x1234, total);
            }
            HIP(hipMemset(device, 0xa5, total));
            HIP(hipMemsetD32((hipDeviceptr_t)(device + 4 * start), 0xdeadbeef, count));
            HIP(hipDeviceSynchronize());
            check_words<uint32_t>(device, start, count, 0xdeadbeef, total);
        }
    }
    HIP(hipMemsetAsync(device, 0xa5, total, stream));
    HIP(hipMemsetD32Async((hipDeviceptr_t)device, 7, 777, stream));
    HIP(hipStreamSynchronize(stream));
    check_words<uint32_t>(device, 0, 777, 7, total);
    HIP(hipMemsetAsync(device, 0xa5, total, stream));
    HIP(hipMemsetD16Async((hipDeviceptr_t)device, 9, 999, stream));
    HIP(hipStreamSynchronize(stream));
    check_words<uint16_t>(device, 0, 999, 9, total);

    const size_t pitch = 1024, width = 333, height = 77;
    HIP(hipMemset(device, 0xa5, total));
    HIP(hipMemset2D(device, pitch, 0x11, width, height));
    HIP(hipMemset2DAsync(device + 4, pitch, 0x22, 100, 10, stream));
    HIP(hipStreamSynchronize(stream));
    HIP(hipDeviceSynchronize());
    std::vector<unsigned char> result(total);
    HIP(hipMemcpy(result.data(), device, total, hipMemcpyDeviceToHost));
    for (size_t y = 0; y < total / pitch; y++)
        for (size_t x = 0; x < pitch; x++) {
            unsigned char expected = y < height && x < width ? 0x11 : 0xa5;
            if (y < 10 && x >= 4 && x < 104) expected = 0x22;
            if (result[y * pitch + x] != expected) bad++;
        }

    hipPitchedPtr box;
    const size_t w = 100, h = 9, d = 4;
    HIP(hipMalloc3D(&box, hipExtent{w, h, d}));
    HIP(hipMemset3D(box, 0x77, hipExtent{w, h, d}));
    HIP(hipMemset3D(box, 0x66, hipExtent{w / 2, h - 2, d - 1}));
    HIP(hipDeviceSynchronize());
    std::vector<unsigned char> all(box.pitch * h * d);
    HIP(hipMemcpy(all.data(), box.ptr, all.size(), hipMemcpyDeviceToHost));
    for (size_t z = 0; z < d; z++)
        for (size_t y = 0; y < h; y++)
            for (size_t x = 0; x < w; x++) {
                bool inner = x < w / 2 && y < h - 2 && z < d - 1;
                if (all[(z * h + y) * box.pitch + x] != (inner ? 0x66 : 0x77)) bad++;
            }
    HIP(hipFree(box.ptr));
    HIP(hipFree(device));
    HIP(hipStreamDestroy(stream));
    return finish("memset");
}
