// Batches of messages: the pace of the scattered exchange, used alone and between nodes.
#pragma once

#include <algorithm>

#include "algorithms/algorithm.hpp"
#include "schedule/builder.hpp"

namespace shoal {

constexpr int all_requests = 1 << 20;

inline parameter block_count_parameter() {
  return {"block_count", "messages sent and received per batch", "32", {"all"}, 1, all_requests};
}

// Requests 0..requests-1, block_count of them together, each batch a step.
struct batching {
  int requests, block_count, first_step = 0;
};

// Builds the receives of each batch, then its sends; each batch comes after the one before. `receive(k)` and `send(k)`
// add any number of operations for request k to `order`. A batch must hold the same requests on all ranks: else sends
// that wait for their receives could wait in a circle.
template <typename Receive, typename Send>
void in_batches(builder& b, window& order, const batching& all, Receive receive, Send send) {
  for (int first = 0; first < all.requests; first += all.block_count) {
    const int end = std::min(all.requests, first + all.block_count);
    order.join(b);
    b.step(all.first_step + first / all.block_count);
    for (int k = first; k < end; ++k) receive(k);
    for (int k = first; k < end; ++k) send(k);
    order.next_group();
  }
}

}  // namespace shoal
