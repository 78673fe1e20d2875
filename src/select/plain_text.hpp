// Text whose numbers look the same, whatever locale the program has set.
#pragma once

#include <cstdint>
#include <ios>
#include <locale>
#include <sstream>
#include <string>

namespace shoal {

class plain_text : public std::ostringstream {
 public:
  plain_text() { imbue(std::locale::classic()); }
};

// The number with `digits` digits behind the point.
inline std::string with_decimals(double number, int digits) {
  plain_text text;
  text << std::fixed;
  text.precision(digits);
  text << number;
  return text.str();
}

// The number with at most `digits` digits in all.
inline std::string with_digits(double number, int digits) {
  plain_text text;
  text.precision(digits);
  text << number;
  return text.str();
}

// The number with the word for what it counts: "1 call", "2 calls".
inline std::string counted(std::int64_t number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

}  // namespace shoal
