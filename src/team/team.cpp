#include "team/team.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "team/job_facts.hpp"
#include "team/progress.hpp"

namespace shoal {

namespace {

std::optional<phase_clock> clock_for(bool clocked, const common_facts& found, int rank) {
  return clocked ? std::optional<phase_clock>(std::in_place, found.where.nodes.get(), rank) : std::nullopt;
}

}  // namespace

team::team(MPI_Comm users, common_facts found, wait_mode mode, bool clocked)
    : own_(users), over_(users), found_(std::move(found)), phases_(clock_for(clocked, found_, rank())) {
  wait_as(mode);
}

team::team(MPI_Comm own, MPI_Comm users, const settings& set)
    : own_(users, own),
      over_(own),
      wait_(moving_meanwhile(set.wait.value_or(wait_mode::yield))),
      found_(agree_on_facts(own, set, wait_)),
      phases_(clock_for(set.report == reporting::phases, found_, rank())) {
  turns_.begin(own, wait_);
  wait_as(set.wait.value_or(standard_wait_mode(find_job_facts(set.nodes_share), ranks())));
}

void team::wait_as(wait_mode mode) {
  exchange_.record_phases(phases());
  wait_ = waiting(mode);
  wait_.move_meanwhile([this] {
    look_for_failures();
    return progress::get().move();
  });
}

// ---- communicators ---------------------------------------------------------------------------------------------

// Nothing of Shoal's moves while the MPI makes a communicator. So the ranks first wait for each other, as they agree on
// their turns.
bool team::open() {
  if (is_open()) return true;
  turns_.begin(own_.users(), wait_);
  own_.make();
  if (is_open()) over_.move_to(own_.get());
  return is_open();
}

MPI_Comm team::opened() {
  if (!open()) throw std::runtime_error("the MPI library has no communicator left for Shoal");
  return own_.get();
}

// ---- agreements ------------------------------------------------------------------------------------------------

// If each rank sends the same block to all, an all-to-all is an allgather, and an exchange already waits politely.
std::vector<std::byte> team::gather(std::span<const std::byte> mine) {
  const auto bytes = static_cast<std::int64_t>(mine.size());
  std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(ranks()));
  payload what;
  what.uniform = mine.size();
  what.send.base = const_cast<std::byte*>(mine.data());
  what.send.counts = what.recv.counts = number_array::linear(bytes, 0);
  what.recv.base = all.data();
  what.recv.displacements = number_array::linear(0, bytes);
  run(schedule_of(parse_selection(memory_.has_all_ranks() ? "shared" : "tuna:radix=2")), what);
  return all;
}

std::vector<std::int64_t> team::largest(std::span<const std::int64_t> mine) {
  const std::vector<std::byte> all = gather(std::as_bytes(mine));
  std::vector<std::int64_t> most(mine.begin(), mine.end()), theirs(mine.size());
  for (std::size_t at = 0; at < all.size(); at += mine.size_bytes()) {
    std::memcpy(theirs.data(), all.data() + at, mine.size_bytes());
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], theirs[i]);
  }
  return most;
}

// ---- exchanges -------------------------------------------------------------------------------------------------

const linked_schedule& team::schedule_of(const selection& chosen) {
  const std::string spec = to_string(chosen);
  if (const auto it = schedules_.find(spec); it != schedules_.end()) return it->second;
  return schedules_.emplace(spec, linked_schedule(generate(chosen, where(), rank()))).first->second;
}

tag_turns::turn team::next_turn() {
  tag_turns::turn turn = turns_.take();
  while (!turn.has_come()) wait_.idle();
  return turn;
}

// A place that was given before may still be held on some ranks and be free on others.
std::optional<tag_turns::place> team::next_place() {
  for (int tries = 0; tries < turns_.places(); ++tries) {
    const int number = turns_.next_place();
    if (!turns_.was_given(number) || !agree().on_any_rank(turns_.is_held(number))) return turns_.hold(number);
  }
  return std::nullopt;
}

// The memory is set up once for a communicator.
node_exchange* team::inside_nodes() {
  if (!memory_.is_set_up()) opened();
  return memory_.get();
}

void team::run(const linked_schedule& steps, const payload& what) {
  if (phases_) phases_->begin();
  node_exchange* const inside = steps.shared_memory ? inside_nodes() : nullptr;
  if (!inside) opened();
  const tag_turns::turn turn = next_turn();
  if (inside) {
    inside->set_tags(turn.tags());
    inside->start(steps, what);
    inside->run_to_end();
    return raise(inside->failure());
  }
  exchange_.set_tags(turn.tags());
  exchange_.start(steps, what);
  exchange_.run_to_end(wait_);
  raise(exchange_.failure());
}

void team::run_without_blocks(const linked_schedule& steps, bool uniform) {
  if (!steps.tells_sizes()) return skip(steps);
  payload nothing;
  nothing.send.counts = nothing.recv.counts = number_array::linear(0, 0);
  if (uniform) nothing.uniform = 0;
  run(steps, nothing);
}

void team::skip(const linked_schedule& steps) {
  node_exchange* const inside = steps.shared_memory ? inside_nodes() : nullptr;
  if (inside) inside->skip(steps);
  else opened();
  turns_.skip();
}

}  // namespace shoal
