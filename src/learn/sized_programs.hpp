// Programs made for the sizes of one exchange, of algorithms that look at them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learn/decision.hpp"
#include "team/team.hpp"

namespace shoal {

class sized_programs {
 public:
  explicit sized_programs(team& of) : of_(of) {}

  // `sent`: of each block that this rank sends; `largest`, of all ranks' blocks, is the same everywhere. All ranks tell
  // each other, in as many bytes a size as the largest needs. The last program is kept: sizes often stay the same.
  // Collective.
  std::shared_ptr<const program> make(const prepared& algorithm, std::span<const std::int64_t> sent,
                                      std::int64_t largest);

 private:
  team& of_;
  std::string spec_;  // of the last one, and the sizes it is for
  std::vector<std::int64_t> sizes_;
  std::shared_ptr<const program> last_;
};

}  // namespace shoal
