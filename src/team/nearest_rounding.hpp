// Lets floating-point numbers be rounded to the nearest, as on every other rank, whatever rounding the program has set.
// What ranks compute from numbers that they have agreed on has to be the same on all of them, to the last bit.
#pragma once

#ifdef __x86_64__
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace shoal {

class nearest_rounding {
 public:
  nearest_rounding() : of_program_(mode()) { change(of_program_, nearest); }
  ~nearest_rounding() { change(nearest, of_program_); }
  nearest_rounding(const nearest_rounding&) = delete;
  nearest_rounding& operator=(const nearest_rounding&) = delete;

  // Makes a call in the program's rounding: the MPI may run functions of the program's in it, as for its reductions.
  template <typename Call>
  int as_of_program(Call call) const {
    const struct restored {
      int of_program;
      ~restored() { change(of_program, nearest); }
    } behind{of_program_};
    change(nearest, of_program_);
    return call();
  }

 private:
#ifdef __x86_64__  // a program may have set what SSE does alone, which fegetround() does not see
  static constexpr int nearest = _MM_ROUND_NEAREST;
  static int mode() { return static_cast<int>(_MM_GET_ROUNDING_MODE()); }
  static void set(int mode) { _MM_SET_ROUNDING_MODE(static_cast<unsigned>(mode)); }
#else
  static constexpr int nearest = FE_TONEAREST;
  static int mode() { return std::fegetround(); }
  static void set(int mode) { std::fesetround(mode); }
#endif
  static void change(int from, int to) {
    if (from != to) set(to);
  }

  int of_program_;
};

}  // namespace shoal
