#include "api/boundary.hpp"

namespace shoal {

int refused(MPI_Comm comm, const std::string& wrong, manners how, native_call native) {
  if (!wrong.empty()) {
    if (how == manners::strict) return raise_error(comm, MPI_ERR_OTHER, wrong);
    warn_once(wrong);
  }
  return native();
}

info_value::info_value(MPI_Info info, const char* key) {
  int found = 0;
  require(PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, text_.data(), &found), "MPI_Info_get");
}

}  // namespace shoal
