#include "schedule/schedule.hpp"

#include <gtest/gtest.h>

#include "schedule/builder.hpp"

namespace shoal {
namespace {

std::vector<op_id> after(const schedule& program, op_id id) {
  const auto list = program.after_of(program.operations[id]);
  return {list.begin(), list.end()};
}

op_id token(builder& b, std::span<const op_id> before) { return b.send(1, {}, before); }

TEST(builder, puts_readers_after_writers) {
  builder b(2, 0);
  const slot t = b.new_temp();
  const op_id in = b.recv(1, {&t, 1});
  const op_id copy = b.copy(t, recv_slot(1));
  const slot place = recv_slot(1);
  b.send(1, {&place, 1});
  const schedule program = b.finish();
  EXPECT_EQ(after(program, copy), std::vector<op_id>{in});
  EXPECT_EQ(after(program, 2), std::vector<op_id>{copy});
}

TEST(builder, names_a_dependency_once) {
  builder b(2, 0);
  const slot two[] = {b.new_temp(), b.new_temp()};
  const op_id in = b.recv(1, two);
  const op_id again[] = {in, in};
  b.send(1, two, again);
  EXPECT_EQ(after(b.finish(), 1), std::vector<op_id>{in});
}

TEST(builder, marks_what_it_receives_into_scratch_as_passing) {
  builder b(2, 0);
  const slot in[] = {recv_slot(1), b.new_temp()};
  b.recv(1, in);
  const schedule program = b.finish();
  EXPECT_EQ(program.slots[0], recv_slot(1));
  EXPECT_EQ(program.slots[1], passing(temp_slot(0)));
}

TEST(window, makes_rounds_or_lets_several_groups_run) {
  builder b(2, 0);
  window two(2);
  for (int group = 0; group < 4; ++group) {
    two.add(token(b, two.before()));
    two.next_group();
  }
  const schedule program = b.finish();
  EXPECT_EQ(after(program, 0), std::vector<op_id>{});
  EXPECT_EQ(after(program, 1), std::vector<op_id>{});
  EXPECT_EQ(after(program, 2), std::vector<op_id>{0});
  EXPECT_EQ(after(program, 3), std::vector<op_id>{1});
}

TEST(window, is_not_cut_by_an_empty_group) {
  builder b(2, 0);
  window rounds(1);
  rounds.add(token(b, rounds.before()));
  rounds.next_group();
  rounds.next_group();
  rounds.add(token(b, rounds.before()));
  EXPECT_EQ(after(b.finish(), 1), std::vector<op_id>{0});
}

TEST(window, joins_many_operations_but_not_few) {
  builder b(2, 0);
  window rounds(1);
  for (int group : {2, 3, 1}) {
    rounds.join(b);
    for (int i = 0; i < group; ++i) rounds.add(token(b, rounds.before()));
    rounds.next_group();
  }
  const schedule program = b.finish();
  ASSERT_EQ(program.operations.size(), 7u);
  EXPECT_EQ(after(program, 2), (std::vector<op_id>{0, 1}));
  EXPECT_EQ(program.operations[5].kind, op_kind::copy);
  EXPECT_EQ(program.operations[5].slot_count, 0u);
  EXPECT_EQ(after(program, 5), (std::vector<op_id>{2, 3, 4}));
  EXPECT_EQ(after(program, 6), std::vector<op_id>{5});
}

// A temp slot that is copied and then sent lives until it is sent, and counts once.
TEST(temp_peak, counts_a_slot_from_its_writer_to_its_last_reader) {
  builder b(2, 0);
  const slot first = b.new_temp();
  b.recv(1, {&first, 1});
  b.copy(first, recv_slot(1));
  b.send(1, {&first, 1});
  const slot second = b.new_temp();
  b.recv(1, {&second, 1});
  b.copy(second, recv_slot(0));
  EXPECT_EQ(temp_peak(b.finish()), 1);
}

TEST(sent_by, tells_messages_from_tokens_and_passing_from_arriving) {
  builder b(3, 0);
  const slot two[] = {send_slot(1), passing(send_slot(2))};
  b.send(1, two);
  b.send(2, {two, 1});
  b.send(2, {});
  schedule program = b.finish();
  traffic sent = sent_by(program);
  EXPECT_EQ(sent.messages, 2);
  EXPECT_EQ(sent.blocks, 3);
  EXPECT_EQ(sent.metadata_messages, 1);
  EXPECT_EQ(sent.metadata_sizes, 1);
  EXPECT_EQ(sent.tokens, 1);
  program.full_metadata = true;
  sent = sent_by(program);
  EXPECT_EQ(sent.metadata_messages, 2);
  EXPECT_EQ(sent.metadata_sizes, 3);
}

TEST(parts, begin_where_the_ones_before_end) {
  schedule cut;
  const auto parts_of = [&](std::int64_t bytes) {
    std::vector<std::int64_t> begins;
    for (int k = 0; k <= cut.parts; ++k) begins.push_back(begin_of_part(cut, k, bytes));
    return begins;
  };
  using numbers = std::vector<std::int64_t>;
  EXPECT_EQ(parts_of(7), (numbers{0, 7}));
  cut.last_part = 2;  // of one part, which is the whole block
  EXPECT_EQ(parts_of(7), (numbers{0, 7}));
  cut.last_part = 0;
  cut.parts = 3;
  EXPECT_EQ(parts_of(8), (numbers{0, 2, 5, 8}));
  EXPECT_EQ(parts_of(0), (numbers{0, 0, 0, 0}));
  cut.last_part = 2;
  EXPECT_EQ(parts_of(6), (numbers{0, 2, 4, 6}));
  EXPECT_EQ(parts_of(7), (numbers{0, 2, 5, 7}));
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_EQ(parts_of(huge), (numbers{0, huge / 2 - 1, huge - 2, huge}));
}

}  // namespace
}  // namespace shoal
