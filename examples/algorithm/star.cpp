// All-to-all through one rank: every block goes to rank 0, which sends it on.
//
// Source: the exchange of a star network; an example, not a fast one.
// Cost: rank 0 sends P-1 messages and (P-1)^2 blocks, every other rank one message of P-1 blocks.
// Applies: any number of ranks, uniform or not.
#include <vector>

#include "algorithms/algorithm.hpp"
#include "schedule/builder.hpp"

namespace shoal {

namespace {

constexpr int center = 0;

// The center keeps block [origin][destination] in a temp slot until it has left; the blocks for itself arrive.
void relay(builder& b) {
  std::vector<std::vector<slot>> held(b.ranks());  // by destination
  for (int origin = 0; origin < b.ranks(); ++origin) {
    if (origin == center) continue;
    std::vector<slot> arriving;
    for (int destination = 0; destination < b.ranks(); ++destination) {
      if (destination == origin) continue;
      arriving.push_back(destination == center ? recv_slot(origin) : b.new_temp());
      if (destination != center) held[destination].push_back(arriving.back());
    }
    b.recv(origin, arriving);
  }
  for (int destination = 0; destination < b.ranks(); ++destination) {
    if (destination == center) continue;
    held[destination].insert(held[destination].begin(), send_slot(destination));
    b.send(destination, held[destination]);
  }
}

// Everyone else sends all blocks but its own, in the order of destinations, and gets all in the order of origins.
void exchange_with_center(builder& b) {
  std::vector<slot> leaving, arriving;
  for (int peer = 0; peer < b.ranks(); ++peer) {
    if (peer == b.rank()) continue;
    leaving.push_back(peer == center ? send_slot(peer) : passing(send_slot(peer)));
    arriving.push_back(recv_slot(peer));
  }
  b.recv(center, arriving);
  b.send(center, leaving);
}

schedule generate_star(const problem& at, int rank, const arguments&) {
  builder b(at.ranks, rank);
  b.copy(send_slot(rank), recv_slot(rank));
  if (at.ranks > 1) rank == center ? relay(b) : exchange_with_center(b);
  return b.finish();
}

// Rank 0 has most of the work: this cannot be worth a trial where ranks are many.
std::vector<std::string> few_ranks(const problem& at) {
  return at.ranks <= 4 ? std::vector<std::string>{"star"} : std::vector<std::string>{};
}

}  // namespace

std::vector<algorithm> star_family() {
  algorithm a;
  a.name = "star";
  a.summary = "all blocks by way of rank 0";
  a.source = "example";
  a.generate = generate_star;
  a.tried = a.measured = few_ranks;
  return {a};
}

}  // namespace shoal
