// An MPI_Info that lives as long as a test needs it.
#pragma once

#include <mpi.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace shoal {

class info {
 public:
  info(std::initializer_list<std::pair<const char*, std::string>> entries) {
    MPI_Info_create(&info_);
    for (const auto& [key, value] : entries) MPI_Info_set(info_, key, value.c_str());
  }
  ~info() { MPI_Info_free(&info_); }
  info(const info&) = delete;
  info& operator=(const info&) = delete;
  operator MPI_Info() const { return info_; }

 private:
  MPI_Info info_;
};

// Asks for an algorithm in all three forms of all-to-all.
inline info for_exchanges(const std::string& spec) {
  return {{"shoal_alltoall", spec}, {"shoal_alltoallv", spec}, {"shoal_alltoallw", spec}};
}

}  // namespace shoal
