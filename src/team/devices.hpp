// Recognises memory of a GPU, which Shoal leaves to the MPI.
#pragma once

namespace shoal {

// A CUDA or HIP driver is loaded in this process by now.
bool device_runtime_loaded();
bool is_device_memory(const void* address);

}  // namespace shoal
