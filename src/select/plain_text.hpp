// Text whose numbers look the same whatever locale the program has set.
#pragma once

#include <ios>
#include <locale>
#include <sstream>
#include <string>

namespace shoal {

class plain_text : public std::ostringstream {
 public:
  plain_text() { imbue(std::locale::classic()); }
};

// With so many digits behind the point.
inline std::string with_decimals(double number, int digits) {
  plain_text text;
  text << std::fixed;
  text.precision(digits);
  text << number;
  return text.str();
}

// With so many digits in all, or fewer.
inline std::string with_digits(double number, int digits) {
  plain_text text;
  text.precision(digits);
  text << number;
  return text.str();
}

}  // namespace shoal
