/* Preloaded beside Shoal: wraps dlopen() as AddressSanitizer, heaptrack and other tools do. */
#define _GNU_SOURCE
#include <dlfcn.h>

void *dlopen(const char *file, int mode) {
  void *(*systems)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  return systems(file, mode);
}
