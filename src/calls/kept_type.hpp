// Datatypes that stay: a program may free its own while an exchange that uses them is under way, or ready to start.
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

// The types of all blocks. If each block has a type of its own, nobody looks at the type of a block without elements.
class kept_types {
 public:
  type_list keep(const type_list& users, const number_array& counts, int blocks);

 private:
  std::deque<kept_type> types_;
  std::vector<MPI_Datatype> each_;
};

}  // namespace shoal
