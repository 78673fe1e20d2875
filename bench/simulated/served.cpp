// What simulated_program.cpp asks a rank's copy of Shoal when the program ends.
#include "calls/process.hpp"

// By the attributes of MPI_COMM_SELF Shoal learns that the program ends, because MPI deletes them before anything else
// ends. SMPI deletes them only when everything has ended, so shoal_simulated_end() deletes Shoal's itself.
static int attribute_of_self = MPI_KEYVAL_INVALID;

extern "C" int __real_PMPI_Comm_set_attr(MPI_Comm comm, int key, void* value);
extern "C" int __wrap_PMPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
  if (comm == MPI_COMM_SELF) attribute_of_self = key;
  return __real_PMPI_Comm_set_attr(comm, key, value);
}

// Tells Shoal that the program ends, and returns what learning cost and gained, in seconds.
extern "C" __attribute__((visibility("default"))) void shoal_simulated_end(double* cost_and_gain) {
  const shoal::ledger& books = shoal::process::get().books();
  cost_and_gain[0] = books.spent();
  cost_and_gain[1] = books.gained();
  if (attribute_of_self != MPI_KEYVAL_INVALID) PMPI_Comm_delete_attr(MPI_COMM_SELF, attribute_of_self);
}
