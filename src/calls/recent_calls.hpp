// The communicators of the last calls, and the calls that repeat on them. If ranks share a core, each of them finds
// Shoal's memory cold in every call. So what most calls need to know of their communicator is in one cache line.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "calls/call_signature.hpp"
#include "calls/mpi_datatype.hpp"
#include "calls/recent_call.h"
#include "calls/users_communicator.hpp"
#include "learn/learner.hpp"
#include "team/error_handlers.hpp"

namespace shoal {

// Not used if several threads may call at once.
class recent_calls {
 public:
  // A communicator is looked up in one place, which has room for two. Of three hundred communicators of Open MPI, up
  // to a fifth share theirs with two others or more. More places would lie on more pages, and each page costs when it
  // is first touched.
  static constexpr std::size_t places = std::size_t{1} << shoal_log2_places;
  static std::size_t place_of(MPI_Comm comm) { return shoal_place_of(number_of(comm)); }

  // What Shoal keeps for a communicator, its learner, and the learner of its neighbours. Null if the communicator is
  // not among the last ones, or if there is none. A learner is first told of the calls that repeated.
  static users_communicator* find(MPI_Comm comm) {
    const entry* const last = known(comm);
    return last ? last->held() : nullptr;
  }
  static learner* learner_of(MPI_Comm comm) {
    entry* const last = known(comm);
    if (!last) return nullptr;
    last->end_repeats();
    return last->of_ranks;
  }
  static learner* neighbor_learner_of(MPI_Comm comm) {
    entry* const last = known(comm);
    if (!last) return nullptr;
    last->end_repeats_among_neighbors();
    return last->held()->of_neighbors.get();
  }
  static group_learner* group_learner_of(MPI_Comm comm) {
    entry* const last = known(comm);
    if (!last) return nullptr;
    last->end_repeats_between_groups();
    return last->held()->of_groups.get();
  }
  // Tells the learners of the calls that repeated.
  static void end_repeats(MPI_Comm comm) {
    if (entry* const last = known(comm)) last->end_all_repeats();
  }
  // Whether the communicator has only this rank, and nobody asks for anything.
  static bool is_alone(MPI_Comm comm) {
    const entry* const last = known(comm);
    return last && last->of_ranks && last->of_ranks->is_idle();
  }

  // Whether a call passes because the last call on its communicator passed and was the same. If so, counts it.
  [[gnu::hot]] static bool pass_again(MPI_Comm comm, const call_signature& call) {
    entry* const last = known(comm);
    return last && last->held()->like == call && pass(last->among_ranks);
  }
  [[gnu::hot]] static bool pass_again_among_neighbors(MPI_Comm comm, call_form form) {
    entry* const last = known(comm);
    return last && last->others->among_neighbors.form == static_cast<int>(form) && pass(last->others->among_neighbors);
  }
  [[gnu::hot]] static bool pass_again_between_groups(MPI_Comm comm, const call_signature& call) {
    entry* const last = known(comm);
    return last && last->held()->like == call && pass(last->others->between_groups);
  }
  // After a call: the next `calls` calls pass if they are the same. `all`: the arguments of the call.
  template <typename... All>
  static void begin_repeats(MPI_Comm comm, const call_signature& call, int calls, All... all) {
    entry& last = at(comm);
    last.held()->like = call;
    last.among_ranks.left = calls;
    if (calls > 0) keep_arguments(comm, call, all...);
  }
  // Shows the preload the arguments of the last call, so that it knows calls that repeat it.
  template <typename... All>
  static void keep_arguments(MPI_Comm comm, const call_signature& call, All... all) {
    shoal_repeats& repeats = at(comm).among_ranks;
    repeats.form = static_cast<int>(call.form);
    keep(repeats, call, std::tuple<All...>(all...));
  }
  template <typename... All>
  static void begin_repeats_between_groups(MPI_Comm comm, const call_signature& call, int calls, All... all) {
    entry& last = at(comm);
    last.held()->like = call;
    shoal_repeats& repeats = last.others->between_groups;
    repeats.left = calls;
    repeats.form = static_cast<int>(call.form);
    if (calls > 0) keep(repeats, call, std::tuple<All...>(all...));
  }
  static void begin_repeats_among_neighbors(MPI_Comm comm, call_form form, int calls) {
    entry* const last = known(comm);
    if (!last) return;
    last->others->among_neighbors.form = static_cast<int>(form);
    last->others->among_neighbors.left = calls;
  }

  static void remember(users_communicator& held) {
    entry* const before = known(held.comm);
    entry& last = before ? *before : made_room(held.comm);
    last.comm = number_of(held.comm);
    last.of_ranks = held.of_ranks.get();
    last.others = &held;
  }
  static void forget(MPI_Comm comm) {
    entry* const last = known(comm);
    if (!last) return;
    last->end_all_repeats();
    *last = {};
  }
  // Tells the preload where the entries are.
  static void show(shoal_passing& to) {
    to.entries = reinterpret_cast<char*>(last_.data());
    to.entry_bytes = sizeof(entry);
  }

 private:
  struct alignas(64) entry : shoal_recent_call {
    learner* of_ranks = nullptr;

    users_communicator* held() const { return static_cast<users_communicator*>(others); }
    bool is_of(MPI_Comm other) const { return comm == number_of(other); }
    void end_repeats() {
      const int passed = std::exchange(among_ranks.passed, 0);
      among_ranks.left = 0;
      if (passed > 0 && of_ranks) of_ranks->have_passed(passed);
      else if (passed > 0) held()->counted += passed;
    }
    void end_repeats_among_neighbors() {
      const int passed = std::exchange(others->among_neighbors.passed, 0);
      others->among_neighbors.left = 0;
      if (passed > 0) held()->of_neighbors->have_passed(passed);
    }
    void end_repeats_between_groups() {
      const int passed = std::exchange(others->between_groups.passed, 0);
      others->between_groups.left = 0;
      if (passed > 0) held()->of_groups->have_passed(passed);
    }
    void end_all_repeats() {
      if (!others) return;
      end_repeats();
      end_repeats_among_neighbors();
      end_repeats_between_groups();
    }
  };
  using place = std::array<entry, 2>;

  template <typename Handle>
  static std::intptr_t number_of(Handle handle) {
    return (std::intptr_t)handle;  // NOLINT: an address or an int
  }
  // None passes if there are error handlers, which may make calls of their own: see serve_learnt().
  static bool pass(shoal_repeats& repeats) {
    if (repeats.left == 0 || error_handlers::were_made()) return false;
    --repeats.left;
    ++repeats.passed;
    return true;
  }
  // The preload knows calls by their arguments if these say how large the blocks are.
  template <typename All>
  static void keep(shoal_repeats& of, const call_signature&, const All&) {
    of.send_type = of.recv_type = 0;
  }
  using equal_blocks = std::tuple<const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm>;
  static void keep(shoal_repeats& of, const call_signature& call, const equal_blocks& all) {
    const MPI_Datatype send_type = std::get<2>(all), recv_type = std::get<5>(all);
    const bool are_known = !call.in_place && stays(of.send_type, send_type) && stays(of.recv_type, recv_type);
    of.sent = std::get<1>(all);
    of.received = std::get<4>(all);
    of.send_type = are_known ? number_of(send_type) : 0;
    of.recv_type = are_known ? number_of(recv_type) : 0;
  }
  static bool stays(std::intptr_t known, MPI_Datatype type) {
    return known == number_of(type) || (is_type(type) && is_of_mpi(type));
  }

  // The communicator's entry, or else the older one of its place.
  static entry& at(MPI_Comm comm) {
    place& of = last_[place_of(comm)];
    return of[0].is_of(comm) ? of[0] : of[1];
  }
  // Null if the communicator has no entry. A program may give what is no communicator, such as the handle 0.
  static entry* known(MPI_Comm comm) {
    entry& last = at(comm);
    return last.is_of(comm) && last.others ? &last : nullptr;
  }
  static entry& made_room(MPI_Comm comm) {
    auto& [last, before] = last_[place_of(comm)];
    if (last.others) {
      before.end_all_repeats();
      before = std::exchange(last, {});
    }
    return last;
  }

  // The last two communicators of each place. All zero at first, so that a page takes no memory before it is used.
  static std::array<place, places> last_;
};

}  // namespace shoal
