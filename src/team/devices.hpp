// Recognises memory of a GPU, which Shoal leaves to the MPI.
#pragma once

namespace shoal {

// The CUDA and HIP drivers that this process has loaded so far. Asking for them takes about fifty nanoseconds.
class device_runtimes {
 public:
  // int cuPointerGetAttribute(void* data, CUpointer_attribute, CUdeviceptr); attribute 2 is the memory type: 1 host,
  // 2 device, 4 unified. Unknown addresses give an error: ordinary host memory.
  using cuda_query = int (*)(void*, int, unsigned long long);
  // hipError_t hipPointerGetAttributes(hipPointerAttribute_t*, const void*); the first field is the memory type:
  // 2 device, 3 managed. Earlier releases: 1 device.
  using hip_query = int (*)(void*, const void*);
  // hipError_t hipGetLastError() returns the last error of the thread and clears it. hipPeekAtLastError() leaves it.
  using hip_last_error = int (*)();

  static device_runtimes loaded();

  bool are_none() const { return !cuda_ && !hip_; }
  // Whether an address is in device memory, or may be, because nobody can ask HIP now (see surely_holds()).
  bool own(const void* address) const { return address && (is_unknown() || surely_holds(address)); }
  // Whether blocks that begin at `base` may be in device memory. If `base` is null (MPI_BOTTOM), the types may have any
  // addresses of their own, so it is enough that a driver is loaded.
  bool may_own_blocks(const void* base) const { return base ? own(base) : !are_none(); }
  // Whether an address is known to be in device memory. Does not ask HIP if the program has an error of HIP that it has
  // not seen yet, because the question would replace that error.
  bool surely_holds(const void* address) const {
    return !are_none() && address && (is_cuda(address) || (!is_unknown() && is_hip(address)));
  }

 private:
  static device_runtimes find();
  bool is_cuda(const void* address) const;
  bool is_hip(const void* address) const;
  bool is_unknown() const { return hip_ && see_hip_error_ && see_hip_error_() != 0; }

  cuda_query cuda_ = nullptr;
  hip_query hip_ = nullptr;
  hip_last_error see_hip_error_ = nullptr, forget_hip_error_ = nullptr;
};

inline bool device_runtime_loaded() { return !device_runtimes::loaded().are_none(); }
inline bool may_be_device_memory(const void* address) { return device_runtimes::loaded().own(address); }
inline bool is_device_memory(const void* address) { return device_runtimes::loaded().surely_holds(address); }

}  // namespace shoal
