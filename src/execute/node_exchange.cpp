#include "execute/node_exchange.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <system_error>

#include "transport/agree.hpp"
#include "transport/buffered_sends.hpp"
#include "transport/process_memory.hpp"

namespace shoal {

namespace {

constexpr int setup_tag = 0;                      // that of agreements, none of which is under way
constexpr std::size_t single_copy_bytes = 65536;  // measured, docs/decisions/0004

// The first of the ranks gives its `what` to the others. Returns whether all messages of this rank came through.
bool hand_out(shared_memory::key& what, std::span<const int> ranks, transport& over, waiting& wait) {
  std::size_t left = 1;
  auto message = std::make_unique<shared_memory::key>(what);
  auto* const bytes = reinterpret_cast<std::byte*>(message.get());
  if (over.rank() != ranks[0]) {
    over.receive(ranks[0], setup_tag, bytes, sizeof what, 0);
  } else {
    left = ranks.size() - 1;
    for (int rank : ranks.subspan(1)) over.send(rank, setup_tag, bytes, sizeof what, 0);
  }
  bool abandoned = false, failed = false;
  for (std::vector<ended_transfer> ended; left > 0; ended.clear()) {
    over.poll(ended);
    left -= ended.size();
    for (const ended_transfer& one : ended) {
      abandoned = abandoned || one.abandoned;
      failed = failed || one.failure;
    }
    ended.empty() ? wait.idle() : wait.progressed();
  }
  what = *message;
  [[maybe_unused]] const auto* const in_use = abandoned ? message.release() : nullptr;  // the MPI may still use it
  return !failed;
}

// 0, or the number of the error that the call ends with.
template <typename Call>
int error_of(Call call) {
  try {
    call();
    return 0;
  } catch (const std::system_error& error) {
    return error.code().value();
  }
}

}  // namespace

bool may_read(const shared_memory::key& where) {
  std::uint64_t proof = 0;
  auto* const to = reinterpret_cast<std::byte*>(&proof);
  return read_process_memory(where.process, where.begin, to, sizeof proof) == 0 && proof == where.proof;
}

node_exchange::room node_exchange::room::of_direct(std::size_t most, int ranks) {
  if (most <= node_rows::largest_row / 2) return {most, 0};
  if (most <= node_rows::largest_row) return {most, most / 16};
  if (most == node_rows::any) return {};
  return {most, most / static_cast<std::size_t>(ranks)};
}

node_exchange::room node_exchange::room::of_schedules(std::size_t most, int) {
  constexpr std::size_t small = 4096;
  return {std::min(most, small), most};
}

std::size_t node_exchange::room::bytes(int ranks) const {
  return node_window::bytes_for(ranks, message) + node_rows::bytes_for(ranks, row);
}

// Every rank takes part in every step, whatever has failed before.
node_exchange::common node_exchange::open_together(std::span<const int> ranks, room size, transport& over,
                                                   waiting& wait) {
  const std::size_t bytes = size.bytes(static_cast<int>(ranks.size()));
  const bool first = over.rank() == ranks[0];
  shared_memory memory;
  int error = first ? error_of([&] { memory = shared_memory::create(bytes); }) : 0;
  shared_memory::key where = memory.where();
  if (!hand_out(where, ranks, over, wait)) error = EIO;
  else if (!first && where.proof != 0) error = error_of([&] { memory = shared_memory::open(where, bytes); });
  std::int64_t worst[] = {error, !may_read(where)};
  constexpr combine rules[] = {combine::maximum, combine::maximum};
  agreement(over, wait).reach(worst, rules);
  if (worst[0]) throw std::system_error(static_cast<int>(worst[0]), std::generic_category());
  memory.close();
  return {std::move(memory), worst[1] == 0 ? single_copy_bytes : node_window::never};
}

node_exchange::node_exchange(memory_pool& pool, transport& below, waiting& wait, const node_layout& nodes, room size)
    : node_exchange(pool, below, wait, nodes, size,
                    open_together(nodes.ranks_of(nodes.node_of(below.rank())), size, below, wait)) {}

node_exchange::node_exchange(memory_pool& pool, transport& below, waiting& wait, const node_layout& nodes, mapped given)
    : node_exchange(pool, below, wait, nodes, given.size,
                    {std::move(given.memory), given.readable ? single_copy_bytes : node_window::never}) {}

node_exchange::node_exchange(memory_pool& pool, transport& below, waiting& wait, const node_layout& nodes, room size,
                             common opened)
    : below_(below),
      wait_(wait),
      ranks_(nodes.ranks_of(nodes.node_of(below.rank()))),
      one_node_(nodes.nodes() == 1),
      common_(std::move(opened)),
      window_(common_.memory.data(), ranks_in(), nodes.local_of(below.rank()), common_.read_from, size.message),
      rows_(common_.memory.data() + node_window::bytes_for(ranks_in(), size.message), ranks_in(), window_.rank(),
            size.row),
      over_(below, window_, ranks_),
      exchange_(pool, over_),
      direct_(pool, rows_, window_, ranks_) {}

bool node_exchange::is_direct(const linked_schedule& steps) const {
  return one_node_ && steps.shared_memory && !steps.among_neighbors;
}

void node_exchange::skip(const linked_schedule& steps) {
  window_.begin_exchange();
  if (is_direct(steps)) rows_.skip();
}

void node_exchange::start(const linked_schedule& steps, const payload& what) {
  direct_now_ = is_direct(steps);
  window_.begin_exchange();
  over_.forget();
  if (direct_now_) direct_.start(what);
  else exchange_.start(steps, what);
}

void node_exchange::run_to_end() {
  if (direct_now_) run_directly_to_end();
  else exchange_.run_to_end(wait_);
  move_others_at_end();
}

constexpr unsigned often = 16;

bool node_exchange::progress(bool& moved) {
  if (!direct_now_) return exchange_.progress(moved);
  const bool is_done = direct_.progress(moved);
  if (!is_done && !moved && ++idle_ % often == 0) move_others();
  return is_done;
}

// While a direct exchange waits, messages that the program has under way must move too, but not as often.
void node_exchange::move_others() {
  below_.poll(ended_);
  direct_.drop_stale();
}

// A rank that comes last waits for nobody, but what the program has under way must move on that rank too. Exchanges
// that follow each other closely do not do this each time: if ranks share cores, Open MPI gives the core away here.
void node_exchange::move_others_at_end() {
  using namespace std::chrono_literals;
  const auto now = std::chrono::steady_clock::now();
  if (now - moved_ < 1ms && !buffered_sends::are_expected()) return;
  moved_ = now;
  move_others();
}

void node_exchange::run_directly_to_end() {
  wait_.progressed();
  for (unsigned idle = 1; !direct_.done(); ++idle) {
    bool moved = false;
    if (direct_.progress(moved)) return;
    if (moved) {
      wait_.progressed();
      continue;
    }
    const int us = wait_.pause();
    if (us > 0 || idle % often == 0) move_others();
    if (us > 0) direct_.sleep(us);
  }
}

}  // namespace shoal
