// What the workloads share: checks that count, and bytes that differ everywhere.
//
// Each workload prints "NAME bad=N" as its last line and fails if N is not zero. They use the
// public HIP API alone and run on any HIP runtime, with or without a recorder.
#pragma once
#include <hip/hip_runtime.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static std::atomic<int> bad{0};

// Counts and names a call that does not give what is expected.
#define EXPECT(call, expected)                                                                  \
    do {                                                                                        \
        hipError_t got_ = (call);                                                               \
        if (got_ != (expected)) {                                                               \
            bad++;                                                                              \
            fprintf(stderr, "%s:%d: %s gave %d (%s)\n", __FILE__, __LINE__, #call, (int)got_,   \
                    hipGetErrorName(got_));                                                     \
        }                                                                                       \
    } while (0)

#define HIP(call) EXPECT(call, hipSuccess)

// Counts and names a condition that does not hold.
#define CHECK(condition)                                                                        \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            bad++;                                                                              \
            fprintf(stderr, "%s:%d: %s is wrong\n", __FILE__, __LINE__, #condition);            \
        }                                                                                       \
    } while (0)

static inline int finish(const char* name) {
    printf("%s bad=%d\n", name, bad.load());
    fflush(stdout);
    return bad.load() != 0;
}

// A generator of its own for each use, so that results do not depend on a library.
struct Random {
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15ull + 1) {}
    uint64_t next() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    }
    uint64_t below(uint64_t limit) { return next() % limit; }
};

static inline std::vector<unsigned char> pattern(size_t bytes, uint64_t seed) {
    Random random(seed);
    std::vector<unsigned char> result(bytes);
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        uint64_t word = random.next();
        memcpy(&result[at], &word, 8);
    }
    for (; at < bytes; at++) result[at] = (unsigned char)random.next();
    return result;
}
