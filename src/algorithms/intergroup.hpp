// What the allgathers between two groups share. Ranks 0..p-1 send, each the message in its send[0]; ranks p..p+q-1
// receive, the message of sender j in recv[j]. Steps are numbered from 1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "schedule/builder.hpp"

namespace shoal {

constexpr int ceil_div(int value, int divisor) { return (value + divisor - 1) / divisor; }

// L(n) of the cost formulas, the rounds in which doubling reaches n: the least d with 2^d >= n.
constexpr int ceil_log2(int n) {
  int rounds = 0;
  while ((std::int64_t{1} << rounds) < n) ++rounds;
  return rounds;
}

constexpr bool power_of_two(int n) { return (n & (n - 1)) == 0; }

// One rank's program in steps. In a step a rank sends at most one message and receives at most one, both together after
// its previous step. Data is counted in pieces: part k of message j is piece j * parts + k.
//
// If paced, a rank sends only when the receiver has reached the same step and said so with a token. Without that,
// messages that MPI sends without asking the receiver (eager ones) take bandwidth from messages of earlier steps, for
// which others wait.
class step_program {
 public:
  step_program(const problem& at, int rank, int parts = 1, bool paced = false)
      : senders_(at.senders), ranks_(at.ranks), rank_(rank), parts_(parts), paced_(paced) {}

  // May be called in any order of steps. A transfer without pieces is left out.
  void send(int step, int to, std::span<const int> pieces) { note(op_kind::send, step, to, pieces); }
  void receive(int step, int from, std::span<const int> pieces) { note(op_kind::recv, step, from, pieces); }
  schedule finish();

 private:
  struct transfer {
    int step;
    op_kind kind;
    int peer;
    std::size_t first;
    int count;
  };

  void note(op_kind kind, int step, int peer, std::span<const int> pieces);
  void add_step(builder& b, window& steps, std::span<const transfer> together);
  op_id add(builder& b, const transfer& t, std::span<const op_id> after);
  slot source_of(int piece, bool passes) const;
  slot target_of(builder& b, int piece);

  int senders_, ranks_, rank_, parts_;
  bool paced_;
  std::vector<transfer> transfers_;
  std::vector<int> pieces_;                // of all transfers, one after another
  std::unordered_map<int, slot> passing_;  // by piece: where a sender holds pieces of others
};

// For algorithms whose programs can be paced.
parameter paced_parameter();
inline bool paced(const arguments& with) { return with.word("paced") == "yes"; }

// Why the problem does not have two groups, or nothing.
std::optional<std::string> refuses_groups(const problem& at, const arguments&);

// How long a schedule takes for messages of this size. A step of a paced schedule costs the startup of two messages. A
// schedule that is not paced is up to 1.3 times slower than its volume says if messages are long
// (docs/measured/two-groups.md): so pacing is preferred while it costs less than 5 %.
double seconds_of(intergroup_cost cost, bool paced, double bytes, const link_cost& link);

// For algorithm::on_network: the specs if this is the `wanted` network, the only one that they suit.
inline std::vector<std::string> only_on(std::string_view wanted, std::string_view network,
                                        std::vector<std::string> specs) {
  return network == wanted ? std::move(specs) : std::vector<std::string>{};
}

// An entry of the table that serves any two groups.
algorithm intergroup_entry(const char* name, const char* summary, const char* source,
                           schedule (*generate)(const problem&, int, const arguments&),
                           intergroup_cost (*cost)(const problem&, const arguments&));

algorithm intergroup_full();                // intergroup_full.cpp
algorithm intergroup_circulant();           // intergroup_circulant.cpp
algorithm intergroup_torus();               // intergroup_torus.cpp
algorithm intergroup_root_gathering();      // intergroup_root.cpp
std::vector<algorithm> intergroup_rings();  // intergroup_ring.cpp

}  // namespace shoal
