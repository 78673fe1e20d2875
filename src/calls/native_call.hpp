// What a call would have done without Shoal.
#pragma once

#include <mpi.h>

#include <string>

#include "team/errors.hpp"

namespace shoal {

// Calls the MPI's own collective with the caller's arguments; returns its code. A reference to a function, not a copy.
class native_call {
 public:
  template <typename Call>
  native_call(const Call& call)  // NOLINT: implicit on purpose
      : call_(&call), invoke_(&invoke<Call>) {}
  [[gnu::hot]] int operator()() const {
    return calling_handlers([this] { return invoke_(call_); });
  }

 private:
  template <typename Call>
  [[gnu::hot]] static int invoke(const void* call) {
    return (*static_cast<const Call*>(call))();
  }

  const void* call_;
  int (*invoke_)(const void*);
};

// Whose functions the program calls. If the user asked for something wrong, a call of shoal.h is an error. For a call
// by MPI's name Shoal warns once, and the MPI's own collective serves.
enum class interface { mpi, shoal };

// Ends a call that Shoal cannot serve, on every rank alike. If `wrong` is empty, the MPI's own collective is right.
int refused(MPI_Comm comm, const std::string& wrong, interface from, native_call native);
// A call on MPI_COMM_NULL, with which some MPIs crash.
int without_communicator(interface from, native_call native);

}  // namespace shoal
