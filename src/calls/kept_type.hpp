// A program may free a datatype while an exchange of it is under way, or ready to be started.
#pragma once

#include <mpi.h>

#include <deque>
#include <vector>

#include "calls/mpi_datatype.hpp"

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

// Those of all blocks. Of a block without elements nobody looks at the type, where it has its own.
class kept_types {
 public:
  type_list keep(const type_list& users, const number_array& counts, int blocks);

 private:
  std::deque<kept_type> types_;
  std::vector<MPI_Datatype> each_;
};

}  // namespace shoal
