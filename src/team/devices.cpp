#include "team/devices.hpp"

#include <dlfcn.h>

namespace shoal {

namespace {

// int cuPointerGetAttribute(void* data, CUpointer_attribute, CUdeviceptr); attribute 2 is the memory type: 1 host,
// 2 device, 4 unified. Unknown addresses give an error: ordinary host memory.
using cuda_query = int (*)(void*, int, unsigned long long);

// hipError_t hipPointerGetAttributes(hipPointerAttribute_t*, const void*); the first field is the memory type:
// 2 device, 3 managed. Earlier releases: 1 device.
using hip_query = int (*)(void*, const void*);

template <typename Query>
Query find(const char* name) {
  return reinterpret_cast<Query>(dlsym(RTLD_DEFAULT, name));
}

bool is_cuda(const void* address) {
  const auto query = find<cuda_query>("cuPointerGetAttribute");
  unsigned type = 0;
  return query && query(&type, 2, reinterpret_cast<unsigned long long>(address)) == 0 && type == 2;
}

bool is_hip(const void* address) {
  const auto query = find<hip_query>("hipPointerGetAttributes");
  int attributes[64] = {};
  return query && query(attributes, address) == 0 && (attributes[0] == 1 || attributes[0] == 2);
}

}  // namespace

bool device_runtime_loaded() {
  return find<cuda_query>("cuPointerGetAttribute") || find<hip_query>("hipPointerGetAttributes");
}

bool is_device_memory(const void* address) { return address && (is_cuda(address) || is_hip(address)); }

}  // namespace shoal
