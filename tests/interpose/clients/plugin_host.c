// Loads a plugin: plugin_host PLUGIN local|deepbind. Knows no HIP name.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    void *library =
        dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | (strcmp(argv[2], "deepbind") ? 0 : RTLD_DEEPBIND));
    if (!library) {
        puts(dlerror());
        return 1;
    }
    int (*plugin)(void) = (int (*)(void))dlsym(library, "plugin");
    int status = plugin();
    printf("plugin %d\n", status);
    return status ? 1 : 7;
}
