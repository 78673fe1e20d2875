// Lets floating-point numbers be rounded to the nearest, as on every other rank, whatever rounding the program has set.
// What ranks compute from numbers that they have agreed on has to be the same on all of them, to the last bit.
#pragma once

#include <cfenv>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace shoal {

class nearest_rounding {
 public:
  nearest_rounding() : of_program_(modes::now()) { change(of_program_, modes()); }
  ~nearest_rounding() { change(modes(), of_program_); }
  nearest_rounding(const nearest_rounding&) = delete;
  nearest_rounding& operator=(const nearest_rounding&) = delete;

  // Makes a call in the program's rounding: the MPI may run functions of the program's in it, as for its reductions.
  template <typename Call>
  int as_of_program(Call call) const {
    const struct restored {
      modes of_program;
      ~restored() { change(of_program, modes()); }
    } behind{of_program_};
    change(modes(), of_program_);
    return call();
  }

 private:
  // fesetround() sets the modes of x87 and of SSE, and fegetround() returns that of x87, by which the C library reads and
  // writes numbers. Libraries of intervals set the mode of SSE alone, by which a compiler computes.
  struct modes {
    int standard = FE_TONEAREST;
#ifdef __x86_64__
    unsigned of_sse = _MM_ROUND_NEAREST;
    static modes now() { return {std::fegetround(), _MM_GET_ROUNDING_MODE()}; }
    void set() const {
      std::fesetround(standard);
      _MM_SET_ROUNDING_MODE(of_sse);
    }
#else
    static modes now() { return {std::fegetround()}; }
    void set() const { std::fesetround(standard); }
#endif
    bool operator==(const modes&) const = default;
  };
  static void change(const modes& from, const modes& to) {
    if (from != to) to.set();
  }

  modes of_program_;
};

}  // namespace shoal
