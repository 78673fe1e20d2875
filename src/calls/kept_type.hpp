// A program may free a datatype while an exchange of it is under way, or ready to be started.
#pragma once

#include <mpi.h>

namespace shoal {

class kept_type {
 public:
  explicit kept_type(MPI_Datatype users);
  ~kept_type();
  kept_type(const kept_type&) = delete;
  kept_type& operator=(const kept_type&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_;
  bool is_copy_ = false;
};

}  // namespace shoal
