#include "api/traffic.hpp"

#include <algorithm>
#include <fstream>

#include "api/errors.hpp"

namespace shoal {

void traffic_record::add(MPI_Comm comm, const std::function<std::int64_t(int)>& bytes) {
  int likeness = MPI_UNEQUAL, ranks = 0;
  PMPI_Comm_compare(comm, MPI_COMM_WORLD, &likeness);
  if (likeness != MPI_IDENT && likeness != MPI_CONGRUENT) return;
  PMPI_Comm_size(comm, &ranks);
  const std::scoped_lock guard(lock_);
  ++calls_;
  sent_.resize(static_cast<std::size_t>(ranks));
  for (int i = 0; i < ranks; ++i) sent_[i] += static_cast<double>(bytes(i));
}

void traffic_record::write(const std::string& path) const {
  if (calls_ == 0) return;
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
