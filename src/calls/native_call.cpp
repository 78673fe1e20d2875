#include "calls/native_call.hpp"

#include "team/errors.hpp"

namespace shoal {

int refused(MPI_Comm comm, const std::string& wrong, interface from, native_call native) {
  if (!wrong.empty()) {
    if (from == interface::shoal) return raise_error(comm, MPI_ERR_OTHER, wrong.c_str());
    warn_once(comm, wrong);
  }
  return native();
}

int without_communicator(interface from, native_call native) {
  return from == interface::shoal ? raise_error(MPI_COMM_NULL, MPI_ERR_COMM, "no communicator") : native();
}

}  // namespace shoal
