// Predicts the flat algorithms from closed forms, without making a schedule.
// Hockney's model with one port and no contention; measure before preferring any
// algorithm, the prediction says which candidates to measure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/algorithm.hpp"

namespace shoal {

// A machine, in seconds.
struct hockney {
  double latency = 0;          // once for all messages in flight together
  double per_message = 0;      // work of a rank for each message it sends and the one it receives
  double per_metadata = 0;     // on top, when sizes travel with it; 0 for equal blocks, which announce none
  double per_byte = 0;         // sent
  double per_copied_byte = 0;  // packed or unpacked
};

// What one rank does in an exchange.
struct flat_load {
  std::int64_t waves = 0;     // times it waits for messages in flight together
  std::int64_t messages = 0;  // K
  std::int64_t metadata_messages = 0;
  std::int64_t blocks = 0;         // D
  std::int64_t copied_blocks = 0;  // packed into or unpacked from messages; the block for itself does not count
};

// Nothing for an algorithm that is not flat: native, hierarchical, or made for a network.
std::optional<flat_load> flat_load_of(const selection& chosen, int ranks);

double seconds(const flat_load& load, double block_bytes, const hockney& machine);

struct prediction {
  std::string spec;
  double seconds = 0;
  std::string reason;  // one line for people
};

// The fastest exchange of blocks of any size by this model: the best of all digit systems, or linear.
prediction best_flat(int ranks, double mean_block_bytes, const hockney& machine);

}  // namespace shoal
