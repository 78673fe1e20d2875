#include "transport/node_window.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "transport/copy_bytes.hpp"
#include "transport/process_memory.hpp"

namespace shoal {

namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t most_bytes = std::size_t{8} << 20;
// Beside its cell a slot has a line, and one line that stays unused, because cells that are a power of two apart
// compete for the same places of a cache.
constexpr std::size_t slot_extra = 2 * line_bytes;
constexpr std::size_t largest_segment = 16384, smallest_segment = 256;

static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::int32_t>::is_always_lock_free);

std::size_t whole_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

std::size_t pairs(int ranks) { return static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks); }

}  // namespace

std::size_t node_window::segment_bytes_for(int ranks, std::size_t longest) {
  const std::size_t share = most_bytes / (pairs(ranks) * slots) / line_bytes * line_bytes;
  const std::size_t most =
      std::clamp(whole_lines(std::min(longest, largest_segment)), smallest_segment, largest_segment);
  return std::clamp(share, smallest_segment + slot_extra, most + slot_extra) - slot_extra;
}

std::size_t node_window::receipts_bytes(int ranks) {
  return whole_lines(static_cast<std::size_t>(ranks) * sizeof(receipt));
}

std::size_t node_window::bytes_for(int ranks, std::size_t longest) {
  const auto q = static_cast<std::size_t>(ranks);
  return q * (sizeof(sleeper) + receipts_bytes(ranks)) +
         pairs(ranks) * slots * (segment_bytes_for(ranks, longest) + slot_extra);
}

node_window::node_window(std::byte* memory, int ranks, int rank, std::size_t read_from, std::size_t longest)
    : ranks_(ranks),
      rank_(rank),
      segment_bytes_(segment_bytes_for(ranks, longest)),
      cell_bytes_(segment_bytes_ + line_bytes),
      read_from_(read_from),
      sleepers_(reinterpret_cast<sleeper*>(memory)),
      receipts_(reinterpret_cast<std::byte*>(sleepers_ + ranks)),
      lines_(reinterpret_cast<line*>(receipts_ + static_cast<std::size_t>(ranks) * receipts_bytes(ranks))),
      cells_(reinterpret_cast<std::byte*>(lines_ + pairs(ranks) * slots)),
      peers_(static_cast<std::size_t>(ranks)),
      proof_(random_proof()) {
  sleepers_[rank].process = getpid();
  sleepers_[rank].proof = proof_;
  sleepers_[rank].proof_at = &proof_;
}

node_window::receipt& node_window::receipt_of(int receiver, int sender) {
  std::byte* const row = receipts_ + static_cast<std::size_t>(receiver) * receipts_bytes(ranks_);
  return reinterpret_cast<receipt*>(row)[sender];
}

// Whether the peer has taken all segments but the last `most`.
bool node_window::has_taken_all_but(int peer, std::uint32_t most) {
  state& at = peers_[peer];
  if (at.pushed - at.taken <= most) return true;
  at.taken = receipt_of(peer, rank_).taken.load(std::memory_order_acquire);
  return at.pushed - at.taken <= most;
}

void node_window::publish(int peer, line& filled, std::uint64_t bytes, bool offered) {
  state& at = peers_[peer];
  filled.taken = at.pulled;
  filled.bytes = bytes;
  filled.offered = offered;
  filled.exchange = exchange_;
  filled.number.store(++at.pushed, std::memory_order_release);
  ++segments_moved_;
}

bool node_window::offer(int peer, outgoing& message) {
  if (!has_taken_all_but(peer, slots - 1)) return false;
  line& to = line_of(rank_, peer, peers_[peer].pushed);
  std::memcpy(to.data, &message.data, sizeof message.data);
  publish(peer, to, message.bytes, true);
  message.offered = true;
  return false;
}

bool node_window::push(int peer, outgoing& message) {
  if (message.offered && !message.refused) {
    if (!has_taken_all_but(peer, 0)) return false;
    message.refused = receipt_of(peer, rank_).is_refusal.load(std::memory_order_relaxed);
    if (!message.refused) return true;
  }
  if (message.bytes >= read_from_ && !message.refused) return offer(peer, message);
  for (bool more = true; more;) {
    if (!has_taken_all_but(peer, slots - 1)) return false;
    line& to = line_of(rank_, peer, peers_[peer].pushed);
    const std::uint64_t segment = std::min<std::uint64_t>(message.bytes, segment_bytes_);
    copy_bytes(place_of(to, message.bytes), message.data, segment);
    publish(peer, to, message.bytes, false);
    more = message.bytes > segment;
    message.data += segment;
    message.bytes -= segment;
  }
  return true;
}

// Whether the process with the peer's number is the peer, and lets this one read its memory.
bool node_window::may_read(int peer) {
  std::optional<bool>& known = peers_[peer].readable;
  const sleeper& its = sleepers_[peer];
  std::uint64_t proof = 0;
  auto* const here = reinterpret_cast<std::byte*>(&proof);
  const auto* const there = reinterpret_cast<const std::byte*>(its.proof_at);
  if (!known)
    known = its.proof && read_process_memory(its.process, there, here, sizeof proof) == 0 && proof == its.proof;
  return *known;
}

// Reads from where an offer says that the data are. Returns 0, or the number of an error.
int node_window::read(int peer, const line& offer, std::byte* to, std::size_t bytes) {
  const std::byte* there;
  std::memcpy(&there, offer.data, sizeof there);
  return may_read(peer) ? read_process_memory(sleepers_[peer].process, there, to, bytes) : EPERM;
}

void node_window::take(int peer) {
  receipt_of(rank_, peer).taken.store(++peers_[peer].pulled, std::memory_order_release);
  ++segments_moved_;
}

// Returns false if the offer is refused. An offer whose sender has ended is not, because the message can come in no
// other way.
bool node_window::take_offer(int peer, const line& offer, incoming& message, std::size_t bytes) {
  const int error = read(peer, offer, message.data, bytes);
  const bool refused = error != 0 && error != ESRCH;
  message.error = refused ? 0 : error;
  receipt_of(rank_, peer).is_refusal.store(refused, std::memory_order_relaxed);
  take(peer);
  return !refused;
}

void node_window::drop_stale() {
  for (int peer = 0; peer < ranks_; ++peer)
    if (peer != rank_) drop_stale(peer);
}

void node_window::drop_stale(int peer) {
  const state& at = peers_[peer];
  for (;;) {
    const line& from = line_of(peer, rank_, at.pulled);
    if (from.number.load(std::memory_order_acquire) != at.pulled + 1) return;
    if (from.exchange >= exchange_) return;
    take(peer);
  }
}

bool node_window::pull(int peer, incoming& message) {
  for (bool more = true; more;) {
    state& at = peers_[peer];
    line& from = line_of(peer, rank_, at.pulled);
    if (from.number.load(std::memory_order_acquire) != at.pulled + 1) return false;
    if (static_cast<std::int32_t>(from.taken - at.taken) > 0) at.taken = from.taken;
    if (from.exchange > exchange_) return true;
    if (from.exchange < exchange_) {
      take(peer);
      continue;
    }
    const std::uint64_t bytes = from.bytes,
                        segment = from.offered ? bytes : std::min<std::uint64_t>(bytes, segment_bytes_);
    const std::size_t fits = std::min<std::size_t>(segment, message.capacity);
    if (from.offered) {
      if (!take_offer(peer, from, message, fits)) continue;
    } else {
      copy_bytes(message.data, place_of(from, bytes), fits);
      take(peer);
    }
    message.cut = message.cut || segment > fits;
    message.data += fits;
    message.capacity -= fits;
    more = bytes > segment;
  }
  return true;
}

bool node_window::has_moved(int peer) {
  state& at = peers_[peer];
  const std::uint32_t taken = receipt_of(peer, rank_).taken.load(std::memory_order_acquire);
  if (std::exchange(at.taken, taken) != taken) return true;
  return line_of(peer, rank_, at.pulled).number.load(std::memory_order_acquire) == at.pulled + 1;
}

void node_window::announce_sleep(int peer) {
  sleepers_[rank_].sleeper_waits_for.store(peer + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void node_window::sleep(int peer, int microseconds) {
  const timespec most{0, microseconds * 1000L};
  syscall(SYS_futex, &sleepers_[rank_].sleeper_waits_for, FUTEX_WAIT, peer + 1, &most, nullptr, 0);
}

void node_window::end_sleep() { sleepers_[rank_].sleeper_waits_for.store(0, std::memory_order_relaxed); }

void node_window::wake_those_waiting() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (int peer = 0; peer < ranks_; ++peer) {
    std::atomic<std::int32_t>& waits_for = sleepers_[peer].sleeper_waits_for;
    if (waits_for.load(std::memory_order_relaxed) != rank_ + 1) continue;
    waits_for.store(0, std::memory_order_relaxed);
    syscall(SYS_futex, &waits_for, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
}

}  // namespace shoal
