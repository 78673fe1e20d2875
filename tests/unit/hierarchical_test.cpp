#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "algorithms/algorithm.hpp"
#include "algorithms/digits.hpp"
#include "schedule/checker.hpp"
#include "same_schedule.hpp"
#include "topology/node_layout.hpp"
#include "trace.hpp"

namespace shoal {
namespace {

using lists = std::vector<std::vector<int>>;

problem on(const node_layout& nodes) {
  problem at;
  at.ranks = nodes.ranks();
  at.nodes = std::make_shared<node_layout>(nodes);
  return at;
}
problem on(const std::string& layout) { return on(node_layout::parse(layout)); }

std::vector<schedule> programs_of(const std::string& spec, const problem& at) {
  return generate_all(parse_selection(spec), at);
}

// Specs with nearly all combinations of words, and with these numbers.
std::vector<std::string> all_specs(const std::vector<std::string>& radices, const std::vector<std::string>& counts) {
  std::vector<std::string> specs;
  std::vector<std::string> locals{"local=linear"}, globals{"global=pairwise"};
  for (const auto& r : radices) {
    locals.push_back("radix=" + r);
    globals.push_back("global=radix,global_radix=" + r);
  }
  for (const auto& c : counts) globals.push_back("block_count=" + c);
  for (const auto& local : locals)
    for (const auto& global : globals)
      for (const char* pattern : {"coalesced", "staggered"})
        for (const char* overlap : {"on", "off"})
          for (const char* carriers : {"all", "1", "2"})
            if (*carriers == 'a' || local == locals[0])
              specs.push_back("hierarchical:" + local + "," + global + ",pattern=" + pattern + ",overlap=" + overlap +
                              ",carriers=" + carriers);
  return specs;
}

void expect_correct(const std::string& spec, const problem& at, const std::string& what) {
  const auto fault = check(programs_of(spec, at), alltoall_meaning(at.ranks));
  ASSERT_FALSE(fault) << spec << " on " << what << ": " << fault->text;
}

// ---- against the specification's vectors -----------------------------------------------------------------------

std::int64_t elements(block_name b) {
  const int v = (7 * b.origin + 13 * b.destination + 5 * b.origin * b.destination) % 11;
  return v < 4 ? 0 : v - 3;
}
std::int64_t elements(const std::vector<block_name>& blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0},
                         [](std::int64_t sum, block_name b) { return sum + elements(b); });
}

using row = std::vector<std::int64_t>;

struct split_messages {
  std::vector<row> intra, inter;  // rows as in the vectors, sorted
};

split_messages by_part(const std::vector<traced_message>& messages, const node_layout& nodes, int radix, int direction,
                       int batches_joined) {
  split_messages result;
  const int rounds = static_cast<int>(digit_system(nodes.largest_node(), radix).steps());
  for (const auto& m : messages) {
    const int from = nodes.node_of(m.from), to = nodes.node_of(m.to);
    const auto blocks = static_cast<std::int64_t>(m.blocks.size());
    if (from == to) {
      const digit_system system(nodes.size_of(from), radix);
      int x = 0, step = m.step;
      while (step >= system.steps_of_digit(x)) step -= system.steps_of_digit(x++);
      result.intra.push_back({m.from, m.to, x, step + 1, blocks, elements(m.blocks)});
    } else {
      const int distance = modulo(direction * (to - from), nodes.nodes());
      result.inter.push_back({(m.step - rounds) / batches_joined, distance, m.from, m.to, blocks, elements(m.blocks)});
    }
  }
  std::sort(result.intra.begin(), result.intra.end());
  std::sort(result.inter.begin(), result.inter.end());
  return result;
}

nlohmann::json vectors(const char* key) {
  std::ifstream file(std::string(SHOAL_VECTORS) + "/vectors-radix.json");
  return nlohmann::json::parse(file).at(key);
}

std::vector<row> sorted_rows(const nlohmann::json& rows) {
  auto all = rows.get<std::vector<row>>();
  std::sort(all.begin(), all.end());
  return all;
}

void expect_total(const nlohmann::json& v, const std::string& part, const std::vector<row>& rows) {
  std::int64_t blocks = 0, sum = 0;
  for (const row& r : rows) blocks += r[4], sum += r[5];
  EXPECT_EQ(static_cast<std::int64_t>(rows.size()), v[part + "_messages"]);
  EXPECT_EQ(blocks, v[part + "_blocks"]);
  EXPECT_EQ(sum, v[part + "_elements"]);
}

// A vector goes down in rank (-1), as scattered does, or up (+1), as pairwise does. A batch of pairwise is one request,
// and a batch of such a vector is block_count requests.
TEST(hierarchical, sends_what_the_vectors_say) {
  for (const auto& v : vectors("hier")) {
    SCOPED_TRACE(v["name"].get<std::string>() + " " + v["variant"].get<std::string>());
    const node_layout nodes = node_layout::from_lists(v["nodes"].get<lists>());
    const int radix = v["r"], block_count = v["block_count"], direction = v["dir"];
    const std::string global =
        direction < 0 ? "block_count=" + std::to_string(block_count) : std::string("global=pairwise");
    const auto programs = programs_of(
        "hierarchical:radix=" + std::to_string(radix) + "," + global + ",pattern=" + v["variant"].get<std::string>(),
        on(nodes));
    const auto messages = by_part(trace(programs), nodes, radix, direction, direction < 0 ? 1 : block_count);
    expect_total(v, "intra", messages.intra);
    expect_total(v, "inter", messages.inter);
    if (v.contains("intra")) {
      EXPECT_EQ(messages.intra, sorted_rows(v["intra"]));
    }
    if (v.contains("inter")) {
      EXPECT_EQ(messages.inter, sorted_rows(v["inter"]));
    }
    std::vector<int> sends(nodes.ranks(), 0);
    for (const row& r : messages.inter) ++sends[r[2]];
    EXPECT_EQ(*std::max_element(sends.begin(), sends.end()), v["max_sends"]);
    EXPECT_EQ(*std::min_element(sends.begin(), sends.end()), v["min_sends"]);
    EXPECT_EQ(messages.inter.back()[0] + 1, v["batches"]);
    int peak = 0;
    for (const auto& p : programs) peak = std::max(peak, temp_peak(p));
    EXPECT_EQ(peak, v["T_slots_used"]);
  }
}

// ---- every small and many large placements ---------------------------------------------------------------------

template <typename Visit>
void for_each_composition(int ranks, std::vector<int>& sizes, Visit visit) {
  if (ranks == 0) return visit(sizes);
  for (int first = 1; first <= ranks; ++first) {
    sizes.push_back(first);
    for_each_composition(ranks - first, sizes, visit);
    sizes.pop_back();
  }
}

std::string text_of(const node_layout& nodes) {
  std::string text;
  for (int n = 0; n < nodes.nodes(); ++n)
    for (int i = 0; i < nodes.size_of(n); ++i)
      text += (i > 0 ? "," : n > 0 ? "/" : "") + std::to_string(nodes.ranks_of(n)[i]);
  return text;
}

node_layout blocks_of(const std::vector<int>& sizes) {
  lists nodes;
  int rank = 0;
  for (int size : sizes) {
    nodes.emplace_back(size);
    for (int& r : nodes.back()) r = rank++;
  }
  return node_layout::from_lists(nodes);
}

TEST(hierarchical, delivers_on_every_composition_of_small_numbers) {
  const auto specs = all_specs({"2", "3"}, {"1", "3", "all"});
  for (int ranks = 1; ranks <= (exhaustive() ? 12 : 8); ++ranks) {
    std::vector<int> sizes;
    for_each_composition(ranks, sizes, [&](const std::vector<int>& parts) {
      const problem at = on(blocks_of(parts));
      for (const auto& spec : specs) ASSERT_NO_FATAL_FAILURE(expect_correct(spec, at, text_of(*at.nodes)));
    });
  }
}

TEST(hierarchical, delivers_on_compositions_to_12_with_one_spec_each) {
  const auto specs = all_specs({"2", "3"}, {"1", "3", "all"});
  std::size_t next = 0;
  for (int ranks = 9; ranks <= 12; ++ranks) {
    std::vector<int> sizes;
    for_each_composition(ranks, sizes, [&](const std::vector<int>& parts) {
      const problem at = on(blocks_of(parts));
      ASSERT_NO_FATAL_FAILURE(expect_correct(specs[next++ % specs.size()], at, text_of(*at.nodes)));
    });
  }
}

// Ranks shuffled, or in blocks, or dealt out in turn, on nodes of random sizes.
node_layout random_layout(std::mt19937& random, int most_ranks) {
  const int ranks = pick(random, 1, most_ranks), count = pick(random, 1, ranks), form = pick(random, 0, 2);
  std::vector<int> node_of(ranks);
  for (int r = 0; r < ranks; ++r) node_of[r] = form == 0 ? r % count : pick(random, 0, count - 1);
  if (form == 1) std::sort(node_of.begin(), node_of.end());
  const node_layout ascending = node_layout::from_node_ids(node_of);
  if (form != 2) return ascending;
  lists nodes;
  for (int n = 0; n < ascending.nodes(); ++n) {
    const auto members = ascending.ranks_of(n);
    nodes.emplace_back(members.begin(), members.end());
    std::shuffle(nodes.back().begin(), nodes.back().end(), random);
  }
  std::shuffle(nodes.begin(), nodes.end(), random);
  return node_layout::from_lists(nodes);
}

std::string random_spec(std::mt19937& random) {
  const std::string radix = std::to_string(pick(random, 2, 20)), other = std::to_string(pick(random, 2, 20));
  const auto specs = all_specs({radix, "auto"}, {other, "all"});
  return specs[pick(random, 0, static_cast<int>(specs.size()) - 1)];
}

TEST(hierarchical, delivers_on_random_placements) {
  std::mt19937 random(20240607);
  for (int i = 0; i < (exhaustive() ? 5000 : 400); ++i) {
    const problem at = on(random_layout(random, i % 8 == 0 ? 256 : 64));
    ASSERT_NO_FATAL_FAILURE(expect_correct(random_spec(random), at, text_of(*at.nodes)));
  }
}

// ---- a composition of the flat families ------------------------------------------------------------------------

void expect_same(const std::string& spec, const problem& at, const std::string& flat_spec) {
  problem flat;
  flat.ranks = at.ranks;
  const auto programs = programs_of(spec, at), expected = programs_of(flat_spec, flat);
  for (int rank = 0; rank < at.ranks; ++rank)
    ASSERT_TRUE(same(programs[rank], expected[rank]))
        << spec << " and " << flat_spec << ", rank " << rank << " of " << at.ranks;
}

TEST(hierarchical, is_the_flat_radix_exchange_on_one_node) {
  for (int ranks = 1; ranks <= 40; ++ranks)
    for (const char* radix : {"2", "3", "7", "auto", "64"}) {
      const std::string r = std::string("radix=") + radix;
      const problem at = on(std::to_string(ranks));
      expect_same("hierarchical:global=radix," + r, at, "tuna:" + r);
      expect_same("hierarchical:global=radix,overlap=off," + r, at, "tuna:inflight=1," + r);
      expect_same("hierarchical:local=linear", at, "spread_out");
    }
}

// Shared memory changes how messages inside a node travel, not which messages there are.
TEST(hierarchical, local_shared_is_local_linear_with_another_way_inside_the_node) {
  for (const char* layout : {"8", "4,4,3", "cyclic:5,2,1", "0,3,6/1,4/2,5"}) {
    const problem at = on(layout);
    const auto linear = generate_all(parse_selection("hierarchical:local=linear"), at);
    const auto shared = generate_all(parse_selection("hierarchical:local=shared"), at);
    for (int rank = 0; rank < at.ranks; ++rank) {
      EXPECT_TRUE(same(shared[rank], linear[rank])) << layout << ", rank " << rank;
      EXPECT_TRUE(shared[rank].shared_memory && !linear[rank].shared_memory);
    }
  }
}

TEST(hierarchical, is_the_flat_exchange_between_nodes_of_one_rank) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    problem no_nodes;
    no_nodes.ranks = ranks;
    for (const problem& at : {no_nodes, on(std::to_string(ranks) + "x1")}) {
      expect_same("hierarchical:block_count=5", at, "scattered:block_count=5");
      expect_same("hierarchical:pattern=staggered", at, "scattered");
      expect_same("hierarchical:global=pairwise", at, "pairwise");
      expect_same("hierarchical:global=radix,global_radix=3", at, "tuna:radix=3");
      expect_same("hierarchical:global=radix,overlap=off", at, "tuna:inflight=1");
    }
  }
}

TEST(hierarchical, refuses_a_layout_of_another_size) {
  problem at = on("4,4,3");
  at.ranks = 12;
  try {
    generate(parse_selection("hierarchical:radix=3"), at, 0);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "hierarchical:radix=3 cannot serve 12 ranks: the node layout has 11 ranks");
  }
}

// All messages between nodes have numbers, as if every node had as many ranks as the largest.
TEST(hierarchical, refuses_more_messages_than_it_can_number) {
  constexpr int many = 1 << 16;
  lists of_nodes(many + 1);
  of_nodes[0].resize(many);
  std::iota(of_nodes[0].begin(), of_nodes[0].end(), 0);
  for (int node = 1; node <= many; ++node) of_nodes[node] = {many + node - 1};
  const problem at = on(node_layout::from_lists(of_nodes));
  try {
    generate(parse_selection("hierarchical:pattern=staggered"), at, 2 * many - 1);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("4294967296 messages"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(generate(parse_selection("hierarchical"), at, 2 * many - 1).operations.empty());
}

// ---- cost formulas -----------------------------------------------------------------------------------------------

struct part_traffic {
  std::int64_t messages = 0, blocks = 0;
  bool operator==(const part_traffic&) const = default;
};
std::ostream& operator<<(std::ostream& out, const part_traffic& t) {
  return out << t.messages << " messages, " << t.blocks << " blocks";
}

struct traffic_by_part {
  part_traffic inside, between;
};

traffic_by_part sent_by_part(const schedule& program, const node_layout& nodes) {
  traffic_by_part sum;
  for (const operation& op : program.operations) {
    if (op.kind != op_kind::send) continue;
    part_traffic& part = nodes.node_of(op.peer) == nodes.node_of(program.rank) ? sum.inside : sum.between;
    ++part.messages;
    part.blocks += op.slot_count;
  }
  return sum;
}

// Each node has Q = 6 ranks. Its c carriers send the blocks of all Q ranks to other nodes, in as many messages as c
// ranks would. They hand on what arrives for the others.
TEST(hierarchical, fewer_carriers_send_fewer_messages) {
  const problem at = on("5x6");
  for (const int count : {1, 2, 3, 6}) {
    const std::string spec = "hierarchical:local=linear,carriers=" + std::to_string(count);
    for (const schedule& program : programs_of(spec, at)) {
      const bool carries = at.nodes->local_of(program.rank) < count;
      const traffic_by_part sent = sent_by_part(program, *at.nodes);
      EXPECT_EQ(sent.between, (carries ? part_traffic{4, 4 * 6 * 6 / count} : part_traffic{})) << spec;
      const int others = carries ? 6 / count - 1 : 0;
      const std::int64_t bundles = 5 + (carries ? count - 1 : count) * std::int64_t{4 * 6 / count};
      EXPECT_EQ(sent.inside, (part_traffic{5 + others, bundles + others * 24})) << spec << ", rank " << program.rank;
    }
  }
}

std::int64_t blocks_linear(int n) { return n - 1; }

TEST(hierarchical, moves_what_the_formulas_say_on_equal_nodes) {
  for (int q = 1; q <= 9; ++q)
    for (int n = 1; n <= 9; ++n)
      for (int radix : {2, 3, 5}) {
        const node_layout nodes = node_layout::parse("cyclic:" + std::to_string(n) + "x" + std::to_string(q));
        const digit_system inside(q, radix), between(n, radix);
        const std::string r = std::to_string(radix);
        const auto sent = [&](const std::string& spec) {
          return sent_by_part(generate(parse_selection("hierarchical:" + spec), on(nodes), (q * n) / 2), nodes);
        };
        const part_traffic local{inside.steps(), n * inside.blocks()};
        EXPECT_EQ(sent("radix=" + r).inside, local);
        EXPECT_EQ(sent("radix=" + r + ",pattern=staggered").inside, local);
        EXPECT_EQ(sent("local=linear").inside, (part_traffic{q - 1, n * blocks_linear(q)}));
        EXPECT_EQ(sent("radix=" + r).between, (part_traffic{n - 1, q * blocks_linear(n)}));
        EXPECT_EQ(sent("pattern=staggered").between, (part_traffic{q * (n - 1), q * blocks_linear(n)}));
        EXPECT_EQ(sent("global=radix,global_radix=" + r).between,
                  (part_traffic{between.steps(), q * between.blocks()}));
        EXPECT_EQ(sent("pattern=staggered,global=radix,global_radix=" + r).between,
                  (part_traffic{q * between.steps(), q * between.blocks()}));
      }
}

TEST(hierarchical, moves_what_the_formulas_say_on_any_nodes) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const node_layout nodes = random_layout(random, 60);
    const int radix = pick(random, 2, 6);
    std::vector<std::int64_t> inside(nodes.nodes(), 0);
    for (int rank = 0; rank < nodes.ranks(); ++rank) {
      const int node = nodes.node_of(rank), q = nodes.size_of(node), g = nodes.local_of(rank);
      const auto sent = sent_by_part(
          generate(parse_selection("hierarchical:radix=" + std::to_string(radix)), on(nodes), rank), nodes);
      const std::int64_t messages = (nodes.ranks() - g + q - 1) / q - 1;
      EXPECT_EQ(sent.between, (part_traffic{messages, q * messages}));
      EXPECT_EQ(sent.inside.messages, digit_system(q, radix).steps());
      inside[node] += sent.inside.blocks;
    }
    for (int node = 0; node < nodes.nodes(); ++node)
      EXPECT_EQ(inside[node], nodes.ranks() * digit_system(nodes.size_of(node), radix).blocks()) << text_of(nodes);
  }
}

// Every block crosses between nodes once, except in a radix exchange between the nodes.
TEST(hierarchical, crosses_between_nodes_once) {
  std::mt19937 random(11);
  for (int i = 0; i < 100; ++i) {
    const node_layout nodes = random_layout(random, 40);
    std::int64_t crossing = 0, expected = 0;
    for (const auto& p : programs_of("hierarchical:pattern=staggered", on(nodes)))
      crossing += sent_by_part(p, nodes).between.blocks;
    for (int n = 0; n < nodes.nodes(); ++n) expected += nodes.size_of(n) * (nodes.ranks() - nodes.size_of(n));
    EXPECT_EQ(crossing, expected) << text_of(nodes);
  }
}

// ---- scratch (specification 5.5) ---------------------------------------------------------------------------------

TEST(hierarchical, stays_within_the_scratch_bound) {
  std::mt19937 random(13);
  for (int i = 0; i < 300; ++i) {
    const node_layout nodes = random_layout(random, 80);
    const int radix = pick(random, 2, 9);
    const std::string spec = "hierarchical:radix=" + std::to_string(radix) + (i % 2 ? ",pattern=staggered" : "");
    for (const auto& p : programs_of(spec, on(nodes))) {
      const int q = nodes.size_of(nodes.node_of(p.rank));
      const std::int64_t bundle = (nodes.ranks() + q - 1) / q;
      EXPECT_LE(temp_peak(p), (q - 1) * (bundle - 1) + digit_system(q, radix).slot_bound())
          << spec << " on " << text_of(nodes) << ", rank " << p.rank;
    }
  }
}

TEST(hierarchical, stays_within_the_scratch_bound_with_a_radix_between_nodes) {
  for (int q = 1; q <= 9; ++q)
    for (int n = 1; n <= 9; ++n)
      for (int radix : {2, 3, 4}) {
        const std::string r = std::to_string(radix);
        const std::string spec = "hierarchical:global=radix,radix=" + r + ",global_radix=" + r;
        const auto p = generate(parse_selection(spec), on(std::to_string(n) + "x" + std::to_string(q)), 0);
        const auto passing = std::max(digit_system(q, radix).slot_bound(), digit_system(n, radix).slot_bound());
        EXPECT_LE(temp_peak(p), (n - 1) * (q - 1) + passing) << spec << " on " << n << "x" << q;
      }
}

// ---- dependencies --------------------------------------------------------------------------------------------------

bool crosses(const schedule& program, const operation& op, const node_layout& nodes) {
  return op.kind != op_kind::copy && nodes.node_of(op.peer) != nodes.node_of(program.rank);
}

// For each operation, whether it comes after `first`, directly or through others.
std::vector<char> after(const schedule& program, op_id first) {
  std::vector<char> is_after(program.operations.size(), 0);
  for (std::size_t id = first + 1; id < is_after.size(); ++id)
    for (op_id earlier : program.after_of(program.operations[id]))
      is_after[id] |= earlier == first || is_after[earlier];
  return is_after;
}

TEST(hierarchical, as_published_leaves_a_node_after_all_rounds_inside_it) {
  const problem at = on("0,5,6,9,2/1,4,3/7,8");
  for (const auto& spec : all_specs({"2"}, {"2"}))
    if (spec.ends_with("overlap=off"))
      for (const auto& program : programs_of(spec, at))
        for (std::size_t id = 0; id < program.operations.size(); ++id) {
          const operation& op = program.operations[id];
          if (op.kind == op_kind::copy || crosses(program, op, *at.nodes)) continue;
          const auto is_after = after(program, static_cast<op_id>(id));
          for (std::size_t later = 0; later < program.operations.size(); ++later)
            ASSERT_TRUE(is_after[later] || !crosses(program, program.operations[later], *at.nodes))
                << spec << ": operation " << later << " need not wait for " << id;
        }
}

// A rank's own blocks leave at once, and receives from other nodes are posted at once. A block that passes through
// waits only for its own arrival.
TEST(hierarchical, leaves_a_node_as_soon_as_it_can) {
  const problem at = on("4x6");
  for (const auto& program : programs_of("hierarchical:radix=2,pattern=staggered,block_count=all", at))
    for (const operation& op : program.operations) {
      if (!crosses(program, op, *at.nodes)) continue;
      const slot block = program.slots_of(op)[0];
      ASSERT_EQ(op.after_count, op.kind == op_kind::send && block.at() == place::temp ? 1u : 0u);
    }
}

}  // namespace
}  // namespace shoal
