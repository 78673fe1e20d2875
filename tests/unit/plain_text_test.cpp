#include "select/plain_text.hpp"

#include <gtest/gtest.h>

#include <locale>

#include "select/wisdom.hpp"

namespace shoal {
namespace {

// Makes the program one that has called std::locale::global() for German: 1.234,5.
class with_commas {
 public:
  with_commas() : before_(std::locale::global(std::locale(std::locale::classic(), new german))) {}
  ~with_commas() { std::locale::global(before_); }
  with_commas(const with_commas&) = delete;
  with_commas& operator=(const with_commas&) = delete;

 private:
  struct german : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::locale before_;
};

TEST(plain_text, IsTheSameInAProgramThatWritesCommas) {
  const with_commas here;
  std::ostringstream programs;
  programs << 1234.5;
  ASSERT_EQ(programs.str(), "1.234,5");
  EXPECT_EQ(with_decimals(1234.25, 1), "1234.2");
  EXPECT_EQ(with_digits(318.94, 4), "318.9");
}

TEST(plain_text, KeepsWisdomReadable) {
  const with_commas here;
  wisdom kept{"an MPI", "a machine", {}};
  exchange_shape shape{collective::alltoall, call_form::equal};
  shape.ranks = 1234;
  kept.known.add(shape, "shared", 318.9e-6, 12345);
  const std::string text = to_toml(kept);
  EXPECT_EQ(to_toml(parse_wisdom(text, "again")), text);
  EXPECT_NE(text.find("[318.9, 12345]"), std::string::npos) << text;
}

}  // namespace
}  // namespace shoal
