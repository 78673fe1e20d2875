#include "team/devices.hpp"

#include <dlfcn.h>

#include <initializer_list>
#include <mutex>

#include "team/loaded_libraries.hpp"

namespace shoal {

namespace {

// int cuPointerGetAttribute(void* data, CUpointer_attribute, CUdeviceptr); attribute 2 is the memory type: 1 host,
// 2 device, 4 unified. Unknown addresses give an error: ordinary host memory.
using cuda_query = int (*)(void*, int, unsigned long long);

// hipError_t hipPointerGetAttributes(hipPointerAttribute_t*, const void*); the first field is the memory type:
// 2 device, 3 managed. Earlier releases: 1 device.
using hip_query = int (*)(void*, const void*);

// A runtime may be loaded at any time, and for some module alone, as a CUDA runtime that is linked statically loads the driver.
template <typename Query>
Query find(const char* name, std::initializer_list<const char*> libraries) {
  void* function = dlsym(RTLD_DEFAULT, name);
  for (const char* of : libraries) {
    void* const library = function ? nullptr : dlopen(of, RTLD_LAZY | RTLD_NOLOAD);
    if (!library) continue;
    function = dlsym(library, name);
    dlclose(library);  // whoever has loaded it keeps it
  }
  return reinterpret_cast<Query>(function);
}

struct runtimes {
  cuda_query cuda = nullptr;
  hip_query hip = nullptr;
};

runtimes find_runtimes() {
  return {find<cuda_query>("cuPointerGetAttribute", {"libcuda.so.1"}),
          find<hip_query>("hipPointerGetAttributes", {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                                      "libamdhip64.so.4", "libamdhip64.so"})};
}

runtimes loaded_runtimes() {
  static std::mutex lock;
  static runtimes found;
  static library_loads seen;
  const std::scoped_lock alone(lock);
  const library_loads now = library_loads::so_far();
  if (now != seen) found = find_runtimes();
  seen = now;
  return found;
}

bool is_cuda(cuda_query query, const void* address) {
  unsigned type = 0;
  return query && query(&type, 2, reinterpret_cast<unsigned long long>(address)) == 0 && type == 2;
}

bool is_hip(hip_query query, const void* address) {
  int attributes[64] = {};
  return query && query(attributes, address) == 0 && (attributes[0] == 1 || attributes[0] == 2);
}

}  // namespace

bool device_runtime_loaded() {
  const runtimes loaded = loaded_runtimes();
  return loaded.cuda || loaded.hip;
}

bool is_device_memory(const void* address) {
  if (!address) return false;
  const runtimes loaded = loaded_runtimes();
  return is_cuda(loaded.cuda, address) || is_hip(loaded.hip, address);
}

}  // namespace shoal
