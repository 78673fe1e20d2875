// Tags of the exchanges on one communicator.
//
// Every exchange takes a turn when it is started. Starts have the same order on all ranks, so turns are numbered alike
// everywhere, and the number gives the tags: nobody has to agree on them, and what is left of an exchange that failed
// never meets a later one. When the tags come round again an exchange that is under way since then is waited for on its
// own rank: the later one begins behind it, which others cannot tell from a slow rank.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace shoal {

struct tag_range {
  int first, count;
};

class tag_turns {
 public:
  // Tags 1 to `highest_tag`: as many ranges as tags in each.
  explicit tag_turns(int highest_tag)
      : tags_(std::max(4, static_cast<int>(std::bit_floor(static_cast<unsigned>(std::sqrt(highest_tag)))))),
        ranges_(std::max(1, highest_tag / tags_)) {}

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
    tag_range tags() const {
      const auto range = static_cast<int>(number_ % static_cast<std::uint64_t>(of_->ranges_));
      return {1 + range * of_->tags_, of_->tags_};
    }

   private:
    friend class tag_turns;
    turn(tag_turns& of, std::uint64_t number) : of_(&of), number_(number) {}
    tag_turns* of_;
    std::uint64_t number_;
  };

  turn take() {
    open_.push_back(next_);
    return {*this, next_++};
  }
  // Of an exchange that the others start and this rank cannot.
  void skip() { ++next_; }

  // The next turn's number; begin_at() before the first, on all ranks alike.
  std::uint64_t next() const { return next_; }
  void begin_at(std::uint64_t number) { next_ = number; }

 private:
  int tags_, ranges_;
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> open_;  // numbers, ascending
};

}  // namespace shoal
