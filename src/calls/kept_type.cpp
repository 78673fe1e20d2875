#include "calls/kept_type.hpp"

#include "calls/mpi_datatype.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

kept_type::kept_type(MPI_Datatype users) : type_(users) {
  if (!is_type(users) || is_of_mpi(users)) return;
  if (!known(users).is_committed(MPI_COMM_SELF)) return;  // a copy must not be committed either
  // Unlike MPI_Type_dup this copies no attributes.
  require(PMPI_Type_contiguous(1, users, &type_), "MPI_Type_contiguous");
  require(PMPI_Type_commit(&type_), "MPI_Type_commit");
  is_copy_ = true;
}

kept_type::~kept_type() {
  if (is_copy_) PMPI_Type_free(&type_);
}

type_list kept_types::keep(const type_list& users, const number_array& counts, int blocks) {
  if (users.is_missing()) return users;
  if (!users.differ()) return type_list(types_.emplace_back(users[0]));
  for (int i = 0; i < blocks; ++i) each_.push_back(types_.emplace_back(counts[i] == 0 ? MPI_BYTE : users[i]));
  return type_list(each_.data());
}

}  // namespace shoal
