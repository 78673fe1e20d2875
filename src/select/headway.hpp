// Compares how fast a program goes on if a candidate serves its exchanges with how fast it goes on if another one does.
//
// What calls take does not tell that. Where ranks share cores, an exchange that takes less time itself may delay the
// program's next calls by more. So now and then two serve stretches of calls in turn, and all time counts, also that
// between the calls: the choice and the MPI's own, or the choice and a candidate that failed in this before. Stretches
// come in pairs, and chance decides who serves first: several communicators may compare at the same time, and the
// program itself may have a rhythm.
#pragma once

#include <cstdint>

namespace shoal {

class headway {
 public:
  enum class verdict { open, ahead, behind };

  // Begins to compare a candidate with another one. `seed`, of chance, is the same on every rank, and so are `call`,
  // about how many seconds pass from one call to the next, and the number of calls so far.
  void begin(int candidate, std::uint64_t seed, double call, std::int64_t calls_so_far);
  void stop() { candidate_ = 0; }
  bool is_on() const { return candidate_ != 0; }
  int candidate() const { return candidate_; }
  // Of the next stretch: whether the candidate serves it, and how many calls it has.
  bool is_candidates() const;
  int calls() const;
  // To be called at the end of a stretch. From one call to the next, so many seconds passed; the same on every rank.
  verdict ended(double seconds);

 private:
  verdict judge() const;

  int candidate_ = 0, stretch_ = 0, first_calls_ = 0;
  int won_ = 0;  // pairs in which the candidate was faster
  std::uint64_t seed_ = 0;
  double before_ = 0;  // seconds in the first stretch of a pair
  double weight_ = 0;  // of all pairs so far
  double lead_ = 0;    // by weight, the sum of the logarithms of how many times faster the candidate was
};

}  // namespace shoal
