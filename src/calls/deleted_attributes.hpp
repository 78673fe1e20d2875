// The communicators whose attributes the MPI is deleting in this thread. Its list of them may be in pieces (MPICH), so nothing
// is asked of it, and nothing hung there: exchanges that the program's callbacks make on them are the MPI's own. From the
// beginning of MPI_Finalize on these are all communicators: Shoal ends somewhere in it, on each rank at a place of its own
// among the program's callbacks.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace shoal {

// As long as it is there.
class deleted_attributes {
 public:
  // Null: those of all communicators, as MPI ends.
  explicit deleted_attributes(const MPI_Comm* comm) {
    of_thread().push_back(comm ? std::optional(*comm) : std::nullopt);
  }
  ~deleted_attributes() { of_thread().pop_back(); }
  deleted_attributes(const deleted_attributes&) = delete;
  deleted_attributes& operator=(const deleted_attributes&) = delete;

  static constexpr const char* reason = "while attributes are deleted";
  static bool are_of(MPI_Comm comm) {
    const auto& all = of_thread();
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return !one || *one == comm; });
  }

 private:
  static std::vector<std::optional<MPI_Comm>>& of_thread() {
    thread_local std::vector<std::optional<MPI_Comm>> all;
    return all;
  }
};

}  // namespace shoal
