#include "transport/agree.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace shoal {

namespace {
constexpr int agreement_tag = 0;  // exchanges use tags from 1
}

void agreement::reach(std::span<std::int64_t> values, std::span<const combine> combined) {
  if (values.size() > most_values || values.size() != combined.size())
    throw std::invalid_argument("an agreement takes at most 16 values and one rule for each");
  ++reached_;
  values_ = values;
  combined_ = combined;
  if (!abandoned_) failure_.clear();
  reduce();
  raise(failure_.what());
}

// The ranks beyond the largest power of two give their values to a partner and get the result from it.
void agreement::reduce() {
  const int rank = over_.rank(), core = static_cast<int>(std::bit_floor(static_cast<unsigned>(over_.ranks())));
  if (rank >= core) {
    transfer(rank - core, true, false);
    transfer(rank - core, false, true);
    std::copy_n(at_->theirs.begin(), values_.size(), values_.begin());
    return;
  }
  const bool has_guest = rank + core < over_.ranks();
  if (has_guest) take_in(rank + core, false);
  for (int distance = 1; distance < core; distance *= 2) take_in(rank ^ distance, true);
  if (has_guest) transfer(rank + core, true, false);
}

bool agreement::on_any_rank(bool here) {
  std::int64_t any = here;
  constexpr combine rule = combine::maximum;
  reach({&any, 1}, {&rule, 1});
  return any != 0;
}

bool agreement::same_everywhere(std::uint64_t value) {
  const auto half = static_cast<std::int64_t>(value >> 1);
  std::array<std::int64_t, 2> values{half, -half};
  constexpr std::array combined{combine::maximum, combine::maximum};
  reach(values, combined);
  return values[0] == -values[1];
}

int agreement::rounds(int ranks) {
  const auto p = static_cast<unsigned>(ranks);
  return static_cast<int>(std::bit_width(p)) - 1 + (std::has_single_bit(p) ? 0 : 2);
}

void agreement::take_in(int peer, bool send_mine) {
  transfer(peer, send_mine, true);
  for (std::size_t i = 0; i < values_.size(); ++i)
    values_[i] = combined_[i] == combine::sum ? values_[i] + at_->theirs[i] : std::max(values_[i], at_->theirs[i]);
}

// After a failure a rank still sends, but an empty message, which its peers take for a failure. So all who hear it
// know.
void agreement::transfer(int peer, bool sends, bool receives) {
  const std::size_t bytes = values_.size_bytes();
  bool abandoned = false;
  std::copy(values_.begin(), values_.end(), at_->mine.begin());
  if (receives) over_.receive(peer, agreement_tag, reinterpret_cast<std::byte*>(at_->theirs.data()), bytes, 0);
  if (sends)
    over_.send(peer, agreement_tag, reinterpret_cast<const std::byte*>(at_->mine.data()), failure_ ? 0 : bytes, 1);
  for (std::size_t ended = 0; ended < std::size_t{sends} + receives;) {
    arrived_.clear();
    over_.poll(arrived_);
    ended += arrived_.size();
    for (const ended_transfer& one : arrived_) {
      abandoned = abandoned || one.abandoned;
      if (one.failure) failure_.note(one.failure);
      else if (one.ticket == 0 && one.bytes != bytes) failure_.note(blocks_lost());
    }
    arrived_.empty() ? wait_.idle() : wait_.progressed();
  }
  if (!abandoned) return;
  abandoned_ = true;
  [[maybe_unused]] const auto* const left = at_.release();  // never freed: the MPI may still use it
  at_ = std::make_unique<messages>();
}

}  // namespace shoal
