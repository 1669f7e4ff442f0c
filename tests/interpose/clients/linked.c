// Linked against the runtime. hipMemAllocPitch makes a nested call in the runtime.
#include <stdio.h>
#include "hip.h"

int main(void) {
    void *a = NULL, *b = NULL;
    size_t pitch = 0;
    int status = hipMalloc(&a, 64);
    status |= hipMemAllocPitch(&b, &pitch, 64, 4, 4);
    status |= hipFree(b);
    status |= hipFree(a);
    printf("linked %d pitch %d\n", status, pitch >= 64);
    return status ? 1 : 7;
}
