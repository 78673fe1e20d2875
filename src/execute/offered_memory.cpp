#include "execute/offered_memory.hpp"

#include <algorithm>
#include <bit>
#include <system_error>
#include <utility>

namespace shoal {

namespace {

enum term : std::size_t { made_by, made_as, proof, made_at, not_made };

}  // namespace

double offered_memory::usual_time_to_make(std::size_t most, int ranks) const {
  constexpr double byte = 0.3e-9;  // to set one aside and clear it
  return byte * static_cast<double>(bytes_for(most, ranks));
}

void offered_memory::make(std::size_t most, int ranks, std::span<std::int64_t> said) {
  try {
    memory_ = shared_memory::create(bytes_for(most, ranks));
    const shared_memory::key where = memory_.where();
    said[made_by] = where.process;
    said[made_as] = where.descriptor;
    said[proof] = static_cast<std::int64_t>(where.proof);
    said[made_at] = std::bit_cast<std::int64_t>(where.begin);
    said[not_made] = 0;
  } catch (const std::system_error& error) {
    said[not_made] = error.code().value();
  }
}

// If nobody made an offer, the terms are the smallest number there is. An offer whose memory could not be made counts
// too.
bool offered_memory::is_made(std::span<const std::int64_t> heard) { return heard[not_made] >= 0; }

void offered_memory::map(std::size_t most, int ranks, int rank, std::span<const std::int64_t> heard) {
  const shared_memory::key where{heard[made_by], heard[made_as], static_cast<std::uint64_t>(heard[proof]),
                                 std::bit_cast<const std::byte*>(heard[made_at])};
  error_ = std::max<std::int64_t>(0, heard[not_made]);
  try {
    if (rank != 0 && !error_) memory_ = shared_memory::open(where, bytes_for(most, ranks));
  } catch (const std::system_error& failed) {
    error_ = failed.code().value();
  }
  if (!error_) memory_.clear_part(static_cast<std::size_t>(rank), static_cast<std::size_t>(ranks));
  unreadable_ = error_ || !may_read(where);
  mapped_for_ = most;
  mapped_as_ = size_(most, ranks);
}

node_exchange::mapped offered_memory::take(std::int64_t error, bool unreadable) {
  const std::size_t most = std::exchange(mapped_for_, 0);
  error_ = 0;
  unreadable_ = false;
  if (error == 0) largest_exchange_ = most;
  return {std::exchange(memory_, {}), !unreadable, mapped_as_};
}

}  // namespace shoal
