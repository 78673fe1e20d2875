#include "team/sparse_ranks.hpp"

#include "team/progress.hpp"

namespace shoal {

sparse_ranks::sparse_ranks(MPI_Comm own, wait_mode how) : own_(own), over_(own), wait_(how) {
  wait_.move_meanwhile([] { return progress::get().move(); });
}

sparse_ranks::~sparse_ranks() {
  if (own_ != MPI_COMM_SELF) PMPI_Comm_free(&own_);
}

void sparse_ranks::start(sparse_turn& one) {
  one.begin = PMPI_Wtime();
  turns_.push_back(&one);
  move();
}

bool sparse_ranks::move() noexcept {
  if (is_moving_ || turns_.empty()) return false;
  is_moving_ = true;
  bool moved = false, ended = true;
  sparse_turn& first = *turns_.front();
  try {
    if (!has_begun_) exchange_.start(first.blocks, first.failed);
    has_begun_ = true;
    ended = exchange_.progress(moved);
  } catch (...) {
    first.failure = std::current_exception();
  }
  if (ended) end(first);
  is_moving_ = false;
  return moved || ended;
}

void sparse_ranks::end(sparse_turn& one) {
  turns_.pop_front();
  has_begun_ = false;
  one.is_done = true;
  one.was_exchanged = exchange_.take(one.arrived);
  std::int64_t sent = 0;
  for (const outgoing_block& block : one.blocks) sent += static_cast<std::int64_t>(block.bytes);
  used_.add(sent, PMPI_Wtime() - one.begin);
}

void sparse_ranks::wait_for(const sparse_turn& one) {
  while (!one.is_done) move() ? wait_.progressed() : wait_.idle();
}

}  // namespace shoal
