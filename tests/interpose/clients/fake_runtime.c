// A runtime that counts its calls. At exit it appends "TAG pid PID name=count ..." to $FAKE_LOG, so
// a test can tell which runtime a program's calls reached, and how often, with and without the
// recorder. Memory is the host's own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TAG
#define TAG "fake"
#endif

enum { MALLOC, FREE, MEMCPY, SYNCHRONIZE, DEVICE_COUNT, MALLOC_PITCH, MEM_ALLOC_PITCH,
       GET_PROC_ADDRESS, BRAND_NEW, FUNCTIONS };
static const char *const names[FUNCTIONS] = {
    "hipMalloc", "hipFree", "hipMemcpy", "hipDeviceSynchronize", "hipGetDeviceCount",
    "hipMallocPitch", "hipMemAllocPitch", "hipGetProcAddress", "hipBrandNew",
};
static int counts[FUNCTIONS];

int hipMalloc(void **pointer, size_t bytes) {
    counts[MALLOC]++;
    *pointer = malloc(bytes);
    return 0;
}

int hipFree(void *pointer) {
    counts[FREE]++;
    free(pointer);
    return 0;
}

int hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
    (void)kind;
    counts[MEMCPY]++;
    memcpy(to, from, bytes);
    return 0;
}

int hipDeviceSynchronize(void) {
    counts[SYNCHRONIZE]++;
    return 0;
}

int hipGetDeviceCount(int *count) {
    counts[DEVICE_COUNT]++;
    *count = 1;
    return 0;
}

int hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    counts[MALLOC_PITCH]++;
    *pitch = width;
    *pointer = malloc(width * height);
    return 0;
}

// As in AMD's library, this call goes through the exported name: a nested call.
int hipMemAllocPitch(void **pointer, size_t *pitch, size_t width, size_t height, unsigned element) {
    (void)element;
    counts[MEM_ALLOC_PITCH]++;
    return hipMallocPitch(pointer, pitch, width, height);
}

int hipGetProcAddress(const char *name, void **pointer, int version, unsigned long flags,
                      void *status) {
    (void)version, (void)flags, (void)status;
    counts[GET_PROC_ADDRESS]++;
    Dl_info info;
    dladdr((void *)&counts, &info);
    void *self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    *pointer = self ? dlsym(self, name) : NULL;
    return *pointer ? 0 : 500;
}

// A function that no recorder declares.
int hipBrandNew(int value) {
    counts[BRAND_NEW]++;
    return value + 1;
}

__attribute__((destructor)) static void report(void) {
    char line[1024];
    int bytes = snprintf(line, sizeof line, "%s pid %d", TAG, (int)getpid());
    for (int i = 0; i < FUNCTIONS; i++)
        if (counts[i])
            bytes += snprintf(line + bytes, sizeof line - bytes, " %s=%d", names[i], counts[i]);
    line[bytes++] = '\n';
    const char *path = getenv("FAKE_LOG");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    if (fd >= 0) {
        if (write(fd, line, bytes) != bytes) abort();
        close(fd);
    }
}
