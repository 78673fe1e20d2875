#include "team/devices.hpp"

#include <dlfcn.h>

#include <mutex>
#include <string>
#include <string_view>

#include "team/loaded_libraries.hpp"

namespace shoal {

namespace {

// The path from which the library of this name, or a version of it, was loaded. Empty if it was not loaded. dlopen with
// the name alone would search the file system.
std::string path_of_loaded(const std::string& library) {
  struct search {
    const std::string& library;
    std::string path;
  } of{library, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* to) {
        auto& wanted = *static_cast<search*>(to);
        const std::string_view path(object->dlpi_name);
        const std::string_view file = path.substr(path.rfind('/') + 1);
        if (file.starts_with(wanted.library)) wanted.path = path;
        return static_cast<int>(!wanted.path.empty());
      },
      &of);
  return of.path;
}

// A library may be loaded at any time, and for one module only: then RTLD_DEFAULT does not find its functions. A CUDA
// runtime that is linked statically loads the driver in this way.
void* find_function(const char* name, const char* of) {
  if (void* const function = dlsym(RTLD_DEFAULT, name)) return function;
  const std::string path = path_of_loaded(of);
  void* const library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return nullptr;
  void* const function = dlsym(library, name);
  dlclose(library);  // the library stays loaded, because whoever loaded it holds it
  return function;
}

}  // namespace

device_runtimes device_runtimes::find() {
  device_runtimes all;
  all.cuda_ = reinterpret_cast<cuda_query>(find_function("cuPointerGetAttribute", "libcuda.so"));
  all.hip_ = reinterpret_cast<hip_query>(find_function("hipPointerGetAttributes", "libamdhip64.so"));
  all.see_hip_error_ = reinterpret_cast<hip_last_error>(find_function("hipPeekAtLastError", "libamdhip64.so"));
  all.forget_hip_error_ = reinterpret_cast<hip_last_error>(find_function("hipGetLastError", "libamdhip64.so"));
  return all;
}

device_runtimes device_runtimes::loaded() {
  static std::mutex lock;
  static device_runtimes found;
  static library_loads seen;
  const library_loads now = library_loads::so_far();
  {
    const std::scoped_lock alone(lock);
    if (now == seen) return found;
  }
  const device_runtimes all = find();  // not under the lock: a library that is being loaded may call Shoal
  const std::scoped_lock alone(lock);
  seen = now;
  return found = all;
}

bool device_runtimes::is_cuda(const void* address) const {
  unsigned type = 0;
  return cuda_ && cuda_(&type, 2, reinterpret_cast<unsigned long long>(address)) == 0 && type == 2;
}

// HIP reports an error for an address that it does not know. The program must not find the error, so it is cleared.
bool device_runtimes::is_hip(const void* address) const {
  int attributes[64] = {};
  if (!hip_) return false;
  if (hip_(attributes, address) == 0) return attributes[0] == 1 || attributes[0] == 2;
  if (forget_hip_error_) forget_hip_error_();
  return false;
}

}  // namespace shoal
