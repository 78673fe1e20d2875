// Programs made for the sizes of one exchange, for algorithms that look at sizes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learn/decision.hpp"
#include "team/team.hpp"

namespace shoal {

class sized_schedules {
 public:
  explicit sized_schedules(team& of) : of_(of) {}

  // `sent`: the size of each block that this rank sends; `largest`: the size of the largest block of all ranks, the
  // same on every rank. The ranks tell each other all sizes, each in as many bytes as the largest needs. The last
  // schedule is kept, because sizes often stay the same. Collective.
  std::shared_ptr<const linked_schedule> make(const prepared& algorithm, std::span<const std::int64_t> sent,
                                              std::int64_t largest);

 private:
  team& of_;
  std::string spec_;  // of the last schedule, and the sizes that it is for
  std::vector<std::int64_t> sizes_;
  std::shared_ptr<const linked_schedule> last_;
};

}  // namespace shoal
