// How a rank waits when nothing has arrived: the first-order effect when ranks outnumber cores.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

namespace shoal {

// spin: a core for every rank: poll for about the time of a change to another process, then yield after every poll, and
// never sleep, unless yielding shows that others want the core.
// yield: ranks outnumber cores; let another rank run after every poll, and sleep when that brings nothing.
// sleep: sleep after every other poll, first for a quarter of the wait before; the most polite, but sees what arrives
// late by a quarter of the time it was waited for.
enum class wait_mode { spin, yield, sleep };

// "spin", "yield" or "sleep"; throws std::invalid_argument.
wait_mode parse_wait_mode(std::string_view text);
const char* to_string(wait_mode mode);

class waiting {
 public:
  explicit waiting(wait_mode mode = wait_mode::spin, int ranks_of_a_core = 1);
  wait_mode mode() const { return mode_; }
  // Call after a poll that brought something, or one that did not.
  void progressed() {
    idle_ = 0;
    if (slept_us_ > 0) slept_through();
  }
  // Sleeps, if it does, for about one part in so many of the wait so far: what arrives is seen late by no more.
  void idle(int parts = usual_parts);
  static constexpr int usual_parts = 4;
  // Of so many where others get on only while this rank looks, as in the MPI's own collectives, which take several steps. The
  // more ranks share a core, the more their looks take from those that are late.
  int parts_among_lookers() const { return parts_among_lookers_; }
  // What else can move while this rank waits, and tells whether anything did: called before every pause.
  void move_meanwhile(std::function<bool()> others) { others_ = std::move(others); }
  // As idle(), but the caller sleeps, since it may be woken: for the returned number of microseconds, 0 for not at all.
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
