// Tags of the exchanges on one communicator.
//
// Every exchange takes a turn when it is started. Starts have the same order on all ranks, so turns are numbered alike
// everywhere, and the number gives the tags: nobody has to agree on them, and what is left of an exchange that failed
// meets no later one until the tags come round again. When they do, an exchange that is under way since then is waited
// for on its own rank: the later one begins behind it, which others cannot tell from a slow rank.
//
// What is prepared once and started many times takes no turns, since MPI lets ranks start several of these in any order. It
// holds a place, with tags of its own, from when it is prepared, which all ranks do in the same order. Starts of one follow
// each other on every rank, and MPI keeps messages with one tag in order.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace shoal {

struct tag_range {
  int first, count;
  // One more, for what travels beside the exchange.
  int beside() const { return first + count; }
};

class tag_turns {
 public:
  // Tags 1 to `highest_tag`: as many ranges as tags in each, half of them for turns and half for places.
  explicit tag_turns(int highest_tag)
      : tags_(std::max(4, static_cast<int>(std::bit_floor(static_cast<unsigned>(std::sqrt(highest_tag)))))),
        ranges_(std::max(1, highest_tag / tags_ / 2)) {}

  // Ends when it goes out of scope; the turns must stay.
  class turn {
   public:
    turn(turn&& other) noexcept : of_(std::exchange(other.of_, nullptr)), number_(other.number_) {}
    turn& operator=(turn&&) = delete;
    ~turn() {
      if (of_) std::erase(of_->open_, number_);
    }
    // Whether no exchange is under way that has the same tags, and was first.
    bool has_come() const { return number_ - of_->open_.front() < static_cast<std::uint64_t>(of_->ranges_); }
    tag_range tags() const { return of_->range(static_cast<int>(number_ % static_cast<std::uint64_t>(of_->ranges_))); }

   private:
    friend class tag_turns;
    turn(tag_turns& of, std::uint64_t number) : of_(&of), number_(number) {}
    tag_turns* of_;
    std::uint64_t number_;
  };

  // Given back when it goes out of scope; the turns must stay.
  class place {
   public:
    place(place&& other) noexcept : of_(std::exchange(other.of_, nullptr)), number_(other.number_) {}
    place& operator=(place&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(number_, other.number_);
      return *this;
    }
    ~place() {
      if (of_) of_->held_.erase(number_);
    }
    tag_range tags() const { return of_->range(of_->ranges_ + number_); }

   private:
    friend class tag_turns;
    place(tag_turns& of, int number) : of_(&of), number_(number) { of.held_.insert(number); }
    tag_turns* of_;
    int number_;
  };

  turn take() {
    open_.push_back(next_);
    return {*this, next_++};
  }
  // Of an exchange that the others start and this rank cannot.
  void skip() { ++next_; }

  // The next place in the order, and whether it was given before: both the same on every rank. This rank may hold it still.
  int places() const { return ranges_; }
  int next_place() { return static_cast<int>(next_++ % static_cast<std::uint64_t>(ranges_)); }
  bool was_given(int number) const { return given_.contains(number); }
  bool is_held(int number) const { return held_.contains(number); }
  // One that no rank holds.
  place hold(int number) {
    given_.insert(number);
    return {*this, number};
  }

  // The next turn's number; begin_at() before the first, on all ranks alike.
  std::uint64_t next() const { return next_; }
  void begin_at(std::uint64_t number) { next_ = number; }

 private:
  tag_range range(int number) const { return {1 + number * tags_, tags_ - 2}; }

  int tags_, ranges_;
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> open_;  // numbers, ascending
  std::set<int> given_, held_;       // places
};

}  // namespace shoal
