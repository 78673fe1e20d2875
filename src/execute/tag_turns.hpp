// Tags of the exchanges on one communicator.
//
// Every exchange takes a turn when it is started. All ranks start exchanges in the same order, so turns have the same
// numbers everywhere, and the number gives the tags. So nobody has to agree on tags, and messages that a failed
// exchange left behind meet no later exchange until the tags come round again. If an exchange with the same tags is
// still under way on a rank then, the later one begins after it on that rank. To other ranks this looks like a slow
// rank.
//
// A persistent exchange takes no turns, since MPI lets ranks start several of these in any order. It holds a place,
// with tags of its own, from when it is prepared, and all ranks prepare in the same order. The starts of one persistent
// exchange follow each other on every rank, and MPI keeps messages with the same tag in order.
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
  // One more tag, for what travels beside the exchange.
  int beside() const { return first + count; }
};

class tag_turns {
 public:
  // Divides tags 1 to `highest_tag` into ranges of about the square root as many: half of the ranges are for turns,
  // half for places.
  explicit tag_turns(int highest_tag)
      : tags_(std::max(4, static_cast<int>(std::bit_floor(static_cast<unsigned>(std::sqrt(highest_tag)))))),
        ranges_(std::max(1, highest_tag / tags_ / 2)) {}

  // A turn ends when it goes out of scope. The tag_turns must outlive it.
  class turn {
   public:
    turn(turn&& other) noexcept : of_(std::exchange(other.of_, nullptr)), number_(other.number_) {}
    turn& operator=(turn&&) = delete;
    ~turn() {
      if (of_) std::erase(of_->open_, number_);
    }
    // Whether the exchange may begin: none is under way that took its turn so long ago that it may have the same tags.
    bool has_come() const { return number_ - of_->open_.front() < static_cast<std::uint64_t>(of_->ranges_); }
    tag_range tags() const { return of_->range(static_cast<int>(number_ % static_cast<std::uint64_t>(of_->ranges_))); }

   private:
    friend class tag_turns;
    turn(tag_turns& of, std::uint64_t number) : of_(&of), number_(number) {}
    tag_turns* of_;
    std::uint64_t number_;
  };

  // A place is given back when it goes out of scope. The tag_turns must outlive it.
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
  // Skips the turn of an exchange that the others start and this rank cannot.
  void skip() { ++next_; }

  // next_place(): the number of the next place in the order. was_given(): whether that was given before. Both are the
  // same on every rank. is_held(): whether this rank holds the place still.
  int places() const { return ranges_; }
  int next_place() { return static_cast<int>(next_++ % static_cast<std::uint64_t>(ranges_)); }
  bool was_given(int number) const { return given_.contains(number); }
  bool is_held(int number) const { return held_.contains(number); }
  // Takes this place, which no rank may hold.
  place hold(int number) {
    given_.insert(number);
    return {*this, number};
  }

  // The number of the next turn. begin_at() is called before the first turn, with the same number on all ranks.
  std::uint64_t next() const { return next_; }
  void begin_at(std::uint64_t number) { next_ = number; }

 private:
  tag_range range(int number) const { return {1 + number * tags_, tags_ - 2}; }

  int tags_, ranges_;
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> open_;  // numbers of turns under way, ascending
  std::set<int> given_, held_;       // places
};

}  // namespace shoal
