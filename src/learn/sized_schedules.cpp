#include "learn/sized_schedules.hpp"

#include <bit>

namespace shoal {

namespace {

// Each number in `width` bytes, the lowest byte first.
std::vector<std::byte> written(std::span<const std::int64_t> numbers, std::size_t width) {
  std::vector<std::byte> bytes;
  for (std::int64_t number : numbers)
    for (std::size_t k = 0; k < width; ++k) bytes.push_back(static_cast<std::byte>(number >> 8 * k));
  return bytes;
}

std::vector<std::int64_t> read(std::span<const std::byte> bytes, std::size_t width) {
  std::vector<std::int64_t> numbers(bytes.size() / width, 0);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    numbers[i / width] |= std::to_integer<std::int64_t>(bytes[i]) << 8 * (i % width);
  return numbers;
}

}  // namespace

std::shared_ptr<const linked_schedule> sized_schedules::make(const prepared& algorithm,
                                                             std::span<const std::int64_t> sent, std::int64_t largest) {
  const auto width = static_cast<std::size_t>((std::bit_width(static_cast<std::uint64_t>(largest)) + 7) / 8);
  std::vector<std::int64_t> all = read(of_.gather(written(sent, width)), width);
  if (last_ && algorithm.spec == spec_ && all == sizes_) return last_;
  problem at = of_.where();
  at.sizes = std::make_shared<const std::vector<std::int64_t>>(all);
  last_ = std::make_shared<const linked_schedule>(generate(parse_selection(algorithm.spec), at, of_.rank()));
  spec_ = algorithm.spec;
  sizes_ = std::move(all);
  return last_;
}

}  // namespace shoal
