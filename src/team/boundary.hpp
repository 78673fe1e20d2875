// Where calls of the user's begin and end: exceptions become error codes.
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

// This rank cannot go on, and others wait for its blocks. Where the error handler returns the job ends here, unless this
// rank is alone: then the error.
int out_of_memory(MPI_Comm comm);

// Whether `comm` is an inter-communicator.
bool between_groups(MPI_Comm comm);

// The exception being handled, raised on `comm`.
int raise_current(MPI_Comm comm);

// The body's code, or the one that `raise` makes of the exception being handled. Everything that C calls, programs and MPI
// alike, runs in here; nothing is thrown out of it but what the program's error handler throws.
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

// Serves a call on `comm`: the body's code, or the error it raises.
template <typename Body>
int returning_codes(MPI_Comm comm, Body body) {
  return returning_codes_by([&] { return raise_current(comm); }, body);
}

// The value of a key, empty when there is none. Allocates nothing.
class info_value {
 public:
  info_value(MPI_Info info, const char* key);
  std::string_view text() const { return text_.data(); }

 private:
  std::array<char, MPI_MAX_INFO_VAL + 1> text_{};
};

// The first key with Shoal's prefix that means nothing, with the nearest that does; empty: there is none.
std::string unknown_key(MPI_Info info);

}  // namespace shoal
