// The communicators whose attributes the MPI is deleting in this thread. MPICH's list of the attributes may be in
// pieces meanwhile. So Shoal looks for no attribute there and adds none, and exchanges that the program's callbacks
// make on these communicators are the MPI's own. From the beginning of MPI_Finalize on these are all communicators:
// Shoal ends somewhere in MPI_Finalize, on each rank at another point among the program's callbacks.
#pragma once

#include <mpi.h>

namespace shoal {

// Names them as long as the object lives.
class deleted_attributes {
 public:
  // Null: all communicators, because MPI ends.
  explicit deleted_attributes(const MPI_Comm* comm)
      : of_all_(!comm), comm_(comm ? *comm : MPI_COMM_NULL), before_(last_) {
    last_ = this;
  }
  ~deleted_attributes() { last_ = before_; }
  deleted_attributes(const deleted_attributes&) = delete;
  deleted_attributes& operator=(const deleted_attributes&) = delete;

  static constexpr const char* reason = "while attributes are deleted";
  static bool are_of(MPI_Comm comm) {
    const deleted_attributes* one = last_;
    while (one && !one->of_all_ && one->comm_ != comm) one = one->before_;
    return one;
  }

 private:
  bool of_all_;
  MPI_Comm comm_;
  const deleted_attributes* before_;
  // Of this thread. A plain pointer stays to the end: a program may free communicators, and end MPI, while it exits.
  inline static thread_local const deleted_attributes* last_ = nullptr;
};

}  // namespace shoal
