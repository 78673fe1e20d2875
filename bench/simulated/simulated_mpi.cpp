// In a simulated whole program, the simulator answers what Shoal asks of the machine (by the linker's --wrap).
#include <mpi.h>

#include <array>
#include <cerrno>
#include <cstdio>

// Shoal polls for messages by this function. Polling again and again would move the simulated clock by an amount that
// means nothing, so a rank waits for a message. It does not look first, as shoal_simulated.cpp does: SimGrid 3.32 never
// forgets a message whose end a look has found, and searches all that it keeps for a sender whenever another message
// ends. So every call would take longer to simulate than the one before.
extern "C" int __wrap_PMPI_Testsome(int active, MPI_Request* requests, int* count, int* indices, MPI_Status* statuses) {
  *count = 1;
  return PMPI_Waitany(active, requests, indices, statuses);
}

// A rank waits for an agreement if all ranks take part, and here they do, so the reduction may block. In SMPI's
// nonblocking reduction every rank sends to every other. Its blocking one takes log P steps; MPI libraries do both so.
extern "C" int __wrap_PMPI_Iallreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op,
                                      MPI_Comm comm, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return PMPI_Allreduce(mine, all, count, type, op, comm);
}

// Returns the name of the simulated host.
extern "C" int __wrap_gethostname(char* name, std::size_t bytes) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0;
  PMPI_Get_processor_name(host.data(), &length);
  std::snprintf(name, bytes, "%s", host.data());
  return 0;
}

// Ranks get no memory to share: it would cost nothing here, and waiting in it would not move the clock. So messages
// inside a node travel as all others do, through the modelled memory.
extern "C" int __wrap_memfd_create(const char*, unsigned) {
  errno = ENOSYS;
  return -1;
}
