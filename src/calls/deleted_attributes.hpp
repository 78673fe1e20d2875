// The communicators whose attributes the MPI is deleting in this thread. Its list of them may be in pieces (MPICH), so nothing
// is asked of it, and nothing hung there: exchanges that the program's callbacks make on them are the MPI's own.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <vector>

namespace shoal {

class deleted_attributes {
 public:
  // Null: those of all communicators, as MPI ends.
  static void begin(const MPI_Comm* comm) {
    if (comm) of_thread().push_back({*comm, *comm});
    else of_thread().push_back({MPI_COMM_SELF, MPI_COMM_WORLD});
  }
  static void end() { of_thread().pop_back(); }

  static constexpr const char* reason = "while the communicator's attributes are deleted";
  static bool are_of(MPI_Comm comm) {
    const auto& all = of_thread();
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one[0] == comm || one[1] == comm; });
  }

 private:
  static std::vector<std::array<MPI_Comm, 2>>& of_thread() {
    thread_local std::vector<std::array<MPI_Comm, 2>> all;
    return all;
  }
};

}  // namespace shoal
