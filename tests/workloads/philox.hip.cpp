// rocRAND's Philox4x32-10: 65,536 words and uniforms equal those of an implementation that
// follows the paper (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3").
#include <rocrand/rocrand.h>

#include "check.h"

static void philox(uint32_t counter, uint32_t out[4]) {
    uint32_t c[4] = {counter, 0, 0, 0}, k0 = 0, k1 = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xd2511f53ull * c[0], b = 0xcd9e8d57ull * c[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
        memcpy(c, next, sizeof c);
        k0 += 0x9e3779b9;
        k1 += 0xbb67ae85;
    }
    memcpy(out, c, sizeof c);
}

int main() {
    const int count = 65536;
    std::vector<uint32_t> words(count), expected(count);
    std::vector<float> uniforms(count);
    for (int index = 0; index < count / 4; index++) philox(index, &expected[4 * index]);

    uint32_t* device;
    float* device_uniforms;
    HIP(hipMalloc((void**)&device, count * 4));
    HIP(hipMalloc((void**)&device_uniforms, count * 4));
    rocrand_generator generator;
    CHECK(rocrand_create_generator(&generator, ROCRAND_RNG_PSEUDO_PHILOX4_32_10) == 0);
    CHECK(rocrand_generate(generator, device, count) == 0);
    HIP(hipMemcpy(words.data(), device, count * 4, hipMemcpyDeviceToHost));
    CHECK(words == expected);
    CHECK(rocrand_destroy_generator(generator) == 0);

    CHECK(rocrand_create_generator(&generator, ROCRAND_RNG_PSEUDO_PHILOX4_32_10) == 0);
    CHECK(rocrand_generate_uniform(generator, device_uniforms, count) == 0);
    HIP(hipMemcpy(uniforms.data(), device_uniforms, count * 4, hipMemcpyDeviceToHost));
    int wrong = 0;
    for (int index = 0; index < count; index++) {
        // rocRAND: 2^-32 + word * 2^-32, in single precision.
        float uniform = 2.3283064e-10f + expected[index] * 2.3283064e-10f;
        wrong += uniforms[index] != uniform;
    }
    CHECK(wrong == 0);
    if (wrong) fprintf(stderr, "%d of %d uniforms differ\n", wrong, count);
    CHECK(rocrand_destroy_generator(generator) == 0);
    HIP(hipFree(device));
    HIP(hipFree(device_uniforms));
    return finish("philox");
}
