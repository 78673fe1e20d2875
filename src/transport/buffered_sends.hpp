// Whether the program may send from a buffer that it gave the MPI for that (MPI_Buffer_attach, MPI_Bsend). Open MPI
// takes back the room of messages that have arrived only while it makes progress, as it does in collectives of its own.
#pragma once

#include <atomic>

namespace shoal {

class buffered_sends {
 public:
  static void expect() { expected_.store(true, std::memory_order_relaxed); }
  static bool are_expected() { return expected_.load(std::memory_order_relaxed); }

 private:
  inline static std::atomic<bool> expected_ = false;
};

}  // namespace shoal
