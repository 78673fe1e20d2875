// Arrays of datatypes as Fortran has them. The standard ABI's mpi.h knows nothing of Fortran.
#pragma once

#include <mpi.h>

#include <vector>

namespace shoal {

// C's handles of Fortran's.
inline std::vector<MPI_Datatype> types_of(const MPI_Fint* fortrans, int blocks) {
  std::vector<MPI_Datatype> all;
  for (int i = 0; i < blocks; ++i) all.push_back(PMPI_Type_f2c(fortrans[i]));
  return all;
}

}  // namespace shoal
