// Images that AMD's 5.2.3 does not survive (it reads tables where there are none, or ends the
// process), and a function that it lacks: on the emulated GPU alone.
#include <dlfcn.h>
#include <sys/mman.h>

#include "compile.h"

static const char* SOURCE = R"(
extern "C" __global__ void one(int* out) { *out = 1; }
)";

typedef hipError_t LoadLibrary(void** library, const void* code, void* options, void** values,
                               unsigned count, void* library_options, void** library_values,
                               unsigned library_count);
static LoadLibrary* load_library;

static void refuse(const char* image) {
    int by_data = refused(image);
    void* library;
    CHECK(load_library(&library, image, 0, 0, 0, 0, 0, 0) == by_data);
    CHECK(hipGetLastError() == by_data);
}

int main() {
    load_library = (LoadLibrary*)dlsym(RTLD_DEFAULT, "hipLibraryLoadData");
    if (!load_library) load_library = (LoadLibrary*)dlsym(dlopen("libamdhip64.so.5", RTLD_NOW),
                                                          "hipLibraryLoadData");
    CHECK(load_library);
    std::vector<char> code = compile(SOURCE);
    static char page[4096], bundle[4 << 20];
    memcpy(page, "\x7f" "ELF", 4);
    refuse(page);
    uint64_t entries = 100000;
    memcpy(bundle, "__CLANG_OFFLOAD_BUNDLE__", 24);
    memcpy(bundle + 24, &entries, 8);
    refuse(bundle);
    for (int i = 0; i < 4096; i++) page[i] = (char)(1 + i % 255);
    refuse(page);

    // The whole length is in the headers, and half of what they describe is there.
    std::vector<char> cut(code.size());
    memcpy(cut.data(), code.data(), code.size() / 2);
    refuse(cut.data());
    // The same, and nothing is mapped behind it.
    char* pages = (char*)mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                              -1, 0);
    CHECK(pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0);
    memcpy(pages + 4096 - 1000, code.data(), 1000);
    refuse(pages + 4096 - 1000);
    refuse(strcpy(pages + 4096 - 4, "end"));
    return finish("junk");
}
