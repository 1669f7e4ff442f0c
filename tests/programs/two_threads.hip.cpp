// Two threads call without end, one function each; the counters of calls begun and returned live in
// a file that outlives the process. Usage: two_threads COUNTERS
#include <hip/hip_runtime.h>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
struct Counters { std::atomic<uint64_t> begun, returned; };
static void loop(Counters& mine, void (*call)()) {
    for (;;) {
        mine.begun.fetch_add(1);
        call();
        mine.returned.fetch_add(1);
    }
}
int main(int argc, char** argv) {
    if (argc != 2) return 64;
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0) return 66;
    auto* counters = static_cast<Counters*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    if (counters == MAP_FAILED) return 66;
    std::thread first([&] { loop(counters[0], [] { int device; (void)hipGetDevice(&device); }); });
    loop(counters[1], [] { (void)hipPeekAtLastError(); });
}
