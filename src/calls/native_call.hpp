// What a call would have done without Shoal.
#pragma once

#include <mpi.h>

#include <string>

#include "team/errors.hpp"

namespace shoal {

// The MPI's own collective with the caller's arguments; returns its code. A reference, not a copy.
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

// By which functions the program calls. Where Shoal cannot serve a call of MPI's own it warns once, and the MPI's own
// collective serves; one of shoal.h is an error if the user asked for something wrong.
enum class interface { mpi, shoal };

// Such a call, on every rank alike. Nothing in `wrong`: the MPI's own is right.
int refused(MPI_Comm comm, const std::string& wrong, interface from, native_call native);
// A call on MPI_COMM_NULL, with which some MPIs crash.
int without_communicator(interface from, native_call native);

}  // namespace shoal
