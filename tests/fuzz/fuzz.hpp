// What fuzz targets share. This builds them with Clang, and runs each for as many seconds as one likes:
//     tools/fuzz 60
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace shoal::fuzz {

// Ends the process if a property does not hold. libFuzzer reports that, with the input.
inline void require(bool holds) {
  if (!holds) std::abort();
}

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// What `parse` makes of the input, or nothing if it says what is wrong with the input.
template <typename Parse>
auto parsed(Parse parse) -> std::optional<decltype(parse())> {
  try {
    return parse();
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

}  // namespace shoal::fuzz
