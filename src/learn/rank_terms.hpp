// What the ranks of a communicator tell each other when they agree on what Shoal may do there: each says its numbers, and
// all hear the largest of each.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "select/contest.hpp"
#include "select/size_pattern.hpp"

namespace shoal {

// A rank that exchanges more than so many bytes in place may have no memory for a copy of them.
constexpr std::int64_t most_copied = std::int64_t{64} << 20;

// In place of a number that a rank does not say: the least there is.
constexpr std::int64_t unsaid = std::numeric_limits<std::int64_t>::min();

// In seconds.
struct rank_times {
  static constexpr std::size_t terms = 5;

  double agreement = 0;  // what this rank waited for the last one; 0: there was none
  double allowance = 0;  // what the ledger would allow had this rank paid nothing since all heard what it paid
  double paid = 0;       // since then
  double lost = 0;       // what the last one takes where all wait for it, if this rank could have gone on instead

  void write(std::span<std::int64_t> said) const;
};

// What one rank says.
struct rank_terms {
  std::uint64_t settings = 0, profile = 0, wisdom = 0, node = 0, domain = 0;  // on all ranks the same, or not
  std::uint64_t calls = 0;      // that this rank has counted; the same on all, or Shoal serves them no more
  bool is_unusable = false;     // its settings
  bool knows_nothing = false;   // from a profile or wisdom
  bool is_full = false;         // of communicators
  bool is_unlisted = false;     // it cannot remember that these ranks have voted
  bool has_full_notes = false;  // nor what came of it, where it remembers nothing of that yet
  bool has_devices = false;
  int cores = 1, ranks_of_a_core = 1;
  rank_times times;
  std::int64_t memory_error = 0;  // the number of it, of memory that was offered
  bool is_unreadable = false;     // the first rank's memory, directly
  // Of the exchanges that are agreed on, if any are:
  std::int64_t copied = 0;  // as of call_size
  double hope = 0;          // seconds that may be gained
  std::uint64_t guess = 0;  // the hash of what was best elsewhere in the job; 0: nothing is known
  std::array<std::int64_t, contest::terms> of_contest;
  std::array<std::int64_t, size_pattern::longest> no_pattern;
  double largest_load = 0;  // bytes that this rank sends in the largest of the communicator's usual exchanges

  rank_terms();
  // Without a contest: bytes that this rank sends in an exchange.
  void set_load(double bytes);
  std::vector<std::int64_t> numbers() const;
};

// For so many bytes that a rank sends memory is made, where exchanges have this load. Each page of it costs time, so there is
// twice what they need, which lets sizes grow, and no more. Agreements go through it too.
std::size_t room_for(double load, int ranks);

// As guesses are said and heard.
std::int64_t guess_of(std::uint64_t hash);

// What all ranks hear, the same on each.
class agreed_terms {
 public:
  agreed_terms() = default;
  explicit agreed_terms(std::span<const std::int64_t> largest) : all_(largest.begin(), largest.end()) {}

  bool same_settings() const;
  bool same_profile() const;
  bool same_wisdom() const;
  bool same_node() const;
  bool same_calls() const;
  bool some_unusable() const;
  bool some_know_nothing() const;
  bool some_full() const;
  bool some_unlisted() const;
  bool some_have_full_notes() const;
  bool have_devices() const;
  int cores() const;            // of the rank that may use fewest
  int ranks_of_a_core() const;  // where there are most
  std::int64_t memory_error() const;
  bool some_unreadable() const;

  // Seconds; 0: no rank has waited for an agreement yet.
  double shortest_agreement() const;
  double longest_agreement() const;
  // Seconds that the rank which paid least has paid since all heard of it, and what the ledgers allow besides.
  double paid() const;
  double allowance() const;
  // Of the rank that loses most.
  double lost() const;
  // What ranks have said of their times since.
  void take_times(std::span<const std::int64_t> later);

  // Whether Shoal would need too much memory besides on some rank.
  bool some_copy_much() const;
  double hope() const;
  std::int64_t guess() const;
  bool know_load() const;
  double load() const;  // of the rank that sends most, in bytes
  std::span<const std::int64_t> of_contest() const;
  std::span<const std::int64_t> no_pattern() const;

  // For all exchanges that are usual on the communicator.
  std::size_t room(int ranks) const;

 private:
  bool is_same(std::size_t at) const { return all_[at] == -all_[at + 1]; }

  std::vector<std::int64_t> all_;
};

}  // namespace shoal
