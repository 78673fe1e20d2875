#include "learn/exchange_fields.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "select/plain_text.hpp"

namespace shoal {

namespace {

constexpr std::uint64_t keys_of_blocks = 64;

std::uint64_t key_of_block(std::int64_t bytes) {
  return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(bytes)));
}

}  // namespace

void exchange_field::add(int candidate, double took, double now) {
  note(candidate, took);
  trials.took(took, load, now);
}

void exchange_field::note(int candidate, double took) {
  ++calls[candidate];
  loads += load;
  seconds[candidate] += took;
  if (candidate == contest::native) bytes += static_cast<std::int64_t>(load);
}

double exchange_field::mean_load() const {
  const auto counted = std::accumulate(calls.begin(), calls.end(), std::int64_t{0});
  return loads / static_cast<double>(std::max<std::int64_t>(1, counted));
}

std::string exchange_field::summary(std::span<const std::string> specs) const {
  const int candidates = std::max(1, static_cast<int>(specs.size()));
  bool is_timed = false;
  for (int i = 0; i < candidates; ++i) is_timed |= trials.record_of(i).all_calls > 0;
  std::string text = "after " + counted(young + trials.calls(), "call");
  if (!is_timed) return text + ", nothing timed yet";
  for (std::size_t i = 0; i < static_cast<std::size_t>(candidates); ++i) {
    const contest::record& r = trials.record_of(static_cast<int>(i));
    const std::string times = " " + with_decimals(r.mean * 1e6, 1) + " us in " + counted(r.all_calls, "timed call");
    text += (i ? ", " : ": ") + (i ? specs[i] : std::string("native")) + (r.all_calls ? times : " not tried") +
            (static_cast<int>(i) == trials.choice() ? " (kept)"
             : r.dropped && r.delays                ? " (dropped: the program went on no faster)"
             : r.dropped                            ? " (dropped: slower)"
                                                    : "");
  }
  return text;
}

double exchange_fields::load_of(const call_size& call) const {
  return static_cast<double>(call.bytes) * (are_known_sizes(call.form) ? ranks_ : 1);
}

exchange_field& exchange_fields::of_next(const call_size& call, bool& is_new) {
  const std::uint64_t key = key_of_next(call);
  is_new = false;
  if (!last_ || key != last_key_) {
    const auto [it, made] = all_.try_emplace(key);
    is_new = made;
    last_ = &it->second;
    last_key_ = key;
  }
  if (is_new || !are_known_sizes(call.form)) last_->load = load_of(call);
  return *last_;
}

std::uint64_t exchange_fields::key_of(call_form form, std::uint64_t place) {
  return keys_of_blocks + 1 + place * call_forms.size() + static_cast<std::uint64_t>(form);
}

// For MPI_Alltoall all ranks know the size, and the key is its power of two. For other calls no rank knows the sizes of
// the others, but all know the number of the call.
std::uint64_t exchange_fields::key_of_next(const call_size& call) {
  if (are_known_sizes(call.form)) return key_of_block(call.bytes);
  return key_of(call.form, sizes_.place_of_next(load_of(call)));
}

exchange_field* exchange_fields::known(call_form form, std::int64_t bytes) {
  const bool equal = are_known_sizes(form);
  if (all_.empty() || (!equal && sizes_.alternates())) return nullptr;
  const std::uint64_t key = equal ? key_of_block(bytes) : key_of(form, sizes_.only_place());
  if (last_ && key == last_key_) return last_;
  const auto it = all_.find(key);
  if (it == all_.end()) return nullptr;
  last_key_ = key;
  return last_ = &it->second;
}

void exchange_fields::forget(const exchange_field& f) {
  if (last_ == &f) last_ = nullptr;
  std::erase_if(all_, [&](const auto& of_key) { return &of_key.second == &f; });
}

double exchange_fields::largest_usual_load() const {
  constexpr std::int64_t rare = 8;  // a rare field has fewer than one call in this many
  std::int64_t calls = 0;
  for (const auto& [key, f] : all_) calls += f.trials.calls();
  double largest = 0;
  for (const auto& [key, f] : all_)
    if (rare * f.trials.calls() >= calls) largest = std::max(largest, f.mean_load());
  return largest;
}

bool exchange_fields::is_as_last(std::int64_t bytes) const { return last_ && last_key_ == key_of_block(bytes); }

}  // namespace shoal
