// A device assertion that holds changes nothing; one that fails is named on standard error, and
// the program sees an error or dies by abort(), as the runtime has it.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>

__global__ void check_equal(int value) { assert(value == 1); }

static int child() {
    check_equal<<<1, 64>>>(0);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 3;
}

int main(int argc, char** argv) {
    if (argc > 1) return child();
    check_equal<<<3, 64>>>(1);
    HIP(hipDeviceSynchronize());
    HIP(hipGetLastError());

    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t process = fork();
    if (process == 0) {
        dup2(ends[1], 2);
        dup2(ends[1], 1);
        close(ends[0]);
        execl("/proc/self/exe", argv[0], "fail", (char*)nullptr);
        _exit(127);
    }
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, got);
    int status = 0;
    CHECK(waitpid(process, &status, 0) == process);
    bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    bool told = WIFEXITED(status) && WEXITSTATUS(status) == 3;
    CHECK(aborted || told);
    CHECK(text.find("Assertion `value == 1' failed") != std::string::npos ||
          text.find("assertion `value == 1' failed") != std::string::npos);
    if (bad) fprintf(stderr, "the child said: %s\n", text.c_str());
    return finish("assert");
}
