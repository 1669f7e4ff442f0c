// Loads the runtime and calls nothing: quiet PATH. Prints its own threads.
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    void *runtime = dlopen(argv[1], RTLD_NOW);
    int threads = -2; // "." and ".."
    DIR *tasks = opendir("/proc/self/task");
    while (readdir(tasks)) threads++;
    closedir(tasks);
    printf("quiet %d threads %d\n", runtime != NULL, threads);
    return 7;
}
