// saxpy, whose process is then killed: its recording is never sealed.
#define main saxpy_main
#include "saxpy.hip.cpp"
#undef main
#include <signal.h>
#include <unistd.h>
int main() {
    int status = saxpy_main();
    fflush(stdout);
    kill(getpid(), SIGKILL);
    return status;
}
