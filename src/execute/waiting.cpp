#include "execute/waiting.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace shoal {

namespace {

// After so many yields in a row without an arrival the others are busy, not waiting: sleep, and let them work.
constexpr int yields_before_sleep = 300;
constexpr int spins_before_yield = 20000;
constexpr int shortest_sleep_us = 20, longest_sleep_us = 500;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

void sleep_us(int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

}  // namespace

void waiting::idle() {
  ++idle_;
  switch (mode_) {
    case wait_mode::spin:
      return idle_ < spins_before_yield ? pause_briefly() : static_cast<void>(sched_yield());
    case wait_mode::yield:
      if (idle_ < yields_before_sleep) return static_cast<void>(sched_yield());
      return sleep_us(std::min(longest_sleep_us, shortest_sleep_us + (idle_ - yields_before_sleep)));
    case wait_mode::sleep:
      return sleep_us(std::min(longest_sleep_us, shortest_sleep_us + idle_));
  }
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

int quota_cores(int otherwise) {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return otherwise;
  return std::max(1, static_cast<int>(std::ceil(std::stod(quota) / period)));
}

int usable_cores() {
  cpu_set_t set;
  const int affinity = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return std::max(1, std::min(affinity, quota_cores(affinity)));
}

}  // namespace shoal
