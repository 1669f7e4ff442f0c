// Loads the runtime itself: loaded PATH local|deepbind|namespace.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    void *runtime;
    if (!strcmp(argv[2], "namespace"))
        runtime = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
    else
        runtime = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL |
                                      (strcmp(argv[2], "deepbind") ? 0 : RTLD_DEEPBIND));
    if (!runtime) {
        puts(dlerror());
        return 1;
    }
    int (*allocate)(void **, size_t) = (int (*)(void **, size_t))dlsym(runtime, "hipMalloc");
    int (*release)(void *) = (int (*)(void *))dlsym(runtime, "hipFree");
    int (*pitched)(void **, size_t *, size_t, size_t, unsigned) =
        (int (*)(void **, size_t *, size_t, size_t, unsigned))dlsym(runtime, "hipMemAllocPitch");
    void *a = NULL, *b = NULL;
    size_t pitch = 0;
    int status = allocate(&a, 64);
    status |= pitched(&b, &pitch, 64, 4, 4);
    status |= release(b);
    status |= release(a);
    printf("loaded %d pitch %d\n", status, pitch >= 64);
    return status ? 1 : 7;
}
