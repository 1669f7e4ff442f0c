// Loads a library that only this program's own RUNPATH names: a hook that calls instead of jumping
// would look along its own path.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
    void *library = dlopen("libbeside.so", RTLD_NOW);
    printf("runpath %s\n", library ? "found" : dlerror());
    return library ? 7 : 1;
}
