#include "algorithms/allgather_pattern.hpp"

#include <algorithm>
#include <bit>

#include "algorithms/intergroup.hpp"

namespace shoal {

namespace {

// The least power of two above n: the distance of the first round in which a copy that came over offset n goes on.
int next_distance(int n) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(n) + 1)); }

}  // namespace

allgather_pattern::kind allgather_pattern::standard(int members) {
  return power_of_two(members) ? kind::recursive_doubling : kind::bruck;
}

allgather_pattern::kind allgather_pattern::parse(const std::string& word, int members) {
  if (word == "recursive_doubling") return kind::recursive_doubling;
  if (word == "bruck") return kind::bruck;
  if (word == "ring") return kind::ring;
  return standard(members);
}

int allgather_pattern::rounds() const { return kind_ == kind::ring ? members_ - 1 : ceil_log2(members_); }

allgather_pattern::exchange allgather_pattern::at(int round, int member) const {
  if (kind_ == kind::ring)
    return {wrap(member - 1), wrap(member + 1), wrap(member + round), wrap(member + 1 + round), 1};
  const int distance = 1 << round;
  if (kind_ == kind::bruck)
    return {wrap(member - distance), wrap(member + distance), member, wrap(member + distance),
            std::min(distance, members_ - distance)};
  const int partner = member ^ distance;
  return {partner, partner, member & -distance, partner & -distance, distance};
}

allgather_pattern::copies_served allgather_pattern::served_by_copy(int member, int origin) const {
  const int offset = wrap(origin - member);
  if (kind_ == kind::recursive_doubling) {
    const int stride = next_distance(member ^ origin);
    return {stride, members_ / stride - 1};
  }
  const int stride = kind_ == kind::ring ? 1 : next_distance(offset);
  return {stride, (members_ - 1 - offset) / stride};
}

}  // namespace shoal
