// How errors reach the user.
#pragma once

#include <mpi.h>

#include <exception>
#include <new>
#include <string>

#include "transport/mpi_error.hpp"

namespace shoal {

// What the program's own error handler threw, as a handler in C++ may. It passes through Shoal's frames unchanged.
struct thrown_by_handler {
  std::exception_ptr what;
};

// Runs a call that may call an error handler of the program, as the MPI's own functions do, and wraps what the handler
// throws. Exceptions that Shoal throws on the way pass unchanged.
template <typename Call>
[[gnu::hot]] int calling_handlers(Call call) {
  try {
    return call();
  } catch (const thrown_by_handler&) {
    throw;
  } catch (const mpi_error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    throw thrown_by_handler{std::current_exception()};
  }
}

// Runs `body`, and throws to the program what its error handler threw there.
template <typename Body>
[[gnu::hot]] int letting_handlers_throw(Body body) {
  try {
    return body();
  } catch (const thrown_by_handler& by) {
    std::rethrow_exception(by.what);
  }
}

// Runs a call of the MPI's on a communicator of the program's. If the call fails, the MPI has already raised its error
// through the program's handler.
template <typename Call>
void require_of_mpi(const char* what, Call call) {
  if (const int code = calling_handlers(call); code != MPI_SUCCESS) throw raised_error(code, what);
}

// The code of an error with a text. Only the error class, if there is no memory or no code left for the text.
int code_of(int error_class, const char* text);
// Raises an error on a communicator. Its handler may end the program; if it does not, the code is returned.
int raise_error(MPI_Comm comm, int error_class, const char* text);
int raise_code(MPI_Comm comm, int code);

// Writes a line to standard error. All processes of the job on a node together write each line once.
inline const std::string use_native = "using the MPI library's own collectives";
void say_once(const std::string& text, const std::string& instead = use_native);
// The same, but only on rank 0 of `comm`: rank 0 of the world may not be in it.
void warn_once(MPI_Comm comm, const std::string& text, const std::string& instead = use_native);

}  // namespace shoal
