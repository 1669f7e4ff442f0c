// 1,000 random fills and copies inside two device buffers, of one and two dimensions and every
// alignment; the host does the same to its own memory, and all bytes agree in the end.
// Prints a hash of the device's bytes, so that ways of copying can be compared.
#include "check.h"

static const size_t BYTES = 1 << 18;

int main(int argc, char** argv) {
    Random random(argc > 1 ? strtoull(argv[1], nullptr, 0) : 1);
    unsigned char* device[2];
    std::vector<unsigned char> host[2];
    for (int index = 0; index < 2; index++) {
        host[index] = pattern(BYTES, index);
        HIP(hipMalloc((void**)&device[index], BYTES));
        HIP(hipMemcpy(device[index], host[index].data(), BYTES, hipMemcpyHostToDevice));
    }
    uint64_t hash = 0xcbf29ce484222325ull;
    std::vector<unsigned char> seen(BYTES);
    for (int step = 0; step < 1000; step++) {
        int to = (int)random.below(2), from = 1 - to;
        size_t align = (size_t)1 << random.below(6);
        // At least two words: see memset.hip.cpp for what HIP 5.2.3 does with less.
        size_t bytes = 16 + random.below(random.below(4) ? 4096 : BYTES / 2);
        size_t target = random.below(BYTES - bytes) / align * align;
        size_t source = random.below(BYTES - bytes) / align * align;
        unsigned value = (unsigned)random.next();
        switch (random.below(6)) {
            case 0:
                HIP(hipMemset(device[to] + target, (int)(value & 0xff), bytes));
                memset(&host[to][target], (int)(value & 0xff), bytes);
                break;
            case 1: {
                size_t count = bytes / 2, at = target / 2 * 2;
                uint16_t half = (uint16_t)value;
                HIP(hipMemsetD16((hipDeviceptr_t)(device[to] + at), half, count));
                for (size_t index = 0; index < count; index++)
                    memcpy(&host[to][at + 2 * index], &half, 2);
                break;
            }
            case 2: {
                size_t count = bytes / 4, at = target / 4 * 4;
                HIP(hipMemsetD32((hipDeviceptr_t)(device[to] + at), (int)value, count));
                for (size_t index = 0; index < count; index++)
                    memcpy(&host[to][at + 4 * index], &value, 4);
                break;
            }
            case 3: {
                size_t pitch = 256 + random.below(64) * 4, width = 1 + random.below(256);
                size_t height = 1 + random.below(100), at = target % 4096;
                HIP(hipMemset2D(device[to] + at, pitch, (int)(value & 0xff), width, height));
                for (size_t y = 0; y < height; y++)
                    memset(&host[to][at + y * pitch], (int)(value & 0xff), width);
                break;
            }
            case 4: {
                size_t to_pitch = 256 + random.below(256), from_pitch = 256 + random.below(256);
                size_t width = 1 + random.below(256), height = 1 + random.below(100);
                if (random.below(2)) {
                    to_pitch = to_pitch / 16 * 16;
                    from_pitch = from_pitch / 16 * 16;
                    width = 16 * (1 + width / 17);
                }
                size_t at = target % 4096, of = source % 4096;
                HIP(hipMemcpy2D(device[to] + at, to_pitch, device[from] + of, from_pitch, width,
                                height, hipMemcpyDeviceToDevice));
                for (size_t y = 0; y < height; y++)
                    memcpy(&host[to][at + y * to_pitch], &host[from][of + y * from_pitch], width);
                break;
            }
            default:
                HIP(hipMemcpy(device[to] + target, device[from] + source, bytes,
                              hipMemcpyDeviceToDevice));
                memcpy(&host[to][target], &host[from][source], bytes);
                break;
        }
        if (step % 100 == 99) {
            HIP(hipDeviceSynchronize());
            for (int index = 0; index < 2; index++) {
                HIP(hipMemcpy(seen.data(), device[index], BYTES, hipMemcpyDeviceToHost));
                CHECK(seen == host[index]);
                for (unsigned char byte : seen) hash = (hash ^ byte) * 0x100000001b3ull;
            }
        }
    }
    HIP(hipFree(device[0]));
    HIP(hipFree(device[1]));
    printf("hash %016llx\n", (unsigned long long)hash);
    return finish("blit");
}
