#include "team/devices.hpp"

#include <dlfcn.h>

#include <initializer_list>
#include <mutex>

#include "team/loaded_libraries.hpp"

namespace shoal {

namespace {

// A runtime may be loaded at any time, and for some module alone, as a CUDA runtime that is linked statically loads the driver.
void* find_function(const char* name, std::initializer_list<const char*> libraries) {
  void* function = dlsym(RTLD_DEFAULT, name);
  for (const char* of : libraries) {
    void* const library = function ? nullptr : dlopen(of, RTLD_LAZY | RTLD_NOLOAD);
    if (!library) continue;
    function = dlsym(library, name);
    dlclose(library);  // whoever has loaded it keeps it
  }
  return function;
}

}  // namespace

device_runtimes device_runtimes::find() {
  device_runtimes all;
  all.cuda_ = reinterpret_cast<cuda_query>(find_function("cuPointerGetAttribute", {"libcuda.so.1"}));
  all.hip_ = reinterpret_cast<hip_query>(find_function(
      "hipPointerGetAttributes",
      {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so.4", "libamdhip64.so"}));
  return all;
}

device_runtimes device_runtimes::loaded() {
  static std::mutex lock;
  static device_runtimes found;
  static library_loads seen;
  const std::scoped_lock alone(lock);
  const library_loads now = library_loads::so_far();
  if (now != seen) found = find();
  seen = now;
  return found;
}

bool device_runtimes::is_cuda(const void* address) const {
  unsigned type = 0;
  return cuda_ && cuda_(&type, 2, reinterpret_cast<unsigned long long>(address)) == 0 && type == 2;
}

bool device_runtimes::is_hip(const void* address) const {
  int attributes[64] = {};
  return hip_ && hip_(attributes, address) == 0 && (attributes[0] == 1 || attributes[0] == 2);
}

}  // namespace shoal
