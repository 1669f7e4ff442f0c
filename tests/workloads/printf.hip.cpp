// What kernels print: formatted as C formats it, byte for byte, into the program's own streams,
// in order with what the program prints itself; every line of every work-item once, whole.
#include "printed.h"

#pragma clang diagnostic ignored "-Wformat"

// Each is a call of printf in a kernel, and of snprintf here. HIP 5 prints what follows a string
// with a width or a precision wrongly, so nothing does.
#define CASES(X)                                                                              \
    X("no arguments\n")                                                                       \
    X("\n")                                                                                   \
    X("100%%, %%d is no conversion, %%%%|\n")                                                 \
    X("%d %i %d %d|\n", 42, -42, 0x7fffffff, (int)0x80000000)                                 \
    X("%5d|%-5d|%05d|%+d|% d|%+-8d|% 05d|%2d|\n", 42, 42, 42, 42, 42, 42, 42, 12345)          \
    X("%.3d|%8.3d|%-8.3d|%08.3d|%.0d|\n", 7, 7, 7, 7, 0)                                      \
    X("%u %o %x %X|%#o %#x %#X|%#x|\n", 42u, 42u, 42u, 42u, 42u, 42u, 42u, 0u)                \
    X("%hhd %hd %hhu %hu %hhx|\n", 300, 70000, 300, 70000, -1)                                \
    X("%ld %lld %lu %llx|\n", -1l, -1ll, ~0ul, 0x123456789abcdefull)                          \
    X("%zu %zd %jd %td|\n", (size_t)1 << 40, (ssize_t)-5, (intmax_t)-6, (ptrdiff_t)-7)        \
    X("%d %d %u %d|\n", (char)'x', (short)-3, (unsigned char)200, true)                       \
    X("%c%c|%5c|%-5c|%c|\n", 'a', 'b', 'c', 'd', '%')                                         \
    X("%f %F %e %E %g %G|\n", 1.5, -2.25, 12345.678, 1e-300, 1e20, 1e-5)                      \
    X("%f %g %.9g|\n", 0.1f, 3.14159274f, 16777216.0f)                                        \
    X("%.0f|%#.0f|%10.3f|%-10.3f|%+.2e|%010.2f|% f|\n", 2.5, 2.5, 3.14159, 3.14159, 3.14159,  \
      -3.14159, 1.0)                                                                          \
    X("%a %A %.2a|\n", 1.0, 0.1, 3.14159)                                                     \
    X("%f %F %e %g %5.1f|\n", __builtin_inf(), -__builtin_inf(), __builtin_nan(""),           \
      -__builtin_inf(), __builtin_inf())                                                      \
    X("%lf %le|\n", 1.25, 2.5)                                                                \
    X("%f %.17g|\n", 1.7976931348623157e308, 4.9406564584124654e-324)                         \
    X("%s|%s|%s|\n", "", "seven..", "eight...")                                               \
    X("%d%%%s%%%c|\n", 1, "two", '3')                                                         \
    X("%12s\n", "right")                                                                      \
    X("%-12s|\n", "left")                                                                     \
    X("%.4s\n", "precision")                                                                  \
    X("%8.2s\n", "both")                                                                      \
    X("%s\n", LONG)                                                                           \
    X("%s|%d|%s|\n", LONG, 7, LONG)                                                           \
    X(LONG " %d %s " LONG "\n", 1, "middle")                                                  \
    X("%p %p|%20p|%-20p|\n", (void*)0x1234, (void*)0, (void*)0x7fff12345678, (void*)~0ull)    \
    X("%*d|%-*d|%*d|%0*d|\n", 6, 42, 6, 42, -6, 42, 6, 42)                                    \
    X("%.*f|%*.*f|%.*d|%.*f|\n", 2, 3.14159, 9, 3, 2.71828, 4, 7, -1, 0.5)                    \
    X("%*s\n", 9, "star")                                                                     \
    X("%-*.*s|\n", 9, 2, "stars")                                                             \
    X("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d|\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, \
      12, 13, 14, 15, 16)                                                                     \
    X("tab\tquote\"backslash\\bell\a utf-8 \u00e4\u20ac|\n")

#define COUNT(...) +1
#define ON_DEVICE(...) results[at++] = printf(__VA_ARGS__);
#define ON_HOST(...)                                                                          \
    lengths.push_back(snprintf(line, sizeof line, __VA_ARGS__));                              \
    expected += line;

static const int ROOM = 100;
static_assert((CASES(COUNT)) < ROOM, "the results need more room");

__global__ void speak_cases(int* results) {
    int at = 0;
    CASES(ON_DEVICE)
}

__global__ void speak(int value) {
    printf("item %d of %s: %d %5.2f %lx\n", (int)(blockIdx.x * blockDim.x + threadIdx.x), "many",
           value, value * 0.5, 0x123456789abcdefl);
}

__global__ void complain(int number) {
    const char format[] = "complaint %d of %s\n", who[] = "the device";
    uint64_t message = __ockl_fprintf_stderr_begin();
    message = __ockl_fprintf_append_string_n(message, format, sizeof format, 0);
    message = __ockl_fprintf_append_args(message, 1, number, 0, 0, 0, 0, 0, 0, 0);
    __ockl_fprintf_append_string_n(message, who, sizeof who, 1);
}

static void check_text(const char* what, const std::string& text, const std::string& expected) {
    if (text == expected) return;
    bad++;
    size_t at = 0;
    while (at < text.size() && at < expected.size() && text[at] == expected[at]) at++;
    at = at < 60 ? 0 : at - 60;
    fprintf(stderr, "%s, from byte %zu:\nprinted:  %s\nexpected: %s\n", what, at,
            text.substr(at, 200).c_str(), expected.substr(at, 200).c_str());
}

static void formats() {
    char line[LINE];
    int* results;
    HIP(hipMalloc(&results, ROOM * sizeof(int)));
    std::string expected;
    std::vector<int> lengths, returned;
    CASES(ON_HOST)
    std::string text = printed(1, [&] {
        speak_cases<<<1, 1>>>(results);
        HIP(hipDeviceSynchronize());
    });
    check_text("formats", text, expected);
    returned.resize(lengths.size());
    HIP(hipMemcpy(returned.data(), results, lengths.size() * sizeof(int), hipMemcpyDeviceToHost));
    CHECK(returned == lengths);
    HIP(hipFree(results));
}

static void every_item_once() {
    std::multiset<std::string> expected;
    char line[LINE];
    for (int item = 0; item < 140; item++) {
        snprintf(line, sizeof line, "item %d of many: 7  3.50 123456789abcdef", item);
        expected.insert(line);
    }
    std::string text = printed(1, [] {
        speak<<<2, 70>>>(7);
        HIP(hipDeviceSynchronize());
    });
    CHECK(lines(text) == expected);
}

// A synchronisation is enough: nothing else flushes, and the program writes to the same stream.
static void in_order_with_the_program() {
    char line[LINE];
    snprintf(line, sizeof line, "item 0 of many: %d %5.2f 123456789abcdef\n", 1, 0.5);
    std::string expected = std::string("before\n") + line + "between\n";
    snprintf(line, sizeof line, "item 0 of many: %d %5.2f 123456789abcdef\n", 2, 1.0);
    expected += std::string(line) + "after\n";
    std::string text = printed(1, [&] {
        printf("before\n");
        speak<<<1, 1>>>(1);
        HIP(hipStreamSynchronize(nullptr));
        printf("between\n");
        speak<<<1, 1>>>(2);
        HIP(hipDeviceSynchronize());
        printf("after\n");
    });
    check_text("order", text, expected);
}

static void many_waves() {
    std::string text = printed(1, [] {
        insist<<<32, 128>>>(0, 20);
        HIP(hipDeviceSynchronize());
    });
    CHECK(lines(text) == insisted(1, 32, 20));
}

static void to_standard_error() {
    std::string text = printed(2, [] {
        complain<<<1, 1>>>(3);
        HIP(hipDeviceSynchronize());
    });
    check_text("standard error", text, "complaint 3 of the device\n");
}

int main() {
    formats();
    every_item_once();
    in_order_with_the_program();
    many_waves();
    to_standard_error();
    return finish("printf");
}
