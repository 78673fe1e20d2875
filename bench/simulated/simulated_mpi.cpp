// In a simulated whole program, the simulator answers what Shoal asks of the machine (by the linker's --wrap).
#include <mpi.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <map>

// Shoal polls for messages by this function. Polling again and again would move the simulated clock by an amount that
// means nothing, so a rank waits for a message. It does not look first, as shoal_simulated.cpp does: SimGrid 3.32 never
// forgets a message whose end a look has found, and searches all that it keeps for a sender whenever another message
// ends. So every call would take longer to simulate than the one before.
extern "C" int __wrap_PMPI_Testsome(int active, MPI_Request* requests, int* count, int* indices, MPI_Status* statuses) {
  *count = 1;
  return PMPI_Waitany(active, requests, indices, statuses);
}

namespace {

struct reduction {
  const void* mine;
  void* all;
  int count;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;
};

std::map<MPI_Request, reduction> begun;  // this rank's: every rank has a copy of this library

}  // namespace

// In SMPI's nonblocking reduction every rank sends to every other. Its blocking one takes log P steps; MPI libraries do
// both so. Ranks first ask for the end of an agreement in the same call, and here all of them take part, so the
// reduction may block. It does so where a rank asks and not where it begins: Shoal learns what agreements take from how
// long ranks wait there.
extern "C" int __wrap_PMPI_Iallreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op,
                                      MPI_Comm comm, MPI_Request* request) {
  static std::uintptr_t number = 0;
  *request = reinterpret_cast<MPI_Request>(++number);  // no address, so no request of SMPI's
  begun[*request] = {mine, all, count, type, op, comm};
  return MPI_SUCCESS;
}

extern "C" int __real_PMPI_Test(MPI_Request* request, int* ended, MPI_Status* status);
extern "C" int __wrap_PMPI_Test(MPI_Request* request, int* ended, MPI_Status* status) {
  const auto found = begun.find(*request);
  if (found == begun.end()) return __real_PMPI_Test(request, ended, status);
  const reduction of = found->second;
  begun.erase(found);
  *request = MPI_REQUEST_NULL;
  *ended = 1;
  return PMPI_Allreduce(of.mine, of.all, of.count, of.type, of.op, of.comm);
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
