#include "calls/recent_calls.hpp"

namespace shoal {

constinit std::array<recent_calls::place, recent_calls::places> recent_calls::last_{};

}  // namespace shoal
