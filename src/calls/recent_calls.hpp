// The communicators of the last calls, and the calls that repeat on them. If ranks share a core, each of them finds
// Shoal's memory cold in every call. So what most calls need to know of their communicator is in one cache line.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <utility>

#include "calls/call_signature.hpp"
#include "calls/users_communicator.hpp"
#include "learn/learner.hpp"

namespace shoal {

// Not used if several threads may call at once.
class recent_calls {
 public:
  // A communicator is looked up in one place, which has room for two. Even among some hundreds of communicators, three
  // seldom share a place.
  static constexpr int log2_places = 10;
  static constexpr std::size_t places = std::size_t{1} << log2_places;
  static std::size_t place_of(MPI_Comm comm) {
    const auto number = static_cast<std::uint64_t>((std::uintptr_t)comm);  // NOLINT: an address or an int
    return number * 0x9E3779B97F4A7C15u >> (64 - log2_places);
  }

  // What Shoal keeps for a communicator, its learner, and the learner of its neighbours. Null if the communicator is
  // not among the last ones, or if there is none. learner_of() first tells the learner of the calls that repeated.
  static users_communicator* find(MPI_Comm comm) {
    const entry& last = at(comm);
    return last.comm == comm ? last.held : nullptr;
  }
  static learner* learner_of(MPI_Comm comm) {
    entry& last = at(comm);
    if (last.comm != comm) return nullptr;
    last.end_repeats();
    return last.of_ranks;
  }
  static learner* neighbor_learner_of(MPI_Comm comm) {
    const entry& last = at(comm);
    return last.comm == comm ? last.of_neighbors : nullptr;
  }
  // Whether the communicator has only this rank, and nobody asks for anything.
  static bool is_alone(MPI_Comm comm) {
    const entry& last = at(comm);
    return last.comm == comm && last.of_ranks && last.of_ranks->is_idle();
  }

  // Whether a call passes because the last call on its communicator passed and was the same. If so, counts it.
  [[gnu::hot]] static bool pass_again(MPI_Comm comm, const call_signature& call) {
    entry& last = at(comm);
    if (last.comm != comm || last.left == 0 || last.like != call) return false;
    --last.left;
    ++last.passed;
    return true;
  }
  // After a call: the next `calls` calls pass if they are the same.
  static void begin_repeats(MPI_Comm comm, const call_signature& call, int calls) {
    entry& last = at(comm);
    last.like = call;
    last.left = calls;
  }

  static void remember(users_communicator& held) {
    entry& known = at(held.comm);
    entry& last = known.comm == held.comm ? known : made_room(held.comm);
    last.comm = held.comm;
    last.of_ranks = held.of_ranks.get();
    last.of_neighbors = held.of_neighbors.get();
    last.held = &held;
  }
  static void forget(MPI_Comm comm) {
    entry& last = at(comm);
    if (last.comm != comm) return;
    last.end_repeats();
    last = {};
  }

 private:
  struct alignas(64) entry {
    MPI_Comm comm{};
    // How many more calls may repeat the last one and pass, and how many did that the learner has not heard of.
    int left = 0, passed = 0;
    call_signature like;
    learner* of_ranks = nullptr;
    learner* of_neighbors = nullptr;
    users_communicator* held = nullptr;

    void end_repeats() {
      if (passed > 0 && of_ranks) of_ranks->have_passed(passed);
      else if (passed > 0) held->counted += passed;
      left = passed = 0;
    }
  };
  using place = std::array<entry, 2>;

  // The communicator's entry, or else the older one of its place.
  static entry& at(MPI_Comm comm) {
    place& of = last_[place_of(comm)];
    return of[0].comm == comm ? of[0] : of[1];
  }
  static entry& made_room(MPI_Comm comm) {
    auto& [last, before] = last_[place_of(comm)];
    if (last.held) {
      before.end_repeats();
      before = std::exchange(last, {});
    }
    return last;
  }

  // The last two communicators of each place. All zero at first, so that a page takes no memory before it is used.
  static std::array<place, places> last_;
};

}  // namespace shoal
