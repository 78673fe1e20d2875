// What calls of different sizes take, so that a few of them can be compared with many.
//
// A trial of four small calls says nothing against a choice that served large ones too. So its mean is that of the usual mix
// of sizes: for sizes that the trial did not have, the candidate's earlier calls stand in, or else those of all candidates.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace shoal {

// How often calls of each size come on a communicator, and what they take by each candidate.
class size_mix {
 public:
  static constexpr int most_candidates = 8;
  static constexpr int classes = 12;  // factors of four from 256 bytes on
  static int class_of(double bytes);

  void add(int candidate, int size, double seconds);
  // What was added so far weighs so much less than what comes.
  void count_as(double weight);
  // Of all calls; 0: there were none.
  double share(int size) const { return all_ > 0 ? of_all_[size].calls / all_ : 0; }
  // Of a size that came; the mean of all candidates where this one never served it.
  double mean(int candidate, int size) const;
  // Of a call of the usual mix, by all that this candidate served; 0: nothing.
  double mean(int candidate) const;
  bool varies() const;

 private:
  static constexpr double remembered = 512;  // calls; of more the older ones count half
  struct times {
    double calls = 0, seconds = 0;
    void add(double taken);
  };
  using by_size = std::array<times, classes>;
  const times& of(int candidate, int size) const;

  by_size of_all_{};
  std::vector<by_size> of_;  // up to the last candidate that served: most communicators know none but the MPI's own
  double all_ = 0;
};

// The calls of one candidate between two agreements.
class trial_times {
 public:
  // `typical`: seconds of a call of that size.
  void add(int size, double seconds, double typical);
  int calls() const { return calls_; }
  // Seconds of a call of the usual mix. Of a few calls the one that took longest for its size is left out: what disturbs
  // the machine disturbs a single call.
  double mean(const size_mix& usual, int candidate) const;

 private:
  std::array<int, size_mix::classes> calls_of_{};
  std::array<double, size_mix::classes> seconds_of_{};
  int calls_ = 0, longest_size_ = 0;
  double longest_ = 0, longest_ratio_ = 0;
};

}  // namespace shoal
