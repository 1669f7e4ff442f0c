// Loads two runtimes by path and calls both: two_runtimes FIRST SECOND.
#include <dlfcn.h>
#include <stdio.h>
#include <stddef.h>

int main(int argc, char **argv) {
    int status = 0;
    for (int i = 1; i < argc; i++) {
        void *runtime = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!runtime) {
            puts(dlerror());
            return 1;
        }
        int (*allocate)(void **, size_t) = (int (*)(void **, size_t))dlsym(runtime, "hipMalloc");
        int (*release)(void *) = (int (*)(void *))dlsym(runtime, "hipFree");
        void *a = NULL;
        status |= allocate(&a, 64);
        status |= release(a);
    }
    printf("two %d\n", status);
    return status ? 1 : 7;
}
