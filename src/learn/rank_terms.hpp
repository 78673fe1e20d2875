// What the ranks of a communicator tell each other when they agree on what Shoal may do there. Each rank says its
// numbers, and all hear the largest of each.
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

// Stands for a number that a rank does not say: the least there is, so that what any other rank says is larger.
constexpr std::int64_t unsaid = std::numeric_limits<std::int64_t>::min();

// What a rank says about its times, in seconds.
struct rank_times {
  static constexpr std::size_t terms = 5;

  double agreement = 0;  // how long this rank waited for the last agreement; 0: there was none
  double allowance = 0;  // what the ledger would allow if this rank had paid nothing since all last heard what it paid
  double paid = 0;       // what this rank has paid since then
  double lost = 0;       // the wait for all in the last agreement, if this rank could have gone on instead; else 0

  void write(std::span<std::int64_t> said) const;
};

// What one rank says.
struct rank_terms {
  std::uint64_t settings = 0, profile = 0, wisdom = 0, node = 0, domain = 0;  // compared between ranks
  std::uint64_t calls = 0;        // that this rank has counted; if ranks differ in it, Shoal no longer serves them
  bool is_unusable = false;       // its settings cannot be used
  bool knows_nothing = false;     // it has neither a profile nor wisdom
  bool is_full = false;           // it may open no more communicators
  bool cannot_note_vote = false;  // it cannot remember that these ranks have voted
  bool has_full_notes = false;    // it cannot begin to remember what came of their agreements
  bool has_devices = false;
  int cores = 1, ranks_of_a_core = 1;
  double said_at = 0;  // seconds of node_clock()
  rank_times times;
  std::int64_t memory_error = 0;  // the error number if this rank could not map offered memory; else 0
  bool is_unreadable = false;     // this rank cannot read the first rank's memory directly
  // About the exchanges that are agreed on, if there are any:
  std::int64_t copied = 0;  // as in call_size
  double hope = 0;          // seconds that may be gained
  std::uint64_t guess = 0;  // the hash of the spec that was best elsewhere in the job; 0: nothing is known
  std::array<std::int64_t, contest::terms> of_contest;
  std::array<std::int64_t, size_pattern::longest> no_pattern;
  double largest_load = 0;  // bytes that this rank sends in the largest of the communicator's usual exchanges

  rank_terms();
  // Without a contest: sets the load, the bytes that this rank sends in an exchange.
  void set_load(double bytes);
  std::vector<std::int64_t> numbers() const;
};

// How large an exchange memory is made for, in bytes that a rank sends, if exchanges have this load. Each page of
// memory costs time, so there is room for twice what exchanges need, which lets sizes grow, and no more. Agreements go
// through this memory too.
std::size_t room_for(double load, int ranks);

// The number that stands for a guess with this hash when ranks say and hear it.
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
  // Seconds between the first and the last rank that said its terms; only if all are on one node.
  double seconds_apart() const;
  bool some_unusable() const;
  bool some_know_nothing() const;
  bool some_full() const;
  bool some_cannot_note_vote() const;
  bool some_have_full_notes() const;
  bool have_devices() const;
  int cores() const;            // of the rank that may use fewest
  int ranks_of_a_core() const;  // on the rank that says most; at least 1
  std::int64_t memory_error() const;
  bool some_unreadable() const;

  // Seconds of the shortest and of the longest wait for the last agreement; 0: no rank has waited for one yet.
  double shortest_agreement() const;
  double longest_agreement() const;
  // paid(): seconds that the rank which paid least has paid since all last heard of it. allowance(): seconds that every
  // ledger allows if it is charged only that.
  double paid() const;
  double allowance() const;
  // Seconds that the rank which loses most loses in an agreement.
  double lost() const;
  // Replaces the times by what the ranks have said later. The shortest agreement is that of both.
  void take_times(std::span<const std::int64_t> later);

  // Whether Shoal would need too much memory for copies on some rank.
  bool some_copy_much() const;
  double hope() const;
  std::int64_t guess() const;
  bool know_load() const;
  double load() const;  // of the rank that sends most, in bytes
  std::span<const std::int64_t> of_contest() const;
  std::span<const std::int64_t> no_pattern() const;

  // room_for() all exchanges that are usual on the communicator.
  std::size_t room(int ranks) const;

 private:
  bool is_same(std::size_t at) const { return all_[at] == -all_[at + 1]; }

  std::vector<std::int64_t> all_;
};

}  // namespace shoal
