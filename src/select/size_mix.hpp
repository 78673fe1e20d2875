// Times of calls of different sizes, so that a few calls can be compared with many.
//
// A trial of four small calls says nothing against a choice that served large ones too. So the mean of a trial is taken
// over the usual mix of sizes: for sizes that the trial did not have, the candidate's earlier calls stand in, or else
// those of all candidates.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace shoal {

// How often calls of each size come on a communicator, and how long they take by each candidate.
class size_mix {
 public:
  static constexpr int most_candidates = 8;
  static constexpr int classes = 12;  // below 256 bytes, then a class for each factor of four
  static int class_of(double bytes);

  void add(int candidate, int size, double seconds);
  // Lets what was added so far weigh `weight` times as much as what comes.
  void count_as(double weight);
  // The share of calls of this size among all; 0 if there were none.
  double share(int size) const { return all_ > 0 ? of_all_[size].calls / all_ : 0; }
  // Seconds of a call of this size, which must have come: the mean of all candidates if this one never served the size.
  double mean(int candidate, int size) const;
  // Seconds of a call of the usual mix, by the calls that this candidate served; 0 if it served none.
  double mean(int candidate) const;
  bool varies() const;

 private:
  static constexpr double remembered = 512;  // calls; after so many, the older ones count half
  struct times {
    double calls = 0, seconds = 0;
    void add(double taken);
  };
  using by_size = std::array<times, classes>;
  const times& of(int candidate, int size) const;

  by_size of_all_{};
  std::vector<by_size> of_;  // up to the last candidate that served; on most communicators only the MPI's own has
  double all_ = 0;
};

// The calls of one candidate between two agreements.
class trial_times {
 public:
  // `typical`: seconds that a call of this size usually takes.
  void add(int size, double seconds, double typical);
  int calls() const { return calls_; }
  // Seconds of a call of the usual mix. From four calls on, the call that took longest for its size is left out: a
  // disturbance of the machine usually hits a single call.
  double mean(const size_mix& usual, int candidate) const;

 private:
  std::array<int, size_mix::classes> calls_of_{};
  std::array<double, size_mix::classes> seconds_of_{};
  int calls_ = 0, longest_size_ = 0;
  double longest_ = 0, longest_ratio_ = 0;
};

}  // namespace shoal
