#include "transport/node_transport.hpp"

#include <algorithm>
#include <utility>

#include "transport/failure.hpp"

namespace shoal {

node_transport::node_transport(transport& below, node_window& window, std::span<const int> ranks)
    : below_(below), window_(window), place_(static_cast<std::size_t>(below.ranks()), -1), stuck_(ranks.size()) {
  for (std::size_t i = 0; i < ranks.size(); ++i) place_[ranks[i]] = static_cast<int>(i);
}

void node_transport::reserve(std::size_t transfers) {
  below_.reserve(transfers);
  sends_.reserve(transfers);
  receives_.reserve(transfers);
}

void node_transport::send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) {
  if (place_[peer] < 0) {
    ++below_under_way_;
    return below_.send(peer, tag, data, bytes, ticket);
  }
  sends_.push_back({place_[peer], ticket, {data, bytes}});
}

void node_transport::receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) {
  if (place_[peer] < 0) {
    ++below_under_way_;
    return below_.receive(peer, tag, data, capacity, ticket);
  }
  receives_.push_back({place_[peer], ticket, {data, capacity}, capacity});
}

void node_transport::forget() {
  sends_.clear();
  receives_.clear();
  below_under_way_ = 0;
}

ended_transfer node_transport::outcome(const receiving& one) {
  std::exception_ptr failure;
  if (one.message.error) failure = std::make_exception_ptr(node_window::read_failure(one.message.error));
  else if (one.message.cut) failure = std::make_exception_ptr(size_mismatch());
  return {one.ticket, one.capacity - one.message.capacity, std::move(failure)};
}

// Now and then this drops messages that belong to no exchange any more: whoever this rank waits for may wait, by way of
// others, until this rank has taken them.
void node_transport::poll(std::vector<ended_transfer>& ended) {
  constexpr unsigned often = 16;
  const std::uint64_t before = window_.segments_moved();
  advance(sends_, ended, [&](sending& one) { return window_.push(one.peer, one.message); });
  advance(receives_, ended, [&](receiving& one) { return window_.pull(one.peer, one.message); });
  const bool now_and_then = ++polls_ % often == 0;
  if (now_and_then && window_.segments_moved() == before) window_.drop_stale();
  if (window_.segments_moved() != before) window_.wake_those_waiting();
  if (now_and_then || below_under_way_ > 0) poll_below(ended);
}

// If nothing is under way below, only the program's own messages move there, so not every poll looks there.
void node_transport::poll_below(std::vector<ended_transfer>& ended) {
  const std::size_t before = ended.size();
  below_.poll(ended);
  below_under_way_ -= ended.size() - before;
}

// Moves transfers in the order in which they were started: with each peer, none after the first that has to wait.
template <typename Transfer, typename Move>
void node_transport::advance(std::vector<Transfer>& all, std::vector<ended_transfer>& ended, Move move) {
  if (all.empty()) return;
  std::fill(stuck_.begin(), stuck_.end(), 0);
  std::erase_if(all, [&](Transfer& one) {
    if (stuck_[one.peer] || !move(one)) {
      stuck_[one.peer] = 1;
      return false;
    }
    ended.push_back(outcome(one));
    return true;
  });
}

}  // namespace shoal
