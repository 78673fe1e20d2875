#include "team/team_turns.hpp"

#include <algorithm>
#include <atomic>

#include "team/pending_agreement.hpp"

namespace shoal {

static std::atomic<std::uint64_t> turns_before = 0;

team_turns::~team_turns() {
  for (std::uint64_t before = turns_before; before < next();)
    if (turns_before.compare_exchange_weak(before, next())) break;
}

void team_turns::begin(MPI_Comm among, waiting& waits) {
  pending_agreement latest(among, {static_cast<std::int64_t>(std::max<std::uint64_t>(turns_before, next()))});
  begin_at(static_cast<std::uint64_t>(latest.wait(waits)[0]));
}

}  // namespace shoal
