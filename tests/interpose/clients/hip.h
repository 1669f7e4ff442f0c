// The few functions that the clients call, declared as the header of the vendor does.
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
int hipMalloc(void **, size_t);
int hipFree(void *);
int hipMemcpy(void *, const void *, size_t, int);
int hipDeviceSynchronize(void);
int hipMemAllocPitch(void **, size_t *, size_t, size_t, unsigned);
int hipBrandNew(int);
#ifdef __cplusplus
}
#endif
