// For workloads whose kernels print: what came to a descriptor, and its lines.
#pragma once
#include "check.h"

#include <unistd.h>

#include <set>
#include <string>

// Longer than one packet, and than several.
#define LONG                                                                                  \
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt " \
    "ut labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation."

static const int LINE = 1000;

// What is printed to a descriptor meanwhile.
template <class Body>
static std::string printed(int descriptor, Body body) {
    char path[] = "/tmp/printf-XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    fflush(stdout);
    int terminal = dup(descriptor);
    dup2(file, descriptor);
    body();
    fflush(stdout);
    dup2(terminal, descriptor);
    close(terminal);
    std::string text(lseek(file, 0, SEEK_END), '\0');
    CHECK(pread(file, &text[0], text.size(), 0) == (ssize_t)text.size());
    close(file);
    return text;
}

static std::multiset<std::string> lines(const std::string& text) {
    std::multiset<std::string> all;
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
        end = text.find('\n', at);
        if (end == std::string::npos) end = text.size();
        all.insert(text.substr(at, end - at));
    }
    return all;
}

// Two lines of each wave, in each round, for workgroups of 128.
__global__ void insist(int stream, int rounds) {
    if (threadIdx.x % 64 > 1) return;
    for (int round = 0; round < rounds; round++)
        printf("stream %d block %d item %d round %d %s\n", stream, (int)blockIdx.x,
               (int)threadIdx.x, round, LONG);
}

static std::multiset<std::string> insisted(int streams, int blocks, int rounds) {
    std::multiset<std::string> expected;
    char line[LINE];
    for (int stream = 0; stream < streams; stream++)
        for (int block = 0; block < blocks; block++)
            for (int item : {0, 1, 64, 65})
                for (int round = 0; round < rounds; round++) {
                    snprintf(line, sizeof line, "stream %d block %d item %d round %d %s", stream,
                             block, item, round, LONG);
                    expected.insert(line);
                }
    return expected;
}
