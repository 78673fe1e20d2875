/* Preloaded before Shoal: a system in which no memory can be shared, as it shows to the rank that makes the memory
 * (MAKING), or to those that open what another rank made. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>

#ifdef MAKING
int memfd_create(const char *name, unsigned flags) {
  (void)name, (void)flags;
  errno = ENOSPC;
  return -1;
}
#else
int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (!strncmp(path, "/proc/", 6) && strstr(path, "/fd/")) {
    errno = EACCES;
    return -1;
  }
  int (*systems)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  return systems(path, flags, mode);
}
#endif
