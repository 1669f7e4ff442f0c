// Looks names up in every way that dlsym has, and prints what the program can see of it:
// lookup PATH. Nothing of this may differ under the recorder.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static const char *seen(void *pointer) { return pointer ? "yes" : "no"; }

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    printf("default before %s\n", seen(dlsym(RTLD_DEFAULT, "hipMalloc")));
    printf("self before %s\n", seen(dlsym(dlopen(NULL, RTLD_NOW), "hipMalloc")));
    printf("next before %s\n", seen(dlsym(RTLD_NEXT, "hipMalloc")));
    printf("next puts %s\n", seen(dlsym(RTLD_NEXT, "puts")));
    printf("versioned puts %s\n", seen(dlvsym(RTLD_DEFAULT, "puts", "GLIBC_2.2.5")));
    void *runtime = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!runtime) {
        puts(dlerror());
        return 1;
    }
    printf("local hipMalloc %s\n", seen(dlsym(runtime, "hipMalloc")));
    dlerror();
    printf("local hipNoSuchFunction %s\n", seen(dlsym(runtime, "hipNoSuchFunction")));
    printf("error %s\n", seen(dlerror()));
    // A function that the recorder knows and this runtime lacks stays missing.
    printf("local hipGraphCreate %s\n", seen(dlsym(runtime, "hipGraphCreate")));
    printf("error %s\n", seen(dlerror()));
    printf("versioned hipMalloc %s\n", seen(dlvsym(runtime, "hipMalloc", "hip_none")));
    printf("global after %s\n", seen(dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL)));
    int (*allocate)(void **, size_t) =
        (int (*)(void **, size_t))dlsym(RTLD_DEFAULT, "hipMalloc");
    printf("default after %s\n", seen((void *)allocate));
    void *a = NULL;
    printf("call %d\n", allocate ? allocate(&a, 16) : -1);
    return 7;
}
