// Recognises memory of a GPU, which Shoal leaves to the MPI.
#pragma once

namespace shoal {

// The CUDA and HIP drivers that are loaded in this process by now. To ask for them takes some fifty nanoseconds.
class device_runtimes {
 public:
  // int cuPointerGetAttribute(void* data, CUpointer_attribute, CUdeviceptr); attribute 2 is the memory type: 1 host,
  // 2 device, 4 unified. Unknown addresses give an error: ordinary host memory.
  using cuda_query = int (*)(void*, int, unsigned long long);
  // hipError_t hipPointerGetAttributes(hipPointerAttribute_t*, const void*); the first field is the memory type:
  // 2 device, 3 managed. Earlier releases: 1 device.
  using hip_query = int (*)(void*, const void*);
  // hipError_t hipGetLastError(): of the thread, which is none from then on. hipPeekAtLastError(): it stays.
  using hip_last_error = int (*)();

  static device_runtimes loaded();

  bool are_none() const { return !cuda_ && !hip_; }
  // Whether an address is in device memory, or nobody knows.
  bool own(const void* address) const { return address && (is_unknown() || surely_own(address)); }
  // Whether blocks behind it may be: types may have addresses of their own behind a null one (MPI_BOTTOM).
  bool may_own_blocks(const void* base) const { return base ? own(base) : !are_none(); }
  // A question to HIP would replace an error that the program has not seen yet.
  bool surely_own(const void* address) const {
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
inline bool is_device_memory(const void* address) { return device_runtimes::loaded().surely_own(address); }

}  // namespace shoal
