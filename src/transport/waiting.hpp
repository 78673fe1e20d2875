// How a rank waits if nothing has arrived. If ranks outnumber cores, nothing else matters as much.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

namespace shoal {

// spin: every rank has a core. Poll for about the time of a change to another process, then yield after every poll.
// Never sleep, unless yielding shows that others want the core.
// yield: ranks outnumber cores. Let another rank run after every poll, and sleep if that brings nothing.
// sleep: sleep after every other poll, first for a quarter of the wait before. The most polite, but what arrives is
// seen late, by up to a quarter of the time for which the rank has waited.
enum class wait_mode { spin, yield, sleep };

// "spin", "yield" or "sleep"; throws std::invalid_argument.
wait_mode parse_wait_mode(std::string_view text);
const char* to_string(wait_mode mode);

class waiting {
 public:
  explicit waiting(wait_mode mode = wait_mode::spin, int ranks_of_a_core = 1);
  wait_mode mode() const { return mode_; }
  // Call progressed() after a poll that brought something, and idle() after one that did not.
  void progressed() {
    idle_ = 0;
    if (slept_us_ > 0) slept_through();
  }
  // If this sleeps, then for about the wait so far divided by `parts`: what arrives is seen late by no more than that.
  void idle(int parts = usual_parts);
  static constexpr int usual_parts = 4;
  // The `parts` for idle() if other ranks get on only while this rank looks, as in the MPI's own collectives, which
  // take several steps. There are fewer if more ranks share a core, because looks take the core from ranks that are
  // late.
  int parts_among_lookers() const { return parts_among_lookers_; }
  // `others` is called before every pause. It moves what else can move, and tells whether anything did.
  void move_meanwhile(std::function<bool()> others) { others_ = std::move(others); }
  // As idle(), but the caller sleeps, because it may be woken: for the returned number of microseconds; 0: not at all.
  int pause(int parts = usual_parts);

 private:
  static constexpr int shortest_sleep_us = 20;

  void slept_through();
  void watch_yield();

  wait_mode mode_;
  int parts_among_lookers_;
  int idle_ = 0;  // polls in a row that brought nothing
  int sleep_us_ = shortest_sleep_us;
  int slept_us_ = 0;   // in this wait
  int contended_ = 0;  // how much others want the core
  std::function<bool()> others_;
};

}  // namespace shoal
