// A datatype of which one element has any number of bytes, made of parts that an int can count.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "transport/mpi_error.hpp"

namespace shoal {

class mpi_long_type {
 public:
  // `byte`: MPI_BYTE or MPI_PACKED. Throws mpi_error.
  explicit mpi_long_type(std::size_t bytes, MPI_Datatype byte = MPI_BYTE, std::size_t part = std::size_t{1} << 30) {
    const made one(static_cast<int>(part), byte), whole(static_cast<int>(bytes / part), one.type),
        rest(static_cast<int>(bytes % part), byte);
    const int once[2] = {1, 1};
    const MPI_Aint places[2] = {0, static_cast<MPI_Aint>(bytes / part * part)};
    const MPI_Datatype both[2] = {whole.type, rest.type};
    require(PMPI_Type_create_struct(2, once, places, both, &all_.type), "MPI_Type_create_struct");
    require(PMPI_Type_commit(&all_.type), "MPI_Type_commit");
  }

  MPI_Datatype get() const { return all_.type; }

 private:
  struct made {
    made() = default;
    made(int count, MPI_Datatype of) { require(PMPI_Type_contiguous(count, of, &type), "MPI_Type_contiguous"); }
    ~made() {
      if (type != MPI_DATATYPE_NULL) PMPI_Type_free(&type);
    }
    made(const made&) = delete;
    made& operator=(const made&) = delete;

    MPI_Datatype type = MPI_DATATYPE_NULL;
  };

  made all_;
};

}  // namespace shoal
