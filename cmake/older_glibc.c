// The functions that the C++ runtime of g++ 12, if it is linked in, takes from glibc 2.35 and 2.36. Here they are made
// of what glibc 2.34 has. So a wheel that is built on Debian 12 runs on systems with glibc 2.34.
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#if __GLIBC_PREREQ(2, 35)
struct search {
  uintptr_t address;
  struct dl_find_object* result;
};

static int search_in(struct dl_phdr_info* object, size_t size, void* memory) {
  const struct search* const search = memory;
  int here = 0;
  (void)size;
  search->result->dlfo_eh_frame = NULL;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const part = object->dlpi_phdr + i;
    const uintptr_t start = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) search->result->dlfo_eh_frame = (void*)start;
    if (part->p_type == PT_LOAD && search->address - start < part->p_memsz) here = 1;
  }
  return here;
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(search_in, &search) && result->dlfo_eh_frame ? 0 : -1;
}

uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof value, 0) != sizeof value) abort();
  return value;
}
#endif
