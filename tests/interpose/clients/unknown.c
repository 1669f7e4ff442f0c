// Calls a function that no recorder declares.
#include <stdio.h>
#include "hip.h"

int main(void) {
    void *a = NULL;
    int status = hipMalloc(&a, 8);
    int answer = hipBrandNew(41);
    status |= hipFree(a);
    printf("unknown %d %d\n", status, answer);
    return status ? 1 : 7;
}
