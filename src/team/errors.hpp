// How errors reach the user.
#pragma once

#include <mpi.h>

#include <exception>
#include <new>
#include <string>

#include "transport/mpi_error.hpp"

namespace shoal {

// What the program's own error handler threw, as handlers in C++ may: Shoal's frames hand it on as it is.
struct thrown_by_handler {
  std::exception_ptr what;
};

// What calls a handler, the MPI's own functions among it. What Shoal throws on the way there stays what it is.
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

// Gives the program what its handlers threw.
template <typename Body>
[[gnu::hot]] int letting_handlers_throw(Body body) {
  try {
    return body();
  } catch (const thrown_by_handler& by) {
    std::rethrow_exception(by.what);
  }
}

// A call of the MPI's on a communicator of the program's: the MPI has raised its error, by the program's handler.
template <typename Call>
void require_of_mpi(const char* what, Call call) {
  if (const int code = calling_handlers(call); code != MPI_SUCCESS) throw raised_error(code, what);
}

// The code of an error with a text. Without memory for the text the class alone.
int code_of(int error_class, const char* text);
// Raises an error on a communicator: its handler may end the program; otherwise the code is returned.
int raise_error(MPI_Comm comm, int error_class, const char* text);
int raise_code(MPI_Comm comm, int code);

// One line on standard error, each line once from all processes of the job on a node.
inline const std::string use_native = "using the MPI library's own collectives";
void say_once(const std::string& text, const std::string& instead = use_native);
// The same from rank 0 of a communicator, as the world's may not be in it.
void warn_once(MPI_Comm comm, const std::string& text, const std::string& instead = use_native);

}  // namespace shoal
