#include "learn/rank_terms.hpp"

#include <algorithm>
#include <cmath>

#include "transport/node_window.hpp"

namespace shoal {

namespace {

// The ranks hear the largest of each number. If all must say the same, they say the number and its negative; if the
// least counts, they say its negative.
enum term : std::size_t {
  settings_hash,
  profile_hash = settings_hash + 2,
  wisdom_hash = profile_hash + 2,
  node_hash = wisdom_hash + 2,
  domain_hash = node_hash + 2,
  call_number = domain_hash + 2,
  unusable = call_number + 2,
  knowing_nothing,
  full,
  votes_unnoted,
  full_notes,
  devices,
  few_cores,
  crowding,
  times,
  of_memory = times + rank_times::terms,
  unreadable,
  copied_bytes,
  hoped,
  guessed,
  in_contest,
  patternless = in_contest + contest::terms,
  largest = patternless + size_pattern::longest,
  said_first,
  said_last,
  all_terms
};
constexpr std::size_t agreed_least = 0, agreed_most = 1, allowed_least = 2, paid_least = 3,
                      lost_most = 4;  // offsets from `times`

constexpr std::size_t in_quarters = in_contest + contest::load_term;  // the load, in quarters of powers of two

double seconds_of(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }
std::int64_t nanoseconds_of(double seconds) { return std::llround(seconds * 1e9); }
std::int64_t half_of(std::uint64_t hash) { return static_cast<std::int64_t>(hash >> 1); }

void say_same(std::span<std::int64_t> all, std::size_t at, std::uint64_t hash) {
  all[at] = half_of(hash);
  all[at + 1] = -half_of(hash);
}

}  // namespace

std::int64_t guess_of(std::uint64_t hash) { return half_of(hash); }

std::size_t room_for(double load, int ranks) {
  constexpr double page = 4096, large = 1 << 18;
  const double room = std::ceil(std::max(2 * load, 8.0 * static_cast<double>(all_terms) * ranks) / page) * page;
  return room < large ? static_cast<std::size_t>(room) : node_window::any;
}

void rank_times::write(std::span<std::int64_t> said) const {
  const std::int64_t waited = nanoseconds_of(agreement);
  said[agreed_least] = waited > 0 ? -waited : unsaid;
  said[agreed_most] = waited > 0 ? waited : unsaid;
  said[allowed_least] = -nanoseconds_of(allowance);
  said[paid_least] = -nanoseconds_of(paid);
  said[lost_most] = nanoseconds_of(lost);
}

rank_terms::rank_terms() {
  of_contest.fill(unsaid);
  set_load(0);
  no_pattern.fill(unsaid);
}

void rank_terms::set_load(double bytes) {
  of_contest[contest::load_term] = bytes > 0 ? std::llround(4 * std::log2(bytes)) : 0;
}

std::vector<std::int64_t> rank_terms::numbers() const {
  std::vector<std::int64_t> all(all_terms);
  say_same(all, settings_hash, settings);
  say_same(all, profile_hash, profile);
  say_same(all, wisdom_hash, wisdom);
  say_same(all, node_hash, node);
  say_same(all, domain_hash, domain);
  say_same(all, call_number, calls << 1);
  all[unusable] = is_unusable;
  all[knowing_nothing] = knows_nothing;
  all[full] = is_full;
  all[votes_unnoted] = cannot_note_vote;
  all[full_notes] = has_full_notes;
  all[devices] = has_devices;
  all[few_cores] = -cores;
  all[crowding] = ranks_of_a_core;
  times.write(std::span(all).subspan(term::times));
  all[of_memory] = memory_error;
  all[unreadable] = is_unreadable;
  all[copied_bytes] = copied;
  all[hoped] = nanoseconds_of(hope);
  all[guessed] = half_of(guess);
  std::copy(of_contest.begin(), of_contest.end(), all.begin() + in_contest);
  std::copy(no_pattern.begin(), no_pattern.end(), all.begin() + patternless);
  all[largest] = std::llround(largest_load);
  all[said_first] = -nanoseconds_of(said_at);
  all[said_last] = nanoseconds_of(said_at);
  return all;
}

bool agreed_terms::same_settings() const { return is_same(settings_hash); }
bool agreed_terms::same_profile() const { return is_same(profile_hash); }
bool agreed_terms::same_wisdom() const { return is_same(wisdom_hash); }
bool agreed_terms::same_node() const { return is_same(node_hash) && is_same(domain_hash); }
bool agreed_terms::same_calls() const { return is_same(call_number); }
double agreed_terms::seconds_apart() const { return seconds_of(all_[said_last] + all_[said_first]); }
bool agreed_terms::some_unusable() const { return all_[unusable] != 0; }
bool agreed_terms::some_know_nothing() const { return all_[knowing_nothing] != 0; }
bool agreed_terms::some_full() const { return all_[full] != 0; }
bool agreed_terms::some_cannot_note_vote() const { return all_[votes_unnoted] != 0; }
bool agreed_terms::some_have_full_notes() const { return all_[full_notes] != 0; }
bool agreed_terms::have_devices() const { return all_[devices] != 0; }
int agreed_terms::cores() const { return -static_cast<int>(all_[few_cores]); }
int agreed_terms::ranks_of_a_core() const { return static_cast<int>(std::max<std::int64_t>(1, all_[crowding])); }
std::int64_t agreed_terms::memory_error() const { return all_[of_memory]; }
bool agreed_terms::some_unreadable() const { return all_[unreadable] != 0; }

double agreed_terms::shortest_agreement() const {
  const std::int64_t least = all_[times + agreed_least];
  return least == unsaid ? 0 : -seconds_of(least);
}

double agreed_terms::longest_agreement() const {
  const std::int64_t most = all_[times + agreed_most];
  return most == unsaid ? 0 : seconds_of(most);
}

double agreed_terms::paid() const { return -seconds_of(all_[times + paid_least]); }
double agreed_terms::allowance() const { return -seconds_of(all_[times + allowed_least]) - paid(); }

double agreed_terms::lost() const { return seconds_of(all_[times + lost_most]); }

void agreed_terms::take_times(std::span<const std::int64_t> later) {
  const std::int64_t least = std::max(all_[times + agreed_least], later[agreed_least]);
  std::copy_n(later.begin(), rank_times::terms, all_.begin() + times);
  all_[times + agreed_least] = least;
}

bool agreed_terms::some_copy_much() const { return all_[copied_bytes] > most_copied; }
double agreed_terms::hope() const { return seconds_of(all_[hoped]); }
std::int64_t agreed_terms::guess() const { return all_[guessed]; }
bool agreed_terms::know_load() const { return all_[in_quarters] > 0; }
double agreed_terms::load() const { return std::exp2(static_cast<double>(all_[in_quarters]) / 4); }
std::span<const std::int64_t> agreed_terms::of_contest() const {
  return std::span(all_).subspan(in_contest, contest::terms);
}
std::span<const std::int64_t> agreed_terms::no_pattern() const {
  return std::span(all_).subspan(patternless, size_pattern::longest);
}

std::size_t agreed_terms::room(int ranks) const {
  return room_for(std::max(load(), static_cast<double>(all_[largest])), ranks);
}

}  // namespace shoal
