#include "api/errors.hpp"

#include <atomic>
#include <iostream>

namespace shoal {

int raise_error(MPI_Comm comm, int error_class, const std::string& text) {
  int code = error_class;
  if (PMPI_Add_error_code(error_class, &code) == MPI_SUCCESS) {
    const std::string line = ("shoal: " + text).substr(0, MPI_MAX_ERROR_STRING - 1);
    PMPI_Add_error_string(code, line.c_str());
  }
  return raise_code(comm, code);
}

int raise_code(MPI_Comm comm, int code) {
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

void warn_once(const std::string& text) {
  static std::atomic_flag warned = ATOMIC_FLAG_INIT;
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0 || warned.test_and_set()) return;
  std::cerr << "shoal: " + text + "; using the MPI library's own collectives\n" << std::flush;
}

}  // namespace shoal
