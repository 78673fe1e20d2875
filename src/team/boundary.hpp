// The boundary at which calls of the user begin and end. Exceptions become error codes here.
#pragma once

#include <mpi.h>

#include <array>
#include <new>
#include <string>
#include <string_view>

#include "team/errors.hpp"
#include "transport/failure.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

// Raises the error that this rank has no memory to go on, while others wait for its blocks. If the error handler
// returns, the job ends here. If this rank is alone, the error code is returned instead.
int out_of_memory(MPI_Comm comm);

// Whether `comm` is an inter-communicator.
bool between_groups(MPI_Comm comm);

// Raises the exception being handled on `comm`, and returns its code.
int raise_current(MPI_Comm comm);

// Returns the body's code or, if the body throws, the code that `raise` makes of the exception. Everything that C
// calls, programs and the MPI alike, runs in here. Only what the program's error handler throws leaves this function as
// an exception.
template <typename Raise, typename Body>
int returning_codes_by(Raise raise, Body body) {
  return letting_handlers_throw([&]() -> int {
    try {
      return body();
    } catch (const thrown_by_handler&) {
      throw;
    } catch (...) {
      return raise();
    }
  });
}

// Serves a call on `comm`: returns the body's code or, if the body throws, raises the error and returns its code.
template <typename Body>
int returning_codes(MPI_Comm comm, Body body) {
  return returning_codes_by([&] { return raise_current(comm); }, body);
}

// The value of a key in an info object; empty if the object lacks the key. Allocates nothing.
class info_value {
 public:
  info_value(MPI_Info info, const char* key);
  std::string_view text() const { return text_.data(); }

 private:
  std::array<char, MPI_MAX_INFO_VAL + 1> text_{};
};

// What is wrong with the first key that has Shoal's prefix but is unknown, with the nearest known key. Empty if there
// is no such key.
std::string unknown_key(MPI_Info info);

}  // namespace shoal
