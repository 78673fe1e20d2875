#include "select/size_mix.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace shoal {

int size_mix::class_of(double bytes) {
  const auto above = static_cast<std::uint64_t>(std::clamp(bytes, 0.0, 1e15)) >> 8;
  return std::min(classes - 1, (static_cast<int>(std::bit_width(above)) + 1) / 2);
}

// A call that took very long was disturbed, and does not count in full.
void size_mix::times::add(double taken) {
  constexpr double few = 3, odd = 4;
  seconds += calls > few ? std::min(taken, odd * seconds / calls) : taken;
  ++calls;
}

void size_mix::add(int candidate, int size, double seconds) {
  if (all_ >= remembered) count_as(0.5);
  of_all_[size].add(seconds);
  if (of_.size() <= static_cast<std::size_t>(candidate)) of_.resize(static_cast<std::size_t>(candidate) + 1);
  of_[static_cast<std::size_t>(candidate)][size].add(seconds);
  ++all_;
}

// What hardly counts any more fades no further: at 0 it would have no mean.
void size_mix::count_as(double weight) {
  constexpr double least = 1e-9;
  const auto fade = [=](by_size& sizes) {
    for (times& of : sizes)
      if (of.calls > least) of = {of.calls * weight, of.seconds * weight};
  };
  fade(of_all_);
  std::for_each(of_.begin(), of_.end(), fade);
  all_ *= weight;
}

const size_mix::times& size_mix::of(int candidate, int size) const {
  static constexpr times none;
  const auto at = static_cast<std::size_t>(candidate);
  return at < of_.size() ? of_[at][size] : none;
}

double size_mix::mean(int candidate, int size) const {
  const times& own = of(candidate, size);
  const times& known = own.calls > 0 ? own : of_all_[size];
  return known.seconds / known.calls;
}

double size_mix::mean(int candidate) const {
  double sum = 0;
  bool served = false;
  for (int size = 0; size < classes; ++size) {
    if (share(size) > 0) sum += share(size) * mean(candidate, size);
    served |= of(candidate, size).calls > 0;
  }
  return served ? sum : 0;
}

bool size_mix::varies() const {
  return std::count_if(of_all_.begin(), of_all_.end(), [](const times& size) { return size.calls > 0; }) > 1;
}

void trial_times::add(int size, double seconds, double typical) {
  ++calls_;
  ++calls_of_[size];
  seconds_of_[size] += seconds;
  const double ratio = typical > 0 ? seconds / typical : 1;  // coarse clocks may measure 0
  if (ratio <= longest_ratio_) return;
  longest_ratio_ = ratio;
  longest_ = seconds;
  longest_size_ = size;
}

double trial_times::mean(const size_mix& usual, int candidate) const {
  const bool leaves_longest = calls_ >= 4;
  double sum = 0;
  for (int size = 0; size < size_mix::classes; ++size) {
    const double share = usual.share(size);
    if (share == 0) continue;
    const bool less = leaves_longest && size == longest_size_;
    const int calls = calls_of_[size] - less;
    sum += share * (calls > 0 ? (seconds_of_[size] - less * longest_) / calls : usual.mean(candidate, size));
  }
  return sum;
}

}  // namespace shoal
