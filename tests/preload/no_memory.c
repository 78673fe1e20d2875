/* Preloaded before Shoal, this acts as a system in which a rank cannot make memory to share (-DMAKING), may not read
 * the memory of other processes (-DREADING), or otherwise cannot open the memory that another rank made. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef MAKING
int memfd_create(const char *name, unsigned flags) {
  (void)name, (void)flags;
  errno = ENOSPC;
  return -1;
}
#elif defined READING
ssize_t process_vm_readv(pid_t process, const struct iovec *to, unsigned long parts, const struct iovec *from,
                         unsigned long pieces, unsigned long flags) {
  (void)process, (void)to, (void)parts, (void)from, (void)pieces, (void)flags;
  errno = EPERM;
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
