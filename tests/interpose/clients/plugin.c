// A library that is linked against the runtime and loaded at run time.
#include "hip.h"

int plugin(void) {
    void *a = 0;
    int status = hipMalloc(&a, 32);
    return status | hipFree(a);
}
