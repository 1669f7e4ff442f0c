// Takes one name by dlsym, and the others from hipGetProcAddress: entry_point PATH.
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

typedef int (*GetProcAddress)(const char *, void **, int, unsigned long, void *);

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    void *runtime = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!runtime) {
        puts(dlerror());
        return 1;
    }
    GetProcAddress get = (GetProcAddress)dlsym(runtime, "hipGetProcAddress");
    int (*allocate)(void **, size_t) = NULL, (*release)(void *) = NULL;
    int status = get("hipMalloc", (void **)&allocate, 602, 0, NULL);
    status |= get("hipFree", (void **)&release, 602, 0, NULL);
    void *unknown = NULL;
    int refused = get("hipNoSuchFunction", &unknown, 602, 0, NULL);
    void *a = NULL;
    status |= allocate(&a, 64);
    status |= release(a);
    printf("entry %d unknown %d\n", status, refused != 0 && !unknown);
    return status ? 1 : 7;
}
