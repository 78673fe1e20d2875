#include "learn/vote.hpp"

#include <algorithm>
#include <utility>

namespace shoal {

namespace {

// What each rank says first in the second round; the numbers that it was given to say begin at `given`.
enum second_term : std::size_t { unheard, giving_up, given };

}  // namespace

void vote::leave() {
  double patience = 0.1;  // seconds for each round, until one does not end in time
  const auto end = [&](const std::unique_ptr<pending_agreement>& round) {
    if (round && !round->wait_or_abandon(patience, *wait_)) patience = 0;
  };
  last_call_ = -1;
  is_confirming_ = false;
  end(std::exchange(round_, nullptr));
  for (auto* left : {&first_left_, &second_left_}) {
    std::for_each(left->begin(), left->end(), end);
    left->clear();
  }
}

bool vote::let_go() {
  bool all_ended = true;
  const auto let_one_go = [&](std::unique_ptr<pending_agreement>& round) {
    all_ended &= pending_agreement::let_go(std::move(round));
  };
  last_call_ = -1;
  is_confirming_ = false;
  if (round_) let_one_go(round_);
  for (auto* left : {&first_left_, &second_left_}) {
    std::for_each(left->begin(), left->end(), let_one_go);
    left->clear();
  }
  return all_ended;
}

// After a vote that failed the next one is open for half as many calls as there were so far.
void vote::begin(std::vector<std::int64_t> mine, std::int64_t call) {
  round_ = std::make_unique<pending_agreement>(comm_, std::move(mine));
  first_call_ = call;
  last_call_ = call + 1 + (has_failed() ? call / 2 : 0);
  apart_ = 0;
}

bool vote::wait_for(double seconds) {
  if (!round_->wait_for(seconds, *wait_)) return false;
  apart_ = round_->apart();
  heard_.assign(round_->largest().begin(), round_->largest().end());
  return true;
}

// After a vote that failed the second round is open for as many calls as the first. So ranks that were heard in the
// first come to the second before this rank ends it, even if they stay as many calls behind.
void vote::confirm(bool has_heard_all, bool gives_up, std::span<const std::int64_t> mine, std::int64_t call) {
  last_call_ = call + (has_failed() ? call - first_call_ : 0);
  is_confirming_ = true;
  has_heard_all_ = has_heard_all;
  gives_up_ = gives_up;
  if (!has_heard_all) first_left_.push_back(std::move(round_));
  std::vector<std::int64_t> said{!has_heard_all, gives_up};
  said.insert(said.end(), mine.begin(), mine.end());
  round_ = std::make_unique<pending_agreement>(comm_, std::move(said));
}

bool vote::end() {
  last_call_ = -1;
  is_confirming_ = false;
  if (has_heard_all_ && round_->wait(*wait_)[unheard] == 0) return true;
  second_left_.push_back(std::move(round_));
  ++failed_;
  if (gives_up_) stop_asking();
  return false;
}

void vote::stop_looking() {
  if (has_failed_for_good()) stop_asking();
}

void vote::stop_asking() {
  for (auto* left : {&first_left_, &second_left_})
    for (const auto& round : *left) round->stop_asking();
}

std::span<const std::int64_t> vote::confirmed() const { return round_->largest().subspan(given); }

bool vote::has_ended(std::int64_t and_some_gave_up) const {
  return std::any_of(second_left_.begin(), second_left_.end(), [=](const auto& round) {
    return round->test() && round->largest()[giving_up] == and_some_gave_up;
  });
}

}  // namespace shoal
