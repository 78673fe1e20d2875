// Batches of messages: the pace of the scattered exchange, alone and between nodes.
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

// The receives of a batch, then its sends, each batch after the one before. `receive(k)` and `send(k)` add the
// operations of request k to `order`, any number of them. Batches hold the same requests on all ranks; otherwise sends
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
