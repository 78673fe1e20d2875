#include "topology/host_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>

namespace shoal {

namespace {

constexpr std::size_t most_names = 1 << 17;  // a mistyped range must not exhaust the memory
constexpr std::size_t most_digits = 9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view leading_digits(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return text.substr(0, n);
}

std::string_view without_zeros(std::string_view digits) {
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  return digits;
}

// Negative, zero, positive like memcmp.
int compare_numbers(std::string_view a, std::string_view b) {
  a = without_zeros(a);
  b = without_zeros(b);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

[[noreturn]] void wrong(std::string_view what, const std::string& why) {
  throw std::invalid_argument("'" + std::string(what) + "' " + why);
}

int to_number(std::string_view digits, std::string_view range) {
  int value = 0;
  if (digits.empty() || leading_digits(digits).size() != digits.size())
    wrong(range, "is not a range; expected whole numbers as in [0-7,12]");
  if (digits.size() > most_digits) wrong(range, "has a number of more than " + std::to_string(most_digits) + " digits");
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string padded(int number, std::size_t width) {
  std::string text = std::to_string(number);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

void expand_range(std::string_view range, std::vector<std::string>& numbers) {
  const std::size_t dash = range.find('-');
  const std::string_view low = range.substr(0, dash);
  const int first = to_number(low, range);
  const int last = dash == std::string_view::npos ? first : to_number(range.substr(dash + 1), range);
  if (last < first) wrong(range, "runs backwards; expected the smaller number first");
  if (static_cast<std::size_t>(last - first) >= most_names - numbers.size())
    wrong(range, "makes more than " + std::to_string(most_names) + " names");
  for (int i = first; i <= last; ++i) numbers.push_back(padded(i, low.size()));
}

// The inside of a bracket: 0-2,5
std::vector<std::string> expand_bracket(std::string_view inside) {
  std::vector<std::string> numbers;
  for (std::size_t begin = 0;;) {
    const std::size_t comma = inside.find(',', begin);
    expand_range(inside.substr(begin, comma - begin), numbers);
    if (comma == std::string_view::npos) return numbers;
    begin = comma + 1;
  }
}

void append_all(std::vector<std::string>& names, const std::vector<std::string>& endings) {
  if (names.size() * endings.size() > most_names)
    throw std::invalid_argument("the brackets make more than " + std::to_string(most_names) + " names");
  std::vector<std::string> longer;
  longer.reserve(names.size() * endings.size());
  for (const std::string& name : names)
    for (const std::string& ending : endings) longer.push_back(name + ending);
  names.swap(longer);
}

// One name, possibly with brackets.
std::vector<std::string> expand_name(std::string_view name) {
  std::vector<std::string> names{""};
  for (std::string_view rest = name; !rest.empty();) {
    const std::size_t open = rest.find_first_of("[]");
    append_all(names, {std::string(rest.substr(0, open))});
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find_first_of("[]", open + 1);
    if (rest[open] == ']' || close == std::string_view::npos || rest[close] == '[')
      wrong(name, "has a bracket without its partner; expected a list as in n[0-7,12]");
    append_all(names, expand_bracket(rest.substr(open + 1, close - open - 1)));
    rest.remove_prefix(close + 1);
  }
  return names;
}

// The end of the name that starts at `begin`: the next comma outside brackets.
std::size_t end_of_name(std::string_view list, std::size_t begin) {
  bool inside = false;
  for (std::size_t i = begin; i < list.size(); ++i) {
    if (list[i] == '[') inside = true;
    if (list[i] == ']') inside = false;
    if (list[i] == ',' && !inside) return i;
  }
  return list.size();
}

// A name split before the number at its end; no value when there is no number of a usable length.
struct numbered_name {
  std::string_view prefix, digits;
  std::optional<int> value;
};

numbered_name split_number(std::string_view name) {
  std::size_t n = 0;
  while (n < name.size() && is_digit(name[name.size() - n - 1])) ++n;
  numbered_name parts{name.substr(0, name.size() - n), name.substr(name.size() - n), {}};
  if (n > 0 && n <= most_digits) parts.value = to_number(parts.digits, name);
  return parts;
}

// The end of the names from `first` on that count up by one behind the same prefix.
std::size_t end_of_run(const std::vector<std::string>& names, std::size_t first) {
  const numbered_name start = split_number(names[first]);
  std::size_t next = first + 1;
  for (int value = start.value.value_or(0) + 1; start.value && next < names.size(); ++next, ++value)
    if (names[next] != std::string(start.prefix) + padded(value, start.digits.size())) break;
  return next;
}

// The end of the names from `first` on that are numbers behind the same prefix.
std::size_t end_of_family(const std::vector<std::string>& names, std::size_t first) {
  const numbered_name start = split_number(names[first]);
  std::size_t next = first + 1;
  while (start.value && next < names.size()) {
    const numbered_name other = split_number(names[next]);
    if (!other.value || other.prefix != start.prefix) break;
    ++next;
  }
  return next;
}

// 0-2,5 for the names of one family.
std::string fold_numbers(const std::vector<std::string>& names, std::size_t begin, std::size_t end) {
  std::string text;
  while (begin < end) {
    const std::size_t next = end_of_run(names, begin);
    text += (text.empty() ? "" : ",") + std::string(split_number(names[begin]).digits);
    if (next - begin > 1) text += "-" + std::string(split_number(names[next - 1]).digits);
    begin = next;
  }
  return text;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const std::string_view x = leading_digits(a.substr(i)), y = leading_digits(b.substr(j));
    if (!x.empty() && !y.empty()) {
      if (const int order = compare_numbers(x, y)) return order < 0;
      i += x.size();
      j += y.size();
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i, ++j;
    }
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a < b;  // equal up to zero padding
}

std::vector<std::string> expand_host_list(std::string_view list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0;; ++begin) {
    const std::size_t end = end_of_name(list, begin);
    if (end == begin) wrong(list, "has an empty name; expected names separated by single commas");
    auto more = expand_name(list.substr(begin, end - begin));
    if (names.size() + more.size() > most_names)
      wrong(list, "makes more than " + std::to_string(most_names) + " names");
    std::move(more.begin(), more.end(), std::back_inserter(names));
    if (end == list.size()) return names;
    begin = end;
  }
}

std::string fold_host_list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    const std::size_t end = end_of_family(names, i);
    if (i > 0) text += ',';
    if (end - i == 1) text += names[i];
    else text += std::string(split_number(names[i]).prefix) + "[" + fold_numbers(names, i, end) + "]";
    i = end;
  }
  return text;
}

}  // namespace shoal
