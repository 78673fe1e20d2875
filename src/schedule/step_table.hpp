// Prints schedules step by step: one line a step, such as "1: 0->7:m0 3->4:m3".
#pragma once

#include <string>

#include "schedule/steps.hpp"

namespace shoal {

// Ranks and what moves between them: m3 is the message of rank 3, m3.1 its part 1 where messages are cut into `parts`,
// m0,m1 two in one transfer.
std::string step_table(const step_report& report, int parts = 1);

}  // namespace shoal
