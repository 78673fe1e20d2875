#include "transport/waiting.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace shoal {

namespace {

// This many polls take about as long as a change to another process.
constexpr int spins_before_yield = 64;
// After this number of yields in a row without an arrival the others are busy, not waiting: sleep, and let them work.
constexpr int yields_before_sleep = 300;
// A yield that takes longer than this has let another process work. After a few of these, with hardly any others
// between them, the core is not this rank's alone, whatever was counted.
constexpr auto long_yield = std::chrono::microseconds(20);
constexpr int weight_of_long = 16, contended_from = 64, most_contended = 128;
// Some MPIs move a message by only one step with every look, so a rank looks this often before it sleeps.
constexpr int looks_at_a_time = 2;
constexpr int longest_sleep_us = 1000;
// Polls in a row are counted up to here.
constexpr int most_idle = 2 * yields_before_sleep;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

waiting::waiting(wait_mode mode, int ranks_of_a_core)
    : mode_(mode), parts_among_lookers_(std::clamp(128 / std::max(1, ranks_of_a_core), usual_parts, 32)) {}

void waiting::slept_through() {
  sleep_us_ =
      mode_ == wait_mode::sleep ? std::clamp(slept_us_ / 4, shortest_sleep_us, longest_sleep_us) : shortest_sleep_us;
  slept_us_ = 0;
}

int waiting::pause(int parts) {
  if (others_ && others_()) {
    progressed();
    return 0;
  }
  idle_ += idle_ < most_idle ? 1 : -1;  // to and fro at the end, so that a rank still sleeps after every other poll
  if (mode_ == wait_mode::spin && idle_ <= spins_before_yield) {
    pause_briefly();
    return 0;
  }
  if (mode_ == wait_mode::spin && contended_ < contended_from) {
    watch_yield();
    return 0;
  }
  if (mode_ != wait_mode::sleep && idle_ < yields_before_sleep) {
    mode_ == wait_mode::spin ? watch_yield() : static_cast<void>(sched_yield());
    return 0;
  }
  if (idle_ % looks_at_a_time != 0) return 0;
  const int now = sleep_us_;
  sleep_us_ = std::min(longest_sleep_us, now + std::max(1, now / parts));
  slept_us_ = std::min(4 * longest_sleep_us, slept_us_ + now);
  return now;
}

void waiting::watch_yield() {
  const auto begin = std::chrono::steady_clock::now();
  sched_yield();
  const bool somebody_else = std::chrono::steady_clock::now() - begin > long_yield;
  contended_ = std::clamp(contended_ + (somebody_else ? weight_of_long : -1), 0, most_contended);
}

void waiting::idle(int parts) {
  if (const int us = pause(parts)) std::this_thread::sleep_for(std::chrono::microseconds(us));
}

wait_mode parse_wait_mode(std::string_view text) {
  for (wait_mode mode : {wait_mode::spin, wait_mode::yield, wait_mode::sleep})
    if (text == to_string(mode)) return mode;
  throw std::invalid_argument("SHOAL_WAIT=" + std::string(text) + " is unknown; allowed: auto, spin, yield, sleep");
}

const char* to_string(wait_mode mode) {
  switch (mode) {
    case wait_mode::spin: return "spin";
    case wait_mode::yield: return "yield";
    default: return "sleep";
  }
}

}  // namespace shoal
