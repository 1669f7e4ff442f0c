// Waits for a signal after one call. Exits by itself with what came, or dies of it: signal exit|die.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "hip.h"

static volatile sig_atomic_t came;
static void note(int number) { came = number; }

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    void *a = NULL;
    int status = hipMalloc(&a, 8);
    if (!strcmp(argv[1], "exit")) {
        signal(SIGTERM, note);
        signal(SIGUSR1, note);
    }
    printf("ready %d\n", status);
    fflush(stdout);
    while (!came) pause();
    printf("came %d\n", (int)came);
    return 7;
}
