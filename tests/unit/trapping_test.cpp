// All tests of the core run as in a program that ends at a division by zero, an invalid operation or an overflow of
// floating-point numbers, such as one that gfortran has compiled with -ffpe-trap=invalid,zero,overflow.
#include <fenv.h>  // NOLINT(modernize-deprecated-headers): feenableexcept

#include <gtest/gtest.h>

namespace {

constexpr int ends_programs = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;

[[maybe_unused]] const int before = feenableexcept(ends_programs);

TEST(trapping, IsOnInEveryTest) { EXPECT_EQ(fegetexcept(), ends_programs); }

}  // namespace
