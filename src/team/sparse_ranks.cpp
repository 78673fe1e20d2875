#include "team/sparse_ranks.hpp"

#include <utility>

#include "team/progress.hpp"

namespace shoal {

sparse_ranks::sparse_ranks(MPI_Comm users, MPI_Comm own, wait_mode mode)
    : own_(users, own), over_(own), wait_(moving_meanwhile(mode)) {}

// The MPI may still use what is left of a broken exchange, so that is never freed.
sparse_ranks::~sparse_ranks() { [[maybe_unused]] const auto* const left = broken_ ? exchange_.release() : nullptr; }

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
    ended = progress_of(first, moved);
  } catch (...) {
    first.failure = std::current_exception();
    if (ranks() > 1) broken_ = first.failure;
  }
  if (ended) end(first);
  else if (!moved) failures_.look();
  is_moving_ = false;
  return moved || ended;
}

bool sparse_ranks::progress_of(sparse_turn& one, bool& moved) {
  raise(broken_);
  if (!std::exchange(has_begun_, true)) exchange_->start(one.blocks, one.failed);
  if (!exchange_->progress(moved)) return false;
  one.failure = exchange_->failure();
  if (ranks() > 1) broken_ = one.failure;  // another rank may have sent what this one does not know of
  return true;
}

void sparse_ranks::end(sparse_turn& one) {
  turns_.pop_front();
  one.is_done = true;
  if (!broken_) one.was_exchanged = exchange_->take(one.arrived);
  else if (has_begun_) new std::vector<std::byte>(std::move(one.packed));  // not freed: the MPI may still send from it
  has_begun_ = false;
  std::int64_t sent = 0;
  for (const outgoing_block& block : one.blocks) sent += static_cast<std::int64_t>(block.bytes);
  used_.add(sent, PMPI_Wtime() - one.begin);
}

void sparse_ranks::wait_for(const sparse_turn& one) {
  while (!one.is_done) move() ? wait_.progressed() : wait_.idle();
}

}  // namespace shoal
