// Lets floating-point numbers be rounded to the nearest, as on every other rank, whatever rounding the program has set.
// What ranks compute from numbers that they have agreed on has to be the same on all of them, to the last bit.
#pragma once

#include <cfenv>

namespace shoal {

class nearest_rounding {
 public:
  nearest_rounding() : of_program_(std::fegetround()) {
    if (of_program_ != FE_TONEAREST) std::fesetround(FE_TONEAREST);
  }
  ~nearest_rounding() {
    if (of_program_ != FE_TONEAREST) std::fesetround(of_program_);
  }
  nearest_rounding(const nearest_rounding&) = delete;
  nearest_rounding& operator=(const nearest_rounding&) = delete;

 private:
  int of_program_;
};

}  // namespace shoal
