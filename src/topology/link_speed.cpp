#include "topology/link_speed.hpp"

#include <charconv>
#include <cmath>

namespace shoal {

double to_bits_per_second(std::string_view text) {
  constexpr double most = 1e18;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(value) || value > most) return 0;
  std::string_view unit = text.substr(end - text.data());
  constexpr std::string_view bit = "bit";
  if (unit.size() >= bit.size() && unit.substr(unit.size() - bit.size()) == bit) unit.remove_suffix(bit.size());
  if (unit.size() > 1) return 0;
  const std::size_t power = unit.empty() ? 0 : std::string_view("kMGT").find(unit[0]) + 1;
  if (!unit.empty() && power == 0) return 0;  // npos + 1
  const double bits = value * std::pow(1000.0, static_cast<double>(power));
  return bits >= 1 && bits <= most ? bits : 0;
}

std::string from_bits_per_second(double bits) {
  static constexpr std::string_view units = "kMGT";
  std::size_t power = 0;
  while (power < units.size() && std::fmod(bits, 1000.0) == 0) bits /= 1000.0, ++power;
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, bits, std::chars_format::fixed).ptr;
  return std::string(text, end) + (power > 0 ? std::string(1, units[power - 1]) : "");
}

}  // namespace shoal
