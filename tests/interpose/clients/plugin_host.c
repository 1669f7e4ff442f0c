// Loads a plugin, and perhaps a second one: plugin_host PLUGIN local|deepbind [PLUGIN]. Knows no HIP
// name.
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
    if (argc > 3) {
        void *second = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
        if (!second) {
            puts(dlerror());
            return 1;
        }
        status |= ((int (*)(void))dlsym(second, "plugin"))();
    }
    printf("plugin %d\n", status);
    return status ? 1 : 7;
}
