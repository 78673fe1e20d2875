#include "execute/scratch.hpp"

#include "execute/memory_pool.hpp"
#include "execute/sizes.hpp"

namespace shoal {

std::int64_t scratch_bound::with(std::int64_t largest_block, std::int64_t packed_bytes) const {
  return bytes + memory_pool::with_unused(blocks * largest_block + packed_bytes);
}

namespace {
// Whether the operation moves one block of the user, straight from or to its place.
bool is_direct(std::span<const slot> slots, bool copies) {
  return copies ? slots[1].at() == place::recv : slots.size() == 1 && slots[0].at() != place::temp;
}
}  // namespace

scratch_bound bound_scratch(const linked_schedule& steps, bool uniform, std::size_t inline_bytes) {
  const bool announces = !uniform || steps.parts > 1;
  scratch_bound most;
  std::int64_t parts = 0;
  for (std::size_t id = 0; id < steps.operations.size(); ++id) {
    const auto slots = steps.slots_of(steps.operations[id]);
    const bool sizes = announces && steps.announced[id] > 0;
    const bool copies = steps.operations[id].kind == op_kind::copy;
    if (slots.empty() || (!sizes && is_direct(slots, copies))) continue;
    parts += copies ? 1 : static_cast<std::int64_t>(slots.size());
    most.bytes += 2 * memory_pool::smallest;  // for the sizes, and for the data
    if (sizes)
      most.bytes +=
          memory_pool::with_unused(static_cast<std::int64_t>(1 + steps.announced[id] * most_size_bytes + inline_bytes));
  }
  most.blocks = (parts + steps.parts - 1) / steps.parts;
  if (steps.parts > 1) most.bytes += parts;  // because the size of each part may be rounded up
  return most;
}

}  // namespace shoal
