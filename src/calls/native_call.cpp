#include "calls/native_call.hpp"

#include "team/errors.hpp"

namespace shoal {

int refused(MPI_Comm comm, const std::string& wrong, manners how, native_call native) {
  if (!wrong.empty()) {
    if (how == manners::strict) return raise_error(comm, MPI_ERR_OTHER, wrong.c_str());
    warn_once(comm, wrong);
  }
  return native();
}

int without_communicator(manners how, native_call native) {
  return how == manners::strict ? raise_error(MPI_COMM_NULL, MPI_ERR_COMM, "no communicator") : native();
}

}  // namespace shoal
