#include "learn/exchange_fields.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace shoal {

void exchange_field::add(int candidate, double took) {
  ++calls[candidate];
  loads += load;
  seconds[candidate] += took;
  of.took(took);
}

std::string exchange_field::told(std::span<const std::string> specs) const {
  std::string text = "after " + std::to_string(young + of.calls()) + " calls";
  for (std::size_t i = 0; i < std::max<std::size_t>(1, specs.size()); ++i) {
    const contest::record& r = of.of(static_cast<int>(i));
    char part[96];
    std::snprintf(part, sizeof part, " %.1f us in %d calls", r.mean * 1e6, r.all_calls);
    text += (i ? ", " : ": ") + (i ? specs[i] : std::string("native")) + (r.all_calls ? part : " not tried") +
            (r.dropped                          ? " (dropped: slower)"
             : static_cast<int>(i) == of.best() ? " (kept)"
                                                : "");
  }
  return text;
}

double exchange_fields::load_of(const call_size& call) const {
  return static_cast<double>(call.bytes) * (call.form == call_form::equal ? ranks_ : 1);
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
  if (is_new || call.form != call_form::equal) last_->load = load_of(call);
  return *last_;
}

// All ranks know the size of MPI_Alltoall, to its power of two. Of other forms no rank knows the sizes of the others, but
// all know the number of the call.
std::uint64_t exchange_fields::key_of_next(const call_size& call) {
  constexpr std::uint64_t sizes = 64;
  if (call.form == call_form::equal)
    return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(call.bytes)));
  const std::uint64_t place = sizes_.place_of_next(load_of(call));
  return sizes + 1 + place * call_forms.size() + static_cast<std::uint64_t>(call.form);
}

double exchange_fields::native_seconds() const {
  double sum = 0;
  for (const auto& [key, f] : all_) sum += f.of.native_seconds();
  return sum;
}

}  // namespace shoal
