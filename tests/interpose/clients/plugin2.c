// As plugin.c, and calls one more function: its first call comes when both runtimes are loaded.
#include "hip.h"

int plugin(void) {
    void *a = 0;
    int status = hipMalloc(&a, 32);
    status |= hipDeviceSynchronize();
    return status | hipFree(a);
}
