#include "calls/traffic.hpp"

#include <algorithm>
#include <fstream>
#include <locale>

#include "team/errors.hpp"
#include "team/pending_agreement.hpp"

namespace shoal {

bool traffic_record::is_of(MPI_Comm comm) {
  int likeness = MPI_UNEQUAL;
  PMPI_Comm_compare(comm, MPI_COMM_WORLD, &likeness);
  return likeness == MPI_IDENT || likeness == MPI_CONGRUENT;
}

void traffic_record::add(const exchange_call& call) {
  int ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::scoped_lock guard(lock_);
  ++calls_;
  sent_.resize(static_cast<std::size_t>(ranks));
  for (int i = 0; i < ranks; ++i) sent_[i] += static_cast<double>(call.bytes_to(i));
}

// Some ranks may record nothing, and take no part. The second agreement tells whether each rank heard all in the first.
bool traffic_record::is_of_all_ranks() const {
  constexpr double patience = 10;  // seconds
  waiting wait(wait_mode::yield);
  pending_agreement first(MPI_COMM_WORLD, {calls_, -calls_});
  const bool has_heard = first.wait_or_abandon(patience, wait);
  pending_agreement second(MPI_COMM_WORLD, {!has_heard});
  if (!has_heard) return second.wait_or_abandon(patience, wait), false;
  return second.wait(wait)[0] == 0 && first.largest()[0] == -first.largest()[1];
}

void traffic_record::write(const std::string& path) const {
  if (calls_ == 0) return;
  if (!is_of_all_ranks())
    return warn_once(MPI_COMM_WORLD,
                     "some ranks recorded other exchanges or none; set SHOAL_RECORD the same on all ranks",
                     "nothing is recorded");
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int ranks = static_cast<int>(sent_.size());
  std::vector<double> all(rank == 0 ? sent_.size() * sent_.size() : 0);
  PMPI_Gather(sent_.data(), ranks, MPI_DOUBLE, all.data(), ranks, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  std::ofstream file(path);
  file.imbue(std::locale::classic());
  file << "%%MatrixMarket matrix coordinate real general\n% shoal: bytes from a rank to another, on average over "
       << calls_ << " exchanges\n"
       << ranks << " " << ranks << " " << all.size() - std::count(all.begin(), all.end(), 0.0) << "\n";
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] > 0)
      file << i / ranks + 1 << " " << i % ranks + 1 << " " << all[i] / static_cast<double>(calls_) << "\n";
  if (!file.flush()) say_once("SHOAL_RECORD=" + path + " cannot be written", "nothing is recorded");
}

}  // namespace shoal
