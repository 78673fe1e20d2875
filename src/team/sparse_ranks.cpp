#include "team/sparse_ranks.hpp"

#include "team/progress.hpp"

namespace shoal {

sparse_ranks::sparse_ranks(MPI_Comm own, wait_mode how) : own_(own), over_(own), wait_(how) {
  wait_.move_meanwhile([] { return progress::get().move(); });
}

sparse_ranks::~sparse_ranks() {
  if (own_ != MPI_COMM_SELF) PMPI_Comm_free(&own_);
}

bool sparse_ranks::exchange(std::span<const outgoing_block> blocks, bool failed, arrived_blocks& arrived) {
  const double begin = PMPI_Wtime();
  const bool done = exchange_.run(blocks, failed, arrived);
  std::int64_t sent = 0;
  for (const outgoing_block& one : blocks) sent += static_cast<std::int64_t>(one.bytes);
  used_.add(sent, PMPI_Wtime() - begin);
  return done;
}

}  // namespace shoal
