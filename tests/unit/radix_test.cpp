#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "algorithms/algorithm.hpp"
#include "algorithms/digits.hpp"
#include "schedule/checker.hpp"
#include "trace.hpp"

namespace shoal {
namespace {

nlohmann::json vectors(const char* key) {
  std::ifstream file(std::string(SHOAL_VECTORS) + "/vectors-radix.json");
  return nlohmann::json::parse(file).at(key);
}

problem of(int ranks) {
  problem at;
  at.ranks = ranks;
  return at;
}

std::string join(const std::vector<int>& radices) {
  std::string text;
  for (int r : radices) text += (text.empty() ? "" : "x") + std::to_string(r);
  return text;
}

std::string tuna_with(const std::vector<int>& radices, const std::string& more = "") {
  return radices.empty() ? "tuna" : "tuna:radices=" + join(radices) + more;
}

std::vector<int> random_radices(std::mt19937& random, int ranks) {
  std::vector<int> radices;
  for (std::int64_t weight = 1; weight < ranks; weight *= radices.back())
    radices.push_back(std::uniform_int_distribution<int>(2, 9)(random));
  return radices;
}

// ---- closed forms against schedules (specification 2, 4.1, 4.2) --------------------------------------------------

void expect_closed_forms(const digit_system& system, const schedule& program, const std::string& what) {
  SCOPED_TRACE(what + " on " + std::to_string(system.ranks()));
  const traffic sent = sent_by(program);
  ASSERT_EQ(system.steps(), sent.messages);
  ASSERT_EQ(system.blocks(), sent.blocks);
  ASSERT_EQ(system.passing_steps(), sent.metadata_messages);
  ASSERT_EQ(system.blocks() - (system.ranks() - 1), sent.metadata_sizes);
  ASSERT_EQ(system.peak_slots(), temp_peak(program));
  ASSERT_LE(system.peak_slots(), system.slot_bound());
  ASSERT_GE(system.blocks(), 2 * (std::int64_t{system.ranks()} - 1) - system.steps());
  std::size_t id = 0;
  for (int x = 0; x < system.digits(); ++x)
    for (int z = 1; z <= system.steps_of_digit(x); ++z, ++id) {
      while (program.operations[id].kind != op_kind::send) ++id;
      ASSERT_EQ(system.blocks_of_step(x, z), program.operations[id].slot_count);
      ASSERT_EQ(modulo(program.rank + z * system.weight(x), system.ranks()), program.operations[id].peer);
    }
}

TEST(digits, count_what_schedules_do_for_every_radix) {
  for (int ranks = 1; ranks <= 200; ++ranks)
    for (int radix = 2; radix <= ranks + 1; radix += radix < 40 ? 1 : 7) {
      const std::string spec = "tuna:radix=" + std::to_string(radix);
      expect_closed_forms({ranks, radix}, generate(parse_selection(spec), of(ranks), 0), spec);
      if (HasFatalFailure()) return;
    }
}

TEST(digits, count_what_schedules_do_for_mixed_radices_and_any_rank) {
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    const int ranks = std::uniform_int_distribution<int>(2, 300)(random);
    const auto radices = random_radices(random, ranks);
    const std::string spec = tuna_with(radices);
    const int rank = std::uniform_int_distribution<int>(0, ranks - 1)(random);
    expect_closed_forms({ranks, radices}, generate(parse_selection(spec), of(ranks), rank), spec);
    if (HasFatalFailure()) return;
  }
}

TEST(digits, agree_with_the_vectors) {
  for (const auto& v : vectors("closed")) {
    const digit_system system(v[0].get<int>(), v[1].get<int>());
    std::int64_t largest = 0;
    for (int x = 0; x < system.digits(); ++x) largest = std::max(largest, system.blocks_of_step(x, 1));
    const std::vector<std::int64_t> row{v[0],
                                        v[1],
                                        system.digits(),
                                        system.steps(),
                                        system.blocks(),
                                        system.slot_bound(),
                                        largest,
                                        system.peak_slots(),
                                        system.passing_steps()};
    EXPECT_EQ(row, v.get<std::vector<std::int64_t>>());
  }
  for (const auto& v : vectors("mixed")) {
    const digit_system system(v[0].get<int>(), v[1].get<std::vector<int>>());
    const std::vector<std::int64_t> row{system.steps(), system.blocks(), system.slot_bound(), system.peak_slots()};
    EXPECT_EQ(row, (std::vector<std::int64_t>{v[2], v[3], v[4], v[5]})) << v;
  }
  for (const auto& v : vectors("numD")) {
    const digit_system system(v[0].get<int>(), v[1].get<int>());
    std::vector<std::int64_t> row;
    for (int x = 0; x < system.digits(); ++x)
      for (int z = 1; z <= system.steps_of_digit(x); ++z) row.push_back(system.blocks_of_step(x, z));
    EXPECT_EQ(row, v[2].get<std::vector<std::int64_t>>());
  }
}

TEST(digits, walk_the_steps_of_the_vectors) {
  for (const auto& v : vectors("flat")) {
    const digit_system system(v["P"].get<int>(), v["radices"].get<std::vector<int>>());
    EXPECT_EQ(system.steps(), v["K"]);
    EXPECT_EQ(system.blocks(), v["D"]);
    EXPECT_EQ(system.slot_bound(), v["B"]);
    EXPECT_EQ(system.peak_slots(), v["peak"]);
    nlohmann::json steps = nlohmann::json::array();
    for (int x = 0; x < system.digits(); ++x)
      for (int z = 1; z <= system.steps_of_digit(x); ++z) {
        std::vector<std::int64_t> offsets;
        std::int64_t final = 0;
        system.for_each_offset(x, z, [&](std::int64_t i) {
          offsets.push_back(i);
          final += i < system.weight(x + 1);
        });
        steps.push_back({x, z, z * system.weight(x), offsets, final});
      }
    EXPECT_EQ(steps, v["steps"]) << v["P"] << " " << v["radices"];
    EXPECT_EQ(system.slot_bound(), static_cast<std::int64_t>(v["slots"].size()));
  }
}

TEST(digits, need_no_floating_point) {
  EXPECT_EQ(digit_system(125, 5).digits(), 3);
  EXPECT_EQ(digit_system(243, 3).digits(), 5);
  EXPECT_EQ(digit_system(1 << 29, 1 << 20).weight(2), std::int64_t{1} << 40);
}

TEST(digits, refuse_radices_that_cannot_serve) {
  EXPECT_THROW(digit_system(8, 1), std::invalid_argument);
  EXPECT_THROW(digit_system(8, std::vector<int>{2, 1, 8}), std::invalid_argument);
  EXPECT_THROW(digit_system(9, std::vector<int>{2, 2, 2}), std::invalid_argument);
  EXPECT_EQ(digit_system(8, std::vector<int>{2, 2, 2, 2}).digits(), 3);
}

TEST(digits, have_a_square_radix_with_the_fewest_steps_of_two_digits) {
  for (int ranks = 2; ranks <= 300; ++ranks) {
    const int radix = square_radix(ranks);
    EXPECT_GE(radix * radix, ranks);
    std::int64_t fewest = ranks;
    for (int r = 2; r < ranks; ++r)
      for (int top = 2; r * top < ranks + r; ++top)
        if (r * top >= ranks) fewest = std::min(fewest, digit_system(ranks, std::vector<int>{r, top}).steps());
    if (ranks > 3) {
      EXPECT_EQ(digit_system(ranks, radix).steps(), fewest) << ranks;
    }
  }
}

// ---- delivery ------------------------------------------------------------------------------------------------------

void expect_correct(const std::string& spec, int ranks) {
  const auto fault = check(generate_all(parse_selection(spec), of(ranks)), alltoall_meaning(ranks));
  ASSERT_FALSE(fault) << spec << " on " << ranks << " ranks: " << fault->text;
}

TEST(radix, delivers_for_every_radix_of_small_numbers) {
  for (int ranks = 1; ranks <= 32; ++ranks) {
    for (int radix = 2; radix <= ranks + 1; ++radix) {
      const std::string r = "radix=" + std::to_string(radix);
      for (const std::string& spec :
           {"tuna:" + r, "tuna:inflight=1," + r, "tuna:inflight=2," + r, "bruck:" + r, "bruck:variant=basic," + r})
        ASSERT_NO_FATAL_FAILURE(expect_correct(spec, ranks));
    }
    ASSERT_NO_FATAL_FAILURE(expect_correct("two_phase", ranks));
  }
}

TEST(radix, delivers_for_larger_numbers_and_mixed_radices) {
  std::mt19937 random(17);
  for (int ranks : {64, 100, 125, 128, 243, 256})
    for (const char* spec : {"tuna", "tuna:radix=2", "bruck", "bruck:variant=basic,radix=3", "two_phase"})
      ASSERT_NO_FATAL_FAILURE(expect_correct(spec, ranks));
  for (int i = 0; i < 100; ++i) {
    const int ranks = std::uniform_int_distribution<int>(2, 80)(random);
    ASSERT_NO_FATAL_FAILURE(expect_correct(tuna_with(random_radices(random, ranks)), ranks));
  }
}

TEST(radix, refuses_radices_that_do_not_reach) {
  try {
    generate(parse_selection("tuna:radices=2x2x2"), of(16), 0);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "tuna:radices=2x2x2 cannot serve 16 ranks: the radices multiply to 8, which does not "
                 "reach the 16 ranks; add a radix or enlarge one");
  }
}

// ---- sizes (specification 4) ---------------------------------------------------------------------------------------

// The schedules of tuna go up in rank. A vector that goes down is their mirror image.
std::int64_t elements(block_name b, int ranks, int direction) {
  const int o = modulo(direction * b.origin, ranks), d = modulo(direction * b.destination, ranks);
  const int v = (7 * o + 13 * d + 5 * o * d) % 11;
  return v < 4 ? 0 : v - 3;
}

TEST(radix, sends_the_elements_of_the_vectors) {
  for (const auto& v : vectors("tuna")) {
    const int ranks = v["P"], direction = v["dir"];
    const auto radices = v["radices"].get<std::vector<int>>();
    SCOPED_TRACE(join(radices) + " on " + std::to_string(ranks));
    const auto programs = generate_all(parse_selection(tuna_with(radices)), of(ranks));
    const digit_system system(ranks, radices);
    std::vector<std::vector<std::int64_t>> sent(system.steps(), std::vector<std::int64_t>(ranks, 0));
    for (const auto& m : trace(programs))
      for (block_name b : m.blocks) sent[m.step][modulo(direction * m.from, ranks)] += elements(b, ranks, direction);
    EXPECT_EQ(sent, v["elements_sent_per_step_and_rank"].get<decltype(sent)>());
    std::int64_t not_empty = 0;
    for (const auto& step : sent) not_empty += std::count_if(step.begin(), step.end(), [](auto n) { return n > 0; });
    EXPECT_EQ(not_empty, v["data_messages_nonempty_all_ranks"]);
    const traffic lean = sent_by(programs[0]);
    EXPECT_EQ(lean.metadata_messages, v["meta_messages_per_rank_lean"]);
    EXPECT_EQ(lean.metadata_sizes, v["meta_ints_per_rank_lean"]);
    schedule full = programs[0];
    full.full_metadata = true;
    EXPECT_EQ(sent_by(full).metadata_messages, v["meta_messages_per_rank_full"]);
    EXPECT_EQ(sent_by(full).metadata_sizes, v["meta_ints_per_rank_full"]);
  }
}

TEST(radix, announces_sizes_only_where_blocks_pass_through) {
  const auto metadata = [](const char* spec) {
    return sent_by(generate(parse_selection(spec), of(64), 5)).metadata_messages;
  };
  EXPECT_EQ(metadata("tuna:radix=8"), 7);
  EXPECT_EQ(metadata("tuna:radix=63"), 0);
  EXPECT_EQ(metadata("two_phase"), 6);
}

// ---- worked examples (specification 8) -----------------------------------------------------------------------------

std::string blocks_text(const std::vector<block_name>& blocks) {
  std::string text;
  for (block_name b : blocks) text += "(" + std::to_string(b.origin) + "," + std::to_string(b.destination) + ")";
  return text;
}

std::vector<std::string> sent_text(const std::vector<schedule>& programs, int rank) {
  std::vector<std::string> lines;
  for (const auto& m : trace(programs))
    if (m.from == rank) lines.push_back("to " + std::to_string(m.to) + " " + blocks_text(m.blocks));
  return lines;
}

std::vector<std::string> slots_text(const schedule& program) {
  std::vector<std::string> lines;
  for (const operation& op : program.operations) {
    if (op.kind == op_kind::copy) continue;
    lines.push_back(std::string(to_string(op.kind)) + " " + std::to_string(op.peer));
    for (slot s : program.slots_of(op)) lines.back() += " " + to_string(s) + (s.passing ? "*" : "");
  }
  return lines;
}

TEST(radix, does_the_worked_example_of_4_ranks) {
  const auto programs = generate_all(parse_selection("tuna:radix=2"), of(4));
  EXPECT_EQ(sent_text(programs, 1), (std::vector<std::string>{"to 2 (1,2)(1,0)", "to 3 (1,3)(0,3)"}));
  EXPECT_EQ(slots_text(programs[1]), (std::vector<std::string>{"send 2 send[2] send[0]*", "recv 0 recv[0] temp[0]*",
                                                               "send 3 send[3] temp[0]", "recv 3 recv[3] recv[2]"}));
}

TEST(radix, does_the_worked_example_of_8_ranks) {
  const auto programs = generate_all(parse_selection("tuna:radix=3"), of(8));
  EXPECT_EQ(sent_text(programs, 0), (std::vector<std::string>{"to 1 (0,1)(0,4)(0,7)", "to 2 (0,2)(0,5)",
                                                              "to 3 (0,3)(7,3)(6,3)", "to 6 (0,6)(7,6)"}));
  EXPECT_EQ(
      slots_text(programs[0]),
      (std::vector<std::string>{"send 1 send[1] send[4]* send[7]*", "recv 7 recv[7] temp[0]* temp[1]*",
                                "send 2 send[2] send[5]*", "recv 6 recv[6] temp[2]*", "send 3 send[3] temp[0] temp[2]",
                                "recv 5 recv[5] recv[4] recv[3]", "send 6 send[6] temp[1]", "recv 2 recv[2] recv[1]"}));
}

// ---- dependencies --------------------------------------------------------------------------------------------------

TEST(radix, runs_in_rounds_or_as_blocks_allow) {
  const auto rounds = generate(parse_selection("tuna:radix=3,inflight=1"), of(27), 0);
  const auto free = generate(parse_selection("tuna:radix=3"), of(27), 0);
  for (std::size_t id = 1; id < rounds.operations.size(); ++id) {
    const int step = rounds.operations[id].step;
    const auto before = rounds.after_of(rounds.operations[id]);
    const auto of_last_round = std::count_if(
        before.begin(), before.end(), [&](op_id earlier) { return rounds.operations[earlier].step == step - 1; });
    EXPECT_EQ(of_last_round, step == 0 ? 0 : 2);
    const operation& op = free.operations[id];
    if (op.kind == op_kind::recv) {
      EXPECT_EQ(op.after_count, 0u);
    }
    for (op_id earlier : free.after_of(op)) EXPECT_EQ(free.operations[earlier].kind, op_kind::recv);
  }
}

}  // namespace
}  // namespace shoal
