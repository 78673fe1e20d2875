// Files written from schedules. tests/mpi_generated runs the C to show that it is right.
#include "emit/emit.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/algorithm.hpp"
#include "schedule/builder.hpp"
#include "tree_inputs.hpp"

namespace shoal {
namespace {

std::vector<schedule> programs_of(const std::string& spec, int ranks) {
  problem at;
  at.ranks = ranks;
  at.switches = std::make_shared<const switch_network>(one_switch(ranks));
  return generate_all(parse_selection(spec), at);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Emit, NumbersTransfersSoThatBothEndsAgree) {
  const auto programs = programs_of("tree:window=1,parts=1", 9);
  std::vector<std::vector<int>> numbers;
  for (const schedule& program : programs) numbers.push_back(transfer_numbers(program));
  std::vector<std::tuple<int, int, int, std::uint32_t>> sent, received;  // from, to, number, blocks
  for (const schedule& program : programs)
    for (std::size_t id = 0; id < program.operations.size(); ++id) {
      const operation& op = program.operations[id];
      const int number = numbers[program.rank][id];
      if (op.kind == op_kind::send) sent.push_back({program.rank, op.peer, number, op.slot_count});
      if (op.kind == op_kind::recv) received.push_back({op.peer, program.rank, number, op.slot_count});
    }
  std::sort(sent.begin(), sent.end());
  std::sort(received.begin(), received.end());
  EXPECT_EQ(sent, received);
  EXPECT_EQ(std::adjacent_find(sent.begin(), sent.end()), sent.end());
}

TEST(Emit, Goal) {
  const auto programs = programs_of("pairwise", 3);
  const std::string text = emit_goal({programs, "", {}}, 100);
  EXPECT_EQ(text.substr(0, text.find("rank 1")),
            "num_ranks 3\n\nrank 0 {\n"
            "l1: calc 0\n"
            "l2: recv 100b from 2 tag 0\n"
            "l3: send 100b to 1 tag 0\n"
            "l4: recv 100b from 1 tag 0\n"
            "l4 requires l2\nl4 requires l3\n"
            "l5: send 100b to 2 tag 0\n"
            "l5 requires l2\nl5 requires l3\n"
            "}\n\n");
  const std::string tokens = emit_goal({programs_of("tree:window=1,parts=1", 4), "", {}}, 100);
  EXPECT_EQ(count(tokens, "send 1b to"), count(tokens, "recv 1b from"));
  EXPECT_GT(count(tokens, "send 1b to"), 0u);
  EXPECT_EQ(count(emit_goal({programs_of("bruck:radix=2", 4), "", {}}, 100), "send 200b"), 8u);
}

TEST(Emit, COnlyHasWhatTheScheduleNeeds) {
  const auto direct = programs_of("tree:window=2,parts=1", 5), lists = programs_of("bruck", 5);
  const std::vector<std::string> hosts{"n0", "n1", "n2", "n3", "n4"};
  const std::string plain = emit_c({direct, "title", {}}), placed = emit_c({direct, "title", hosts});
  const std::string packed = emit_c({lists, "title", {}});
  EXPECT_EQ(plain.find("start_list"), std::string::npos);
  EXPECT_NE(packed.find("start_list"), std::string::npos);
  EXPECT_EQ(plain.find("LAST_PART"), std::string::npos);
  EXPECT_EQ(plain.find("is_host"), std::string::npos);
  EXPECT_NE(placed.find("\"n0\", \"n1\", \"n2\", \"n3\", \"n4\","), std::string::npos);
  for (const std::string& text : {plain, placed, packed}) {
    EXPECT_NE(text.find("#define RANKS 5\n"), std::string::npos);
    EXPECT_EQ(text.find("\n@"), std::string::npos);  // no directive of the template is left
    EXPECT_EQ(count(text, "int MPI_Alltoall("), 1u);
  }
}

TEST(Emit, CHoldsParts) {
  const std::string text = emit_c({programs_of("tree:parts=3,last=1000", 5), "", {}});
  EXPECT_NE(text.find("#define PARTS 3 "), std::string::npos);
  EXPECT_NE(text.find("#define LAST_PART 1000 "), std::string::npos);
  EXPECT_EQ(count(text, " SEND_PART("), 3u * 5 * 4 + 2);  // and its definition and explanation
  EXPECT_EQ(count(text, " COPY_PART("), 3u * 5 + 1);
}

TEST(Emit, GoalHoldsParts) {
  const std::string text = emit_goal({programs_of("tree:sync=none", 3), "", {}}, 30000);
  EXPECT_EQ(count(text, "send 30000b"), 6u);
  const std::string cut = emit_goal({programs_of("tree", 3), "", {}}, 30000);
  EXPECT_EQ(count(cut, "send 21808b"), 6u);
  EXPECT_EQ(count(cut, "send 8192b"), 6u);
}

// A batch waits for the batch before it through a copy without slots.
TEST(Emit, CHoldsJoins) {
  const auto programs = programs_of("scattered:block_count=2", 7);
  EXPECT_EQ(count(emit_c({programs, "", {}}), "COPY(4), 0, "), 2u * 7);
}

TEST(Emit, CStaysAComment) {
  const auto programs = programs_of("tree:window=2,parts=1", 2);
  const std::string text = emit_c({programs, "first */ int x;\n\nsecond", {}});
  EXPECT_EQ(text.substr(0, text.find("#define")).find("*/ int"), std::string::npos);
  EXPECT_EQ(text.rfind("/*\n * first * / int x;\n *\n * second\n */\n", 0), 0u);
}

TEST(Emit, CIsCompact) {
  const auto programs = programs_of("tree:window=2,parts=1", 128);
  std::size_t operations = 0;
  for (const schedule& program : programs) operations += program.operations.size();
  const std::string text = emit_c({programs, "", {}});
  EXPECT_LT(text.size(), 12 * operations + 20000);
  std::size_t longest = 0;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    longest = std::max(longest, end - begin);
  EXPECT_LE(longest, 120u);
}

std::vector<schedule> two_parts_a_message() {
  std::vector<schedule> programs;
  for (int rank : {0, 1}) {
    builder b(2, rank);
    b.cut_blocks(2);
    const slot sent[] = {send_slot(2 - 2 * rank), send_slot(3 - 2 * rank)};
    const slot received[] = {recv_slot(2 - 2 * rank), recv_slot(3 - 2 * rank)};
    b.send(1 - rank, sent);
    b.recv(1 - rank, received);
    programs.push_back(b.finish());
  }
  return programs;
}

TEST(Emit, RefusesWhatIsNoAlltoall) {
  const auto programs = programs_of("tree:window=2,parts=1", 3);
  EXPECT_THROW(emit_c({{}, "", {}}), std::invalid_argument);
  EXPECT_THROW(emit_c({programs, "", {"n0", "n1"}}), std::invalid_argument);
  auto cut = programs;
  cut[0].parts = 2;
  EXPECT_THROW(emit_c({cut, "", {}}), std::invalid_argument);
  EXPECT_THROW(emit_c({two_parts_a_message(), "", {}}), std::invalid_argument);
}

}  // namespace
}  // namespace shoal
