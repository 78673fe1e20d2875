#include "calls/traffic.hpp"

#include <algorithm>
#include <fstream>

#include "team/errors.hpp"
#include "team/pending_agreement.hpp"

namespace shoal {

bool traffic_record::is_of(MPI_Comm comm) {
  int likeness = MPI_UNEQUAL;
  PMPI_Comm_compare(comm, MPI_COMM_WORLD, &likeness);
  return likeness == MPI_IDENT || likeness == MPI_CONGRUENT;
}

void traffic_record::add(const alltoall_call& call) {
  int ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::scoped_lock guard(lock_);
  ++calls_;
  sent_.resize(static_cast<std::size_t>(ranks));
  for (int i = 0; i < ranks; ++i) sent_[i] += static_cast<double>(call.bytes_to(i));
}

void traffic_record::write(const std::string& path) const {
  if (calls_ == 0) return;
  pending_agreement everyone(MPI_COMM_WORLD, {calls_, -calls_});
  waiting wait(wait_mode::yield);
  if (!everyone.wait_for(patience, wait)) everyone.abandon();
  if (!everyone.test() || everyone.largest()[0] != -everyone.largest()[1])
    return warn_once("some ranks recorded other exchanges or none; set SHOAL_RECORD the same on all ranks",
                     "nothing is recorded");
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int ranks = static_cast<int>(sent_.size());
  std::vector<double> all(rank == 0 ? sent_.size() * sent_.size() : 0);
  PMPI_Gather(sent_.data(), ranks, MPI_DOUBLE, all.data(), ranks, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  std::ofstream file(path);
  file << "%%MatrixMarket matrix coordinate real general\n% shoal: bytes from a rank to another, on average over "
       << calls_ << " exchanges\n"
       << ranks << " " << ranks << " " << all.size() - std::count(all.begin(), all.end(), 0.0) << "\n";
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] > 0)
      file << i / ranks + 1 << " " << i % ranks + 1 << " " << all[i] / static_cast<double>(calls_) << "\n";
  if (!file.flush()) warn_once("SHOAL_RECORD=" + path + " cannot be written", "nothing is recorded");
}

}  // namespace shoal
