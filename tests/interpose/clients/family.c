// Forks, forks and runs a program with the environment kept, and with it cleared but for the
// loader's path and the log: family PROGRAM LD_LIBRARY_PATH=.. FAKE_LOG=..
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hip.h"

static void reap(const char *what) {
    int status = 0;
    wait(&status);
    printf("%s %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    void *a = NULL;
    int status = hipMalloc(&a, 8);
    fflush(stdout);
    if (!fork()) {
        int inner = hipFree(a);
        inner |= hipMalloc(&a, 8);
        exit(inner ? 1 : 5);
    }
    reap("fork");
    if (!fork()) {
        execl(argv[1], argv[1], (char *)NULL);
        _exit(9);
    }
    reap("exec");
    if (!fork()) {
        char *cleared[] = {argv[2], argv[3], NULL};
        execle(argv[1], argv[1], (char *)NULL, cleared);
        _exit(9);
    }
    reap("cleared");
    status |= hipFree(a);
    printf("family %d\n", status);
    return status ? 1 : 7;
}
