// Exchange on a tree of switches in contention-free phases.
//
// Source: AAPC on Ethernet switched clusters (Faraj and Yuan), corrected. Receiver-signalled tokens, windows and
// several streams on faster links are Shoal's own: docs/papers/aapc.md.
// Cost: P = m_0 (M - m_0) phases of one block, the load of the most loaded link; K = D = M - 1 messages a rank, each in
// a few parts, and up to two tokens a message: one for the next message on its links, one for the next message of its
// sender. Without synchronisation and with equal links, making a program takes time proportional to its own messages;
// else every process makes the plan of all ranks once, in O(M^2) (M^3 with exact reduction).
// If sizes are known, every process makes the order from them (list_greedy_order), and again for every new set of
// sizes: 3 ms for 32 ranks, 60 ms for 64.
// Applies: to up to 92,681 ranks, if the tree of switches is known. Optimal for equal blocks, near the bound for other
// blocks in an order made from their sizes, correct for any blocks.
#include "algorithms/exchange_plan.hpp"
#include "algorithms/families.hpp"
#include "algorithms/tree_phases.hpp"

namespace shoal {

namespace {

constexpr int most_sized_ranks = 64;
constexpr int most_phased_ranks = 92681;  // P ranks may have (P / 2)^2 phases, which operations number with 32 bits

bool looks_at_sizes(const problem& at, const arguments& with) {
  return with.word("order") == "sizes" && at.ranks <= most_sized_ranks;
}

schedule generate_tree(const problem& at, int rank, const arguments& with) {
  const switch_network& network = *at.switches;
  const int window = with.number("window", 1);
  const auto reduce = parse_reduction(with.word("sync"), at.ranks);
  const block_parts blocks = reduce ? block_parts{with.number("parts", 1), with.number("last", 0)} : block_parts{};
  const auto tree = network.remember<rank_tree>("tree", [&] { return rank_tree(network); });
  if (at.sizes && looks_at_sizes(at, with)) {
    sized_order order = list_greedy_order(*tree, *at.sizes);
    return exchange_plan(*tree, std::move(order.messages), window, reduce, order.empty).program(rank, blocks);
  }
  if (!reduce && *network.remember<bool>("closed form serves", [&] { return closed_form_serves(*tree); })) {
    const auto table = network.remember<rank_phases>("phases", [&] { return rank_phases(*tree); });
    return unsynchronised_program(*tree, *table, rank, window);
  }
  const auto plan = network.remember<exchange_plan>("plan " + with.word("window") + " " + with.word("sync"), [&] {
    return exchange_plan(*tree, phased_order(*tree), window, reduce);
  });
  return plan->program(rank, blocks);
}

std::optional<std::string> refuses_problem(const problem& at, const arguments&) {
  if (!at.switches) return "it needs the topology of the switches";
  if (at.switches->ranks() != at.ranks) return "the topology is for " + std::to_string(at.switches->ranks()) + " ranks";
  if (at.ranks > most_phased_ranks) return "it is for at most " + std::to_string(most_phased_ranks) + " ranks";
  return std::nullopt;
}

}  // namespace

std::vector<algorithm> tree_family() {
  algorithm a;
  a.name = "tree";
  a.summary = "contention-free phases on a tree of switches, as many as the most loaded link needs";
  a.source = "all-to-all personalized communication on Ethernet switched clusters (Faraj and Yuan)";
  a.parameters = {
      {"window", "messages that may share a link, and that a rank may have under way", "1", {}, 1, 1024},
      {"sync",
       "tokens that keep the phases apart; exact: fewest, chain2: cheap to find, auto: exact up to "
       "256 ranks, none: each rank only keeps its own order",
       "auto",
       {"auto", "exact", "chain2", "none"}},
      {"parts", "pieces of a block; the token is sent when all but the last have arrived", "2", {}, 1, 64},
      {"order",
       "order of blocks that are not equal; sizes: list greedy, for up to 64 ranks, which first tell each "
       "other all sizes; phases: the order for equal blocks",
       "sizes",
       {"sizes", "phases"}},
      {"last", "bytes that the last piece has at most; 0: as many as the other pieces", "8192", {}, 0, 1 << 24}};
  a.refuses = refuses_problem;
  a.looks_at_sizes = looks_at_sizes;
  a.generate = generate_tree;
  return {a};
}

}  // namespace shoal
