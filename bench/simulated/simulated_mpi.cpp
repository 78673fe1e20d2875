// What Shoal asks of the machine in a whole program, answered by the simulator (the linker's --wrap).
#include <mpi.h>

#include <array>
#include <cerrno>
#include <cstdio>

// Every call in which Shoal polls for messages comes here. Polling again and again would move a simulated clock by an
// amount that means nothing, so a rank waits. It does not look first, as the driver of exchanges does: SimGrid 3.32 never
// forgets a message whose end a look has found, and searches all that it keeps of a sender whenever another one ends. So
// every call would take longer to simulate than the one before.
extern "C" int __wrap_PMPI_Testsome(int active, MPI_Request* requests, int* count, int* indices, MPI_Status* statuses) {
  *count = 1;
  return PMPI_Waitany(active, requests, indices, statuses);
}

// Agreements are waited for where all ranks take part, and here they do. SMPI's nonblocking reduction sends from every rank
// to every other, its blocking one in a logarithm of steps, as MPI libraries do both.
extern "C" int __wrap_PMPI_Iallreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op,
                                      MPI_Comm comm, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return PMPI_Allreduce(mine, all, count, type, op, comm);
}

// The simulated one.
extern "C" int __wrap_gethostname(char* name, std::size_t bytes) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0;
  PMPI_Get_processor_name(host.data(), &length);
  std::snprintf(name, bytes, "%s", host.data());
  return 0;
}

// Memory that ranks share would cost nothing here, and waiting in it would not move the clock: messages inside a node
// travel as others do, through the memory that is modelled.
extern "C" int __wrap_memfd_create(const char*, unsigned) {
  errno = ENOSYS;
  return -1;
}
