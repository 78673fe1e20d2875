// Settles between ways of doing an exchange by trying them in turns on a program's own calls.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace shoal {

// Every rank has one and makes the same calls of it, but for the times.
class trial {
 public:
  static constexpr int rounds = 8;

  explicit trial(std::size_t ways) : seconds_(ways) {}

  bool over() const { return turn_ == rounds * seconds_.size(); }
  // The way whose turn it is. Not when over.
  std::size_t next() { return turn_++ % seconds_.size(); }
  // What the way of the last next() took on this rank.
  void took(double seconds) { seconds_[(turn_ - 1) % seconds_.size()].push_back(seconds); }

  // By way: the median of this rank, so that a disturbance decides nothing; 0 for one without times.
  std::vector<double> medians() const;
  // Seconds spent beyond what the fastest way would have taken.
  double cost() const;

 private:
  std::vector<std::vector<double>> seconds_;
  std::size_t turn_ = 0;
};

}  // namespace shoal
