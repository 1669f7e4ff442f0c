// As linked.c, from C++, with an exception thrown and caught between the calls.
#include <cstdio>
#include <stdexcept>
#include "hip.h"

int main() {
    void *a = nullptr;
    int status = hipMalloc(&a, 64);
    try {
        throw std::runtime_error("between");
    } catch (const std::exception &e) {
        status |= hipFree(a);
    }
    std::printf("linked++ %d\n", status);
    return status ? 1 : 7;
}
