// What was learnt on a communicator, for the report and for the rest of the job.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "learn/exchange_fields.hpp"
#include "learn/first_calls.hpp"
#include "select/knowledge.hpp"
#include "team/usage.hpp"

namespace shoal {

// What was learnt about one kind and size of exchange.
struct lesson {
  call_form form;
  usage natives;       // what the MPI's own served
  double block_bytes;  // on average
  std::string tried;   // what was tried and with what result; empty: nothing
};

// `tried`: the candidates; `blocks`: the number of blocks that this rank sends in an exchange.
std::vector<lesson> lessons_of(const first_calls& young, const exchange_fields& all, std::span<const std::string> tried,
                               int blocks);

// Counts the communicator, whose ranks are on `nodes` nodes, among those that made such exchanges, unless that number is
// 0, which means that it is not known. To be called once, when the communicator ends.
void count_communicator(knowledge& known, const first_calls& young, const exchange_fields& all, int nodes);

}  // namespace shoal
