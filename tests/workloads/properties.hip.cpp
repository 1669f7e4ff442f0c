// What a program learns about the devices. Arguments: how many there are, and their processor.
#include "check.h"

#include <set>
#include <string>

int main(int argc, char** argv) {
    int expected = argc > 1 ? atoi(argv[1]) : 1, devices = -1;
    std::string processor = argc > 2 ? argv[2] : "gfx90a";
    HIP(hipInit(0));
    HIP(hipGetDeviceCount(&devices));
    CHECK(devices == expected);
    std::set<int> buses;
    for (int device = 0; device < devices; device++) {
        hipDeviceProp_t properties;
        HIP(hipGetDeviceProperties(&properties, device));
        std::string architecture = properties.gcnArchName;
        CHECK(architecture.substr(0, architecture.find(':')) == processor);
        CHECK(properties.warpSize == 64 && properties.maxThreadsPerBlock == 1024);
        CHECK(properties.totalGlobalMem >= (1u << 30) && properties.sharedMemPerBlock == 65536);
        CHECK(properties.multiProcessorCount > 0 && properties.clockRate > 0);
        CHECK(properties.cooperativeLaunch == 1 && properties.managedMemory == 1);
        buses.insert(properties.pciBusID);
        HIP(hipSetDevice(device));
        size_t before = 0, between = 0, after = 0, total = 0;
        void* memory;
        HIP(hipMemGetInfo(&before, &total));
        HIP(hipMalloc(&memory, 1 << 28));
        HIP(hipMemGetInfo(&between, &total));
        HIP(hipFree(memory));
        HIP(hipMemGetInfo(&after, &total));
        CHECK(before - between == 1 << 28 && before == after);
        EXPECT(hipMalloc(&memory, (size_t)1 << 45), hipErrorOutOfMemory);
        EXPECT(hipGetLastError(), hipErrorOutOfMemory);
    }
    CHECK((int)buses.size() == devices);
    // HIP 5 knows nothing of memory that nobody registered; later versions say so in the answer.
    int unregistered = 0;
    hipPointerAttribute_t attributes;
    EXPECT(hipPointerGetAttributes(&attributes, &unregistered), hipErrorInvalidValue);
    EXPECT(hipGetLastError(), hipErrorInvalidValue);
    EXPECT(hipSetDevice(devices), hipErrorInvalidDevice);
    EXPECT(hipGetLastError(), hipErrorInvalidDevice);
    return finish("properties");
}
