// Prints schedules step by step: one line a step, such as "1: 0->7:m0 3->4:m3".
#pragma once

#include <string>

#include "schedule/steps.hpp"

namespace shoal {

// Shows which ranks send what to whom: m3 is the message of rank 3, m3.1 is part 1 of it if messages are cut into
// `parts` parts, and m0,m1 are two messages in one transfer.
std::string step_table(const step_report& report, int parts = 1);

}  // namespace shoal
