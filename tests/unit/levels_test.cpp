// The algorithm `hierarchical` on layouts of more than two levels. hierarchical_test.cpp has those of two levels.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "algorithms/algorithm.hpp"
#include "algorithms/digits.hpp"
#include "same_schedule.hpp"
#include "schedule/checker.hpp"
#include "topology/layout_tree.hpp"
#include "trace.hpp"

namespace shoal {
namespace {

std::vector<schedule> programs_of(const std::string& spec, const problem& at) {
  return generate_all(parse_selection(spec), at);
}

void expect_correct(const std::string& spec, const problem& at) {
  const auto fault = check(programs_of(spec, at), alltoall_meaning(at.ranks));
  ASSERT_FALSE(fault) << spec << " on " << to_string(*at.levels) << ": " << fault->text;
}

// ---- specs ---------------------------------------------------------------------------------------------------------

std::string one_of(std::mt19937& random, const std::vector<std::string>& all) {
  return all[pick(random, 0, static_cast<int>(all.size()) - 1)];
}

// Text that gives a value for each level.
template <typename Value>
std::string by_level(int levels, Value value) {
  std::string text = value();
  for (int l = 1; l < levels; ++l) text += "/" + value();
  return text;
}

std::string random_spec(std::mt19937& random, int levels, const std::string& innermost = "") {
  const auto number = [&](int lowest) { return std::to_string(pick(random, lowest, lowest + 6)); };
  const auto radix = [&] { return pick(random, 0, 2) ? number(2) : "auto"; };
  const auto carriers = [&] { return pick(random, 0, 2) ? "all" : number(1); };
  const auto count = [&] { return pick(random, 0, 1) ? number(1) : "all"; };
  std::string first = innermost;
  const auto local = [&] {
    if (!first.empty()) return std::exchange(first, "");
    return one_of(random, {"radix", "radix", "linear", "shared", "scattered", "pairwise", "none"});
  };
  return "hierarchical:local=" + by_level(levels - 1, local) + ",radix=" + by_level(levels - 1, radix) +
         ",global=" + one_of(random, {"scattered", "radix", "pairwise"}) + ",global_radix=" + radix() +
         ",block_count=" + by_level(levels, count) + ",pattern=" + one_of(random, {"coalesced", "staggered"}) +
         ",carriers=" + by_level(levels - 1, carriers) + ",overlap=" + one_of(random, {"on", "off"});
}

// ---- every small tree ----------------------------------------------------------------------------------------------

// A tree in which every inner node has at least two members. Such trees stand for all machines, because a level in
// between with one member changes nothing.
struct shape {
  int leaves = 1, height = 0;
  std::vector<const shape*> members;
};

// All shapes of up to `most` leaves, by their number of leaves. Shapes whose members are in another order count once.
std::vector<std::vector<shape>> shapes_to(int most) {
  std::vector<std::vector<shape>> all(most + 1);
  all[1].push_back({});
  std::vector<const shape*> chosen;
  const std::function<void(int, int, int, std::size_t)> choose = [&](int leaves, int left, int size, std::size_t from) {
    if (left == 0) {
      shape made{leaves, 0, chosen};
      for (const shape* m : chosen) made.height = std::max(made.height, m->height + 1);
      all[leaves].push_back(made);
    }
    for (; size <= std::min(left, leaves - 1); ++size, from = 0)
      for (std::size_t i = from; i < all[size].size(); ++i) {
        chosen.push_back(&all[size][i]);
        choose(leaves, left - size, size, i);
        chosen.pop_back();
      }
  };
  for (int leaves = 2; leaves <= most; ++leaves) choose(leaves, leaves, 1, 0);
  return all;
}

// The layout of a shape. Levels with one member come in between, above the small groups or below them, so that all
// ranks are at the same depth.
layout_tree layout_of(const shape& root, bool below, std::vector<int> order) {
  std::vector<layout_tree::level> levels;
  std::vector<const shape*> now{&root};
  for (int height = std::max(1, root.height); height > 0; --height) {
    layout_tree::level level{height == 1 ? "core" : height == 2 ? "node" : "l" + std::to_string(height), {}};
    std::vector<const shape*> next;
    for (const shape* s : now) {
      const bool divided = below ? !s->members.empty() : s->height == height;
      level.members.push_back(divided ? static_cast<int>(s->members.size()) : 1);
      if (divided) next.insert(next.end(), s->members.begin(), s->members.end());
      else next.push_back(s);
    }
    levels.push_back(level);
    now = next;
  }
  return {levels, std::move(order)};
}

std::vector<int> shuffled(std::mt19937& random, int ranks) {
  std::vector<int> order(ranks);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

TEST(levels, delivers_on_every_tree_of_up_to_12_ranks) {
  std::mt19937 random(3);
  const int most = exhaustive() ? 12 : 10;
  for (const auto& same_ranks : shapes_to(most))
    for (const shape& s : same_ranks)
      for (const bool below : {false, true}) {
        const problem at = placed(layout_of(s, below, shuffled(random, s.leaves)));
        for (int i = 0; i < (exhaustive() ? 6 : 2); ++i)
          ASSERT_NO_FATAL_FAILURE(expect_correct(random_spec(random, at.levels->levels()), at));
      }
}

TEST(levels, there_are_as_many_trees_as_known) {
  const auto all = shapes_to(12);  // OEIS A000669
  const std::vector<std::size_t> known{0, 1, 1, 2, 5, 12, 33, 90, 261, 766, 2312, 7068, 21965};
  for (std::size_t leaves = 0; leaves < known.size(); ++leaves) EXPECT_EQ(all[leaves].size(), known[leaves]);
}

// ---- random ones ---------------------------------------------------------------------------------------------------

// Two to five levels, even or not, ranks in order, shuffled, or dealt out.
layout_tree random_layout(std::mt19937& random, int most_ranks) {
  static const char* const names[] = {"core", "socket", "node", "rack", "group"};
  const int depth = pick(random, 2, 5), uneven = pick(random, 0, 2);
  std::vector<layout_tree::level> levels;
  int groups = 1;
  for (int l = depth - 1; l >= 0; --l) {
    levels.push_back({names[l], {}});
    const int most = std::clamp(most_ranks / groups, 1, l > 0 ? 6 : 100), equal = pick(random, (most + 1) / 2, most);
    for (int g = 0; g < groups; ++g) levels.back().members.push_back(uneven ? pick(random, 1, most) : equal);
    groups = std::accumulate(levels.back().members.begin(), levels.back().members.end(), 0);
  }
  std::vector<int> order(groups);
  std::iota(order.begin(), order.end(), 0);
  if (const int form = pick(random, 0, 2); form == 1) order = shuffled(random, groups);
  else if (form == 2) std::stable_sort(order.begin(), order.end(), [](int a, int b) { return a % 4 < b % 4; });
  return {levels, order};
}

TEST(levels, delivers_on_random_trees) {
  std::mt19937 random(20261122);
  const auto some = [&](int count, int most) {
    for (int i = 0; i < count; ++i) {
      const problem at = placed(random_layout(random, most));
      ASSERT_NO_FATAL_FAILURE(expect_correct(random_spec(random, at.levels->levels()), at));
    }
  };
  some(exhaustive() ? 20000 : 2000, 40);
  some(exhaustive() ? 2000 : 30, 130);
  some(exhaustive() ? 300 : 4, 512);
}

// ---- what levels are equal to --------------------------------------------------------------------------------------

// If only one level has more than one member, the exchange of that level is the whole, and the same as the flat one.
TEST(levels, each_is_a_flat_exchange) {
  const char* const layouts[] = {"group:1 node:1 socket:1 core:", "group:1 node:1 socket:", "group:1 node:", "group:"};
  const char* const insides[] = {"", " core:1", " socket:1 core:1", " node:1 socket:1 core:1"};
  for (int ranks = 1; ranks <= 20; ++ranks)
    for (int level = 0; level < 4; ++level) {
      const problem at = placed(layout_tree::parse(layouts[level] + std::to_string(ranks) + insides[level]));
      const auto expect_flat = [&](const std::string& how, const std::string& flat) {
        const std::string spec = "hierarchical:" + how;
        problem no_levels;
        no_levels.ranks = ranks;
        const auto programs = programs_of(spec, at), expected = programs_of(flat, no_levels);
        for (int rank = 0; rank < ranks; ++rank)
          ASSERT_TRUE(same(programs[rank], expected[rank])) << spec << " on " << to_string(*at.levels);
      };
      expect_flat("global=radix,radix=3,global_radix=3", "tuna:radix=3");
      expect_flat("global=radix,radix=2,global_radix=2,overlap=off", "tuna:radix=2,inflight=1");
      expect_flat("local=pairwise,global=pairwise", "pairwise");
      expect_flat("local=scattered,block_count=3", "scattered:block_count=3");
      expect_flat("local=linear,block_count=all", "spread_out");
    }
}

// If a level is left out, the schedule is as if the layout did not have that level.
TEST(levels, can_be_left_out) {
  const auto expect_same = [](const char* spec, const char* layout, const char* without, const char* smaller) {
    const auto some = programs_of(spec, placed(layout_tree::parse(layout)));
    const auto expected = programs_of(without, placed(layout_tree::parse(smaller)));
    for (std::size_t rank = 0; rank < some.size(); ++rank) ASSERT_TRUE(same(some[rank], expected[rank])) << spec;
  };
  expect_same("hierarchical:local=none/linear", "node:3 socket:2 core:4", "hierarchical:local=linear", "3x8");
  expect_same("hierarchical:local=shared/none,carriers=2", "node:3 socket:2 core:4",
              "hierarchical:local=shared,carriers=2", "node:6 core:4");
  expect_same("hierarchical:local=none/none,pattern=staggered", "group:2 node:1,2 core:3,1,2", "scattered", "6");
  expect_same("hierarchical:local=radix/none/radix,radix=2/7/3,overlap=off", "group:2 rack:2 node:2 core:4",
              "hierarchical:local=radix,radix=2/3,overlap=off", "group:2 node:4 core:4");
}

struct level_traffic {
  std::int64_t messages = 0, blocks = 0;
  bool operator==(const level_traffic&) const = default;
};
std::ostream& operator<<(std::ostream& out, const level_traffic& t) {
  return out << t.messages << " messages, " << t.blocks << " blocks";
}

// The level at which two ranks part: that of the members of the smallest group that holds both.
int level_between(const layout_tree& tree, int a, int b) {
  int level = 0;
  while (!tree.group(level + 1, tree.virtual_rank(a)).holds(tree.virtual_rank(b))) ++level;
  return level;
}

std::vector<level_traffic> sent_by_level(const schedule& program, const layout_tree& tree) {
  std::vector<level_traffic> sum(tree.levels());
  for (const operation& op : program.operations) {
    if (op.kind != op_kind::send) continue;
    level_traffic& at = sum[level_between(tree, program.rank, op.peer)];
    ++at.messages;
    at.blocks += op.slot_count;
  }
  return sum;
}

// A tree whose groups of one level all have `members` of that level, given from the outside in. Ranks are shuffled.
problem equal_tree(const std::vector<int>& members) {
  static const char* const names[] = {"core", "socket", "node", "group"};
  std::vector<layout_tree::level> levels;
  int groups = 1;
  for (std::size_t i = 0; i < members.size(); ++i) {
    levels.push_back({names[members.size() - 1 - i], std::vector<int>(groups, members[i])});
    groups *= members[i];
  }
  std::mt19937 random(groups);
  return placed({levels, shuffled(random, groups)});
}

std::vector<std::vector<int>> equal_trees() {
  std::vector<std::vector<int>> all{{2, 2, 2, 2}, {3, 1, 2, 4}, {2, 3, 4, 5}};
  for (int a = 1; a <= 5; ++a)
    for (int b = 1; b <= 4; ++b)
      for (int c = 1; c <= 6; ++c) all.push_back({a, b, c});
  return all;
}

TEST(levels, move_what_the_formulas_say_on_equal_trees) {
  for (const auto& members : equal_trees())
    for (const int radix : {2, 3}) {
      const problem at = equal_tree(members);
      const layout_tree& tree = *at.levels;
      const std::string r = std::to_string(radix);
      const auto sent = [&](const std::string& spec) {
        return sent_by_level(generate(parse_selection("hierarchical:" + spec), at, at.ranks / 2), tree);
      };
      const auto linear = sent("local=linear"), staggered = sent("local=pairwise,pattern=staggered");
      const auto digits = sent("global=radix,radix=" + r + ",global_radix=" + r);
      for (int l = 0; l < tree.levels(); ++l) {
        const std::int64_t n = tree.most_members(l, l + 1), others = at.ranks / n;
        const digit_system system(static_cast<int>(n), radix);
        const int pieces = l == tree.levels() - 1 ? tree.largest_group(l) : 1;
        EXPECT_EQ(linear[l], (level_traffic{n - 1, others * (n - 1)})) << to_string(tree);
        EXPECT_EQ(staggered[l], (level_traffic{pieces * (n - 1), others * (n - 1)})) << to_string(tree);
        EXPECT_EQ(digits[l], (level_traffic{system.steps(), others * system.blocks()})) << to_string(tree);
      }
    }
}

// A radix exchange whose digits follow the levels has as many messages and blocks.
TEST(levels, move_what_a_mixed_radix_exchange_does) {
  for (const auto& members : equal_trees()) {
    const problem at = equal_tree(members);
    std::vector<int> radices;
    for (auto n = members.rbegin(); n != members.rend(); ++n)
      if (*n > 1) radices.push_back(*n);
    const digit_system mixed(at.ranks, radices);
    const traffic sent = sent_by(generate(parse_selection("hierarchical:local=linear"), at, 0));
    EXPECT_EQ(sent.messages, mixed.steps()) << to_string(*at.levels);
    EXPECT_EQ(sent.blocks, mixed.blocks()) << to_string(*at.levels);
  }
}

// In a linear exchange a block crosses the level that parts its two ranks once. It crosses a level inside that one at
// most once, and a level outside never.
TEST(levels, carry_each_block_once_over_the_links_of_a_level) {
  std::mt19937 random(5);
  for (int i = 0; i < 60; ++i) {
    const layout_tree tree = random_layout(random, 60);
    const problem at = placed(tree);
    const std::string spec = i % 2 ? "hierarchical:local=linear" : "hierarchical:pattern=staggered,overlap=off";
    std::map<std::pair<int, int>, std::vector<int>> crossed;  // by block: how often it crossed each level
    for (const traced_message& m : trace(programs_of(spec, at)))
      for (const block_name& b : m.blocks) {
        auto& levels = crossed[{b.origin, b.destination}];
        levels.resize(tree.levels());
        ++levels[level_between(tree, m.from, m.to)];
      }
    for (int o = 0; o < at.ranks; ++o)
      for (int d = 0; d < at.ranks; ++d) {
        if (o == d) continue;
        const auto& levels = crossed[{o, d}];
        const int outermost = tree.levels() - 1, top = level_between(tree, o, d);
        EXPECT_EQ(levels[outermost], top == outermost) << spec << " on " << to_string(tree);
        EXPECT_EQ(levels[top], i % 2 || top == outermost ? 1 : levels[top]);
        for (int l = 0; l <= outermost; ++l) EXPECT_LE(levels[l], l > top ? 0 : i % 2 ? 1 : 1 << 20);
      }
  }
}

// If the dimensions of a torus are levels, every message stays on one line of the torus.
TEST(levels, follow_the_dimensions_of_a_torus) {
  const problem at = placed(layout_tree::parse("plane:3 row:4 node:5"));
  for (const char* spec : {"hierarchical", "hierarchical:local=linear,overlap=off",
                           "hierarchical:global=radix,radix=2,global_radix=2", "hierarchical:pattern=staggered"})
    for (const schedule& p : programs_of(spec, at))
      for (const operation& op : p.operations) {
        if (op.kind == op_kind::copy) continue;
        const int a = p.rank, b = op.peer;
        EXPECT_EQ((a / 20 != b / 20) + (a / 5 % 4 != b / 5 % 4) + (a % 5 != b % 5), 1) << spec;
      }
}

// Between the members of the outermost level, a rank sends one message to each destination for which it carries blocks.
// The rank with place g among the q ranks of its member carries for every q-th rank elsewhere, and the message has a
// block of each of the q ranks. Inside a member, the total follows from how many destinations fall to each of its own
// members.
TEST(levels, move_what_the_formulas_say_on_any_tree) {
  std::mt19937 random(17);
  for (int i = 0; i < 150; ++i) {
    const problem at = placed(random_layout(random, 90));
    const layout_tree& tree = *at.levels;
    const int outermost = tree.levels() - 1;
    std::map<int, std::int64_t> inside, expected;  // by where the member of the outermost level begins
    for (const schedule& p : programs_of("hierarchical:local=linear", at)) {
      const int v = tree.virtual_rank(p.rank);
      const virtual_range member = tree.group(outermost, v);
      const auto sent = sent_by_level(p, tree);
      const std::int64_t messages = (at.ranks - (v - member.first) + member.size - 1) / member.size - 1;
      EXPECT_EQ(sent[outermost], (level_traffic{messages, member.size * messages})) << to_string(tree);
      if (outermost > 0) inside[member.first] += sent[outermost - 1].blocks;
    }
    for (auto& [first, blocks] : inside) {
      const virtual_range group = tree.group(outermost, first);
      const auto begins = tree.members(outermost - 1, group);
      for (std::size_t m = 0; m + 1 < begins.size(); ++m) {
        std::int64_t ending = begins[m + 1] - begins[m];
        for (int v = 0; v < at.ranks; ++v) {
          const int place = group.first + v % group.size;
          ending += !group.holds(v) && place >= begins[m] && place < begins[m + 1];
        }
        expected[first] += ending * (group.size - (begins[m + 1] - begins[m]));
      }
    }
    EXPECT_EQ(inside, expected) << to_string(tree);
  }
}

// ---- carriers ------------------------------------------------------------------------------------------------------

// 3 groups of 4 nodes of 6 ranks. One rank of each group sends everything to the two other groups, and hands on what it
// gets.
TEST(levels, fewer_carriers_send_fewer_messages) {
  const problem at = placed(layout_tree::parse("group:3 node:4 core:6"));
  std::int64_t between_groups = 0, between_nodes = 0;
  for (const schedule& p : programs_of("hierarchical:local=linear,carriers=all/1", at)) {
    const auto sent = sent_by_level(p, *at.levels);
    EXPECT_EQ(sent[2], (p.rank % 24 == 0 ? level_traffic{2, 2 * 24 * 24} : level_traffic{}));
    between_groups += sent[2].messages;
    between_nodes += sent[1].messages;
  }
  EXPECT_EQ(between_groups, 6);
  // Each rank sends a message to every other node of its group. What comes for the group goes on to the 18 ranks of its
  // other nodes.
  EXPECT_EQ(between_nodes, 72 * 3 + 3 * 18);
  std::int64_t of_nodes = 0;  // one carrier for each node and each group: nodes hand on to their ranks
  for (const schedule& p : programs_of("hierarchical:local=linear,carriers=1", at))
    of_nodes += sent_by_level(p, *at.levels)[1].messages;
  EXPECT_EQ(of_nodes, 3 * 4 * 3 + 3 * 3);
}

// ---- scratch -------------------------------------------------------------------------------------------------------

TEST(levels, stay_within_the_scratch_bound) {
  for (const auto& members : equal_trees())
    for (const char* radix : {"2", "3"}) {
      const problem at = equal_tree(members);
      const auto p = generate(
          parse_selection(std::string("hierarchical:global=radix,radix=") + radix + ",global_radix=" + radix), at, 0);
      std::int64_t most = 0, together = 1, passing = 0;
      for (int l = 0; l < at.levels->levels(); ++l) {
        const int n = at.levels->most_members(l, l + 1);
        passing = std::max(passing, together * digit_system(n, radix[0] - '0').slot_bound());
        together *= n;
        most = std::max(most, (together - 1) * (at.ranks / together - 1));
      }
      EXPECT_LE(temp_peak(p), most + passing) << to_string(*at.levels) << " radix " << radix;
    }
}

// ---- dependencies --------------------------------------------------------------------------------------------------

TEST(levels, as_published_begin_a_level_after_the_one_inside) {
  const problem at = placed(layout_tree::parse("group:2 node:2,3 core:2,3,1,2,2"));
  for (const char* spec : {"radix=2", "local=linear,global=radix", "local=scattered/pairwise,block_count=1"})
    for (const schedule& p : programs_of(std::string("hierarchical:overlap=off,") + spec, at))
      for (std::size_t id = 0; id < p.operations.size(); ++id) {
        std::vector<char> is_after(p.operations.size(), 0);
        for (std::size_t later = id + 1; later < is_after.size(); ++later)
          for (op_id earlier : p.after_of(p.operations[later]))
            is_after[later] |= earlier == static_cast<op_id>(id) || is_after[earlier];
        if (p.operations[id].kind == op_kind::copy) continue;
        const int level = level_between(*at.levels, p.rank, p.operations[id].peer);
        for (std::size_t later = 0; later < is_after.size(); ++later) {
          if (p.operations[later].kind == op_kind::copy) continue;
          ASSERT_TRUE(is_after[later] || level_between(*at.levels, p.rank, p.operations[later].peer) <= level) << spec;
        }
      }
}

// Through shared memory the messages of two ranks match in the order in which they are started. So no message may be
// ready before an earlier one of the same two ranks, unless that one is started at once.
TEST(levels, keep_the_messages_of_a_pair_in_order_in_shared_memory) {
  std::mt19937 random(29);
  for (int i = 0; i < 100; ++i) {
    const problem at = placed(random_layout(random, 40));
    const std::string spec = random_spec(random, at.levels->levels(), "shared");
    for (const schedule& p : programs_of(spec, at)) {
      EXPECT_TRUE(p.shared_memory);
      std::map<std::pair<int, op_kind>, op_id> last;
      for (op_id id = 0; id < static_cast<op_id>(p.operations.size()); ++id) {
        const operation& op = p.operations[id];
        if (op.kind == op_kind::copy || at.nodes->node_of(op.peer) != at.nodes->node_of(p.rank)) continue;
        const auto [before, first] = last.try_emplace({op.peer, op.kind}, id);
        if (first) continue;
        const auto after = p.after_of(op);
        const bool waits = p.operations[before->second].after_count > 0;
        ASSERT_TRUE(!waits || std::find(after.begin(), after.end(), before->second) != after.end()) << spec;
        before->second = id;
      }
    }
  }
}

// ---- refusals ------------------------------------------------------------------------------------------------------

TEST(levels, refuses_values_for_levels_that_are_not_there) {
  const problem at = placed(layout_tree::parse("group:2 node:2 core:2"));
  const auto refusal = [&](const std::string& spec) -> std::string {
    try {
      generate(parse_selection(spec), at, 0);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal("hierarchical:local=radix/linear,block_count=1/2/3"), "accepted");
  EXPECT_EQ(refusal("hierarchical:radix=2/3/4"),
            "hierarchical:radix=2/3/4 cannot serve 8 ranks: radix has values for 3 levels, of which the layout has 2 "
            "below the outermost");
  EXPECT_EQ(refusal("hierarchical:block_count=1/2/3/4"),
            "hierarchical:block_count=1/2/3/4 cannot serve 8 ranks: block_count has values for 4 levels, of which the "
            "layout has 3");
}

}  // namespace
}  // namespace shoal
