// The checker finds what it must: one deliberate bug for each kind of fault, and random mutations of correct schedules.
#include "schedule/checker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "algorithms/algorithm.hpp"
#include "schedule/builder.hpp"
#include "topology/node_layout.hpp"

namespace shoal {
namespace {

// ---- schedules that can be changed ---------------------------------------------------------------------------------

struct loose_operation {
  op_kind kind;
  int peer;
  std::vector<slot> slots;
  std::vector<op_id> after;
};

struct loose_schedule {
  int temp_slots = 0;
  std::vector<loose_operation> operations;
};

using loose_job = std::vector<loose_schedule>;

loose_job loosen(const std::vector<schedule>& programs) {
  loose_job job;
  for (const schedule& p : programs) {
    job.push_back({p.temp_slots, {}});
    for (const operation& op : p.operations) {
      const auto slots = p.slots_of(op);
      const auto after = p.after_of(op);
      job.back().operations.push_back({op.kind, op.peer, {slots.begin(), slots.end()}, {after.begin(), after.end()}});
    }
  }
  return job;
}

std::vector<schedule> tighten(const loose_job& job) {
  std::vector<schedule> programs;
  for (const loose_schedule& from : job) {
    schedule p;
    p.ranks = static_cast<int>(job.size());
    p.rank = static_cast<int>(programs.size());
    p.temp_slots = from.temp_slots;
    for (const loose_operation& op : from.operations) {
      p.operations.push_back({op.kind, op.peer, 0, static_cast<std::uint32_t>(p.slots.size()),
                              static_cast<std::uint32_t>(op.slots.size()), static_cast<std::uint32_t>(p.after.size()),
                              static_cast<std::uint32_t>(op.after.size())});
      p.slots.insert(p.slots.end(), op.slots.begin(), op.slots.end());
      p.after.insert(p.after.end(), op.after.begin(), op.after.end());
    }
    programs.push_back(std::move(p));
  }
  return programs;
}

std::optional<fault> check_alltoall(const loose_job& job) {
  const auto programs = tighten(job);
  return check(programs, alltoall_meaning(static_cast<int>(job.size())));
}

std::vector<schedule> correct(const std::string& spec, int ranks, const char* layout = nullptr) {
  problem at;
  at.ranks = ranks;
  if (layout) at.nodes = std::make_shared<node_layout>(node_layout::parse(layout));
  return generate_all(parse_selection(spec), at);
}

// ---- one bug of each kind ------------------------------------------------------------------------------------------

void expect_fault(const loose_job& job, fault_kind kind, const std::string& text) {
  const auto found = check_alltoall(job);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, kind) << found->text;
  EXPECT_NE(found->text.find(text), std::string::npos) << found->text;
}

// 4 ranks. Each has a copy, then the send and the receive of step 1 and those of step 2. One block passes through it.
class one_bug : public ::testing::Test {
 protected:
  loose_job job = loosen(correct("tuna:radix=2", 4));
  std::vector<loose_operation>& operations(int rank) { return job[rank].operations; }
};

TEST_F(one_bug, none_at_first) { EXPECT_FALSE(check_alltoall(job)); }

TEST_F(one_bug, lost_block) {
  operations(2).erase(operations(2).begin());
  for (auto& op : operations(2))
    for (op_id& earlier : op.after) --earlier;
  expect_fault(job, fault_kind::lost_block, "rank 2: recv[2] never gets block (2,2)");
}

TEST_F(one_bug, doubled_block) {
  const loose_schedule first{
      0,
      {{op_kind::copy, -1, {send_slot(0), recv_slot(0)}, {}}, {op_kind::copy, -1, {send_slot(0), recv_slot(1)}, {0}}}};
  const loose_schedule second{0, {{op_kind::copy, -1, {send_slot(1), recv_slot(1)}, {}}}};
  expect_fault({first, second}, fault_kind::doubled_block, "puts block (0,0) into recv[1], which it already delivered");
}

TEST_F(one_bug, wrong_slot) {
  operations(0)[0].slots[0] = send_slot(3);
  expect_fault(job, fault_kind::wrong_slot,
               "rank 0, operation 0: puts block (0,3) into recv[0]; that place is for (0,0)");
}

TEST_F(one_bug, send_slot_written) {
  operations(1)[0].slots[1] = send_slot(2);
  expect_fault(job, fault_kind::send_slot_written, "rank 1, operation 0: writes send[2]");
}

TEST_F(one_bug, written_twice) {
  operations(1).push_back(operations(1)[0]);
  expect_fault(job, fault_kind::written_twice, "rank 1, operation 5: recv[1] is written a second time");
}

TEST_F(one_bug, read_before_write) {
  operations(3)[3].after.clear();
  expect_fault(job, fault_kind::read_before_write,
               "rank 3, operation 3: reads temp[0] but need not come after operation 2");
  operations(3)[3].slots[1] = recv_slot(1);
  expect_fault(job, fault_kind::read_before_write, "rank 3, operation 3: reads recv[1], which nothing has written");
}

TEST_F(one_bug, unmatched) {
  loose_job fewer = job;
  fewer[0].operations.pop_back();
  expect_fault(fewer, fault_kind::unmatched, "rank 0 never receives this message");
  fewer = job;
  fewer[0].operations.erase(fewer[0].operations.begin() + 3);
  expect_fault(fewer, fault_kind::unmatched, "rank 0 never sends this message");
  operations(0)[3].slots.pop_back();
  expect_fault(job, fault_kind::unmatched, "expects 2 blocks but rank 0 sends 1");
}

TEST_F(one_bug, wrong_passing) {
  operations(0)[1].slots[0].passing = 1;
  expect_fault(job, fault_kind::wrong_passing, "block 0 from rank 0 goes to recv[0] but is marked passing");
  operations(0)[1].slots[0].passing = 0;
  operations(0)[1].slots[1].passing = 0;
  expect_fault(job, fault_kind::wrong_passing, "block 1 from rank 0 goes to temp[0] but is marked arriving");
}

// On both ranks the send waits for the receive, which waits for the other rank's send.
TEST_F(one_bug, deadlock) {
  loose_job two = loosen(correct("pairwise", 2));
  ASSERT_FALSE(check_alltoall(two));
  for (auto& program : two) program.operations[2].after = {1};
  expect_fault(two, fault_kind::deadlock, "waits for operation 2 of rank 1, which is never posted");
}

TEST_F(one_bug, bad_reference) {
  const auto expect = [&](auto change, const char* text) {
    loose_job changed = job;
    change(changed[1].operations);
    expect_fault(changed, fault_kind::bad_reference, text);
  };
  expect([](auto& ops) { ops[1].peer = 4; }, "peer 4 is not another rank");
  expect([](auto& ops) { ops[1].peer = 1; }, "peer 1 is not another rank");
  expect([](auto& ops) { ops[1].peer = -1; }, "peer -1 is not another rank");
  expect([](auto& ops) { ops[0].slots.pop_back(); }, "a copy has two slots");
  expect([](auto& ops) { ops[0].slots[0] = send_slot(4); }, "send[4] does not exist");
  expect([](auto& ops) { ops[2].slots[1] = temp_slot(1); }, "temp[1] does not exist");
  expect([](auto& ops) { ops[0].slots[0].where = 3; }, "nowhere[1] does not exist");
  expect([](auto& ops) { ops[1].after = {1}; }, "comes after operation 1");
  expect([](auto& ops) { ops[1].after = {4}; }, "comes after operation 4");
  expect([](auto& ops) { ops[1].after = {-1}; }, "comes after operation -1");
}

// The ranks must know alike what decides what travels.
TEST_F(one_bug, schedules_of_different_exchanges) {
  const auto expect = [](auto change, const char* text) {
    std::vector<schedule> programs = correct("tuna:radix=2", 4);
    change(programs[2]);
    const auto found = check(programs, alltoall_meaning(4));
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(found->kind, fault_kind::bad_reference) << found->text;
    EXPECT_EQ(found->text, text);
  };
  expect([](schedule& p) { p.rank = 3; }, "rank 2: rank is 3 instead of 2");
  expect([](schedule& p) { p.ranks = 5; }, "rank 2: ranks is 5 instead of 4");
  expect([](schedule& p) { p.parts = 2; }, "rank 2: parts is 2 instead of 1");
  expect([](schedule& p) { p.last_part = 7; }, "rank 2: last_part is 7 instead of 0");
  expect([](schedule& p) { p.full_metadata = true; }, "rank 2: full_metadata is 1 instead of 0");
  expect([](schedule& p) { p.shared_memory = true; }, "rank 2: shared_memory is 1 instead of 0");
  expect([](schedule& p) { p.among_neighbors = true; }, "rank 2: among_neighbors is 1 instead of 0");
}

TEST_F(one_bug, of_every_kind_has_a_name) {
  std::map<std::string, int> names;
  for (int kind = 0; kind <= static_cast<int>(fault_kind::bad_reference); ++kind)
    ++names[to_string(static_cast<fault_kind>(kind))];
  EXPECT_EQ(names.size(), 10u);
}

// In an allgather some places must stay untouched, and there are not as many slots as ranks.
TEST(checker, knows_what_an_allgather_wants) {
  std::vector<schedule> programs;
  for (int rank = 0; rank < 3; ++rank) {
    builder b(3, rank);
    const slot block = rank == 0 ? send_slot(0) : recv_slot(0);
    if (rank == 0) b.send(1, {&block, 1});
    if (rank == 1) {
      b.recv(0, {&block, 1});
      b.send(2, {&block, 1});
    }
    if (rank == 2) b.recv(1, {&block, 1});
    programs.push_back(b.finish());
  }
  EXPECT_FALSE(check(programs, allgather_meaning(1, 2)));
  EXPECT_TRUE(check(programs, allgather_meaning(2, 1)));
  meaning untouched = allgather_meaning(1, 2);
  untouched.wanted = [](int rank, int index) { return rank == 2 ? block_name{} : block_name{index, 0}; };
  const auto found = check(programs, untouched);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, fault_kind::wrong_slot);
}

// ---- random mutations ----------------------------------------------------------------------------------------------

// Runs a job on real places, in a random order that its dependencies allow. Every send is a rendezvous. ends_well()
// returns true if everything ends, every block is where it belongs, and no place was written twice or read too early.
class random_run {
 public:
  random_run(const loose_job& job, std::mt19937& random) : job_(job), random_(random) {
    for (const auto& program : job_) done_.emplace_back(program.operations.size(), 0);
  }

  bool ends_well() {
    for (auto possible = possible_moves(); !possible.empty(); possible = possible_moves())
      if (!perform(possible[random_() % possible.size()])) return false;
    for (std::size_t r = 0; r < job_.size(); ++r) {
      if (std::count(done_[r].begin(), done_[r].end(), 0) > 0) return false;
      for (std::size_t i = 0; i < job_.size(); ++i)
        if (places_[{r, recv_slot(static_cast<int>(i))}] != block{i, r}) return false;
    }
    return true;
  }

 private:
  using block = std::pair<std::size_t, std::size_t>;
  struct place_less {
    bool operator()(const std::pair<std::size_t, slot>& a, const std::pair<std::size_t, slot>& b) const {
      return std::tuple(a.first, int(a.second.where), int(a.second.index)) <
             std::tuple(b.first, int(b.second.where), int(b.second.index));
    }
  };
  struct move {
    std::size_t rank, op;
    std::size_t to_rank, to_op;  // the receive, if this is a transfer
  };

  const loose_operation& at(std::size_t rank, std::size_t op) const { return job_[rank].operations[op]; }

  bool ready(std::size_t rank, std::size_t op) const {
    const auto& after = at(rank, op).after;
    return !done_[rank][op] && std::all_of(after.begin(), after.end(), [&](op_id a) { return done_[rank][a]; });
  }

  // The k-th send to a rank meets the k-th receive there, whether earlier ones have ended or not.
  std::vector<move> possible_moves() const {
    std::vector<move> moves;
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> receives;  // by (from, to)
    for (std::size_t r = 0; r < job_.size(); ++r)
      for (std::size_t id = 0; id < job_[r].operations.size(); ++id)
        if (at(r, id).kind == op_kind::recv) receives[{at(r, id).peer, r}].push_back(id);
    for (std::size_t r = 0; r < job_.size(); ++r) {
      std::map<int, std::size_t> number;
      for (std::size_t id = 0; id < job_[r].operations.size(); ++id) {
        const auto& op = at(r, id);
        if (op.kind == op_kind::copy && ready(r, id)) moves.push_back({r, id, r, id});
        if (op.kind != op_kind::send) continue;
        const auto& there = receives[{r, op.peer}];
        const std::size_t k = number[op.peer]++;
        const auto peer = static_cast<std::size_t>(op.peer);
        if (k < there.size() && ready(r, id) && ready(peer, there[k])) moves.push_back({r, id, peer, there[k]});
      }
    }
    return moves;
  }

  bool perform(const move& m) {
    const auto& from = at(m.rank, m.op);
    done_[m.rank][m.op] = done_[m.to_rank][m.to_op] = 1;
    if (from.kind == op_kind::copy)
      return from.slots.empty() || write(m.rank, from.slots[1], read(m.rank, from.slots[0]));
    const auto& to = at(m.to_rank, m.to_op);
    if (from.slots.size() != to.slots.size()) return false;
    for (std::size_t i = 0; i < from.slots.size(); ++i) {
      const bool passes = to.slots[i].at() == place::temp;
      if (from.slots[i].passing != passes || to.slots[i].passing != passes) return false;
      if (!write(m.to_rank, to.slots[i], read(m.rank, from.slots[i]))) return false;
    }
    return true;
  }

  std::optional<block> read(std::size_t rank, slot s) const {
    if (s.at() == place::send) return block{rank, static_cast<std::size_t>(s.index)};
    const auto found = places_.find({rank, s});
    return found == places_.end() ? std::nullopt : found->second;
  }

  bool write(std::size_t rank, slot s, const std::optional<block>& what) {
    return what && s.at() != place::send && places_.emplace(std::pair{rank, s}, what).second;
  }

  const loose_job& job_;
  std::mt19937& random_;
  std::vector<std::vector<char>> done_;
  std::map<std::pair<std::size_t, slot>, std::optional<block>, place_less> places_;
};

enum class mutation {
  drop_operation,
  double_operation,
  retarget_peer,
  retarget_slot,
  swap_slots,
  flip_passing,
  drop_dependency,
  last
};

class mutator {
 public:
  mutator(const loose_job& job, std::mt19937& random) : job_(job), random_(random) {}

  // What apply() did. It returns nothing if the mutation does not fit the operation that was chosen. `must_be_caught`
  // is true if no schedule can still be right after such a mutation.
  struct result {
    loose_job job;
    bool must_be_caught;
    std::string text;
  };
  std::optional<result> apply(mutation how) {
    rank_ = below(job_.size());
    id_ = below(job_[rank_].operations.size());
    result r{job_, true,
             "mutation " + std::to_string(static_cast<int>(how)) + " of operation " + std::to_string(id_) +
                 " of rank " + std::to_string(rank_)};
    auto& operations = r.job[rank_].operations;
    loose_operation& op = operations[id_];
    const bool is_join = op.kind == op_kind::copy && op.slots.empty();
    switch (how) {
      case mutation::drop_operation:
        r.must_be_caught = !is_join;
        drop(operations);
        return r;
      case mutation::double_operation:
        r.must_be_caught = !is_join;
        operations.push_back(op);
        return r;
      case mutation::retarget_peer:
        if (op.kind == op_kind::copy) return std::nullopt;
        op.peer = static_cast<int>((op.peer + 1 + below(job_.size() - 1)) % job_.size());
        return r;
      case mutation::retarget_slot: return op.slots.empty() ? std::nullopt : retarget(std::move(r), op);
      case mutation::swap_slots:
        if (op.slots.size() < 2) return std::nullopt;
        std::swap(op.slots[0], op.slots[1 + below(op.slots.size() - 1)]);
        r.must_be_caught = false;  // two blocks that only pass through may change places
        return r;
      case mutation::flip_passing:
        return op.kind == op_kind::copy || op.slots.empty() ? std::nullopt : flip(std::move(r), op);
      default: return op.after.empty() ? std::nullopt : forget(std::move(r), op);
    }
  }

 private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  void drop(std::vector<loose_operation>& operations) {
    operations.erase(operations.begin() + static_cast<std::ptrdiff_t>(id_));
    for (auto& other : operations) {
      std::erase(other.after, static_cast<op_id>(id_));
      for (op_id& a : other.after) a -= a > static_cast<op_id>(id_);
    }
  }

  std::optional<result> retarget(result r, loose_operation& op) {
    slot& s = op.slots[below(op.slots.size())];
    const slot old = s;
    const int limits[] = {static_cast<int>(job_.size()), static_cast<int>(job_.size()), job_[rank_].temp_slots};
    s.where = static_cast<std::uint32_t>(below(3));
    if (limits[s.where] == 0) return std::nullopt;
    s.index = static_cast<std::uint32_t>(below(limits[s.where]));
    if (s == old) return std::nullopt;
    r.must_be_caught = false;  // another place may hold the same block
    return r;
  }

  std::optional<result> flip(result r, loose_operation& op) {
    slot& s = op.slots[below(op.slots.size())];
    s.passing ^= 1u;
    return r;
  }

  // A forgotten dependency matters if the operation reads a slot of that writer, and no other dependency leads to it.
  std::optional<result> forget(result r, loose_operation& op) {
    const std::size_t which = below(op.after.size());
    const op_id writer = op.after[which];
    op.after.erase(op.after.begin() + static_cast<std::ptrdiff_t>(which));
    r.must_be_caught = reads_from(op, job_[rank_].operations[writer]) && !reaches(r.job[rank_], id_, writer);
    return r;
  }

  static bool reads_from(const loose_operation& reader, const loose_operation& writer) {
    const auto same_place = [](slot a, slot b) { return a.where == b.where && a.index == b.index; };
    if (reader.kind == op_kind::recv || writer.kind == op_kind::send) return false;
    for (std::size_t i = 0; i < reader.slots.size() && (reader.kind == op_kind::send || i == 0); ++i)
      for (std::size_t j = writer.kind == op_kind::copy; j < writer.slots.size(); ++j)
        if (same_place(reader.slots[i], writer.slots[j])) return true;
    return false;
  }

  static bool reaches(const loose_schedule& program, std::size_t from, op_id to) {
    for (op_id a : program.operations[from].after)
      if (a == to || reaches(program, static_cast<std::size_t>(a), to)) return true;
    return false;
  }

  const loose_job& job_;
  std::mt19937& random_;
  std::size_t rank_ = 0, id_ = 0;
};

// The checker catches every mutation after which no schedule can be right. A mutant that it does not catch runs well in
// several random orders.
TEST(checker, catches_mutations_or_they_do_no_harm) {
  std::mt19937 random(99);
  const std::vector<std::vector<schedule>> jobs{
      correct("tuna:radix=2", 4),
      correct("tuna:radix=2", 7),
      correct("tuna:radix=3,inflight=1", 8),
      correct("bruck:radix=2,variant=basic", 5),
      correct("bruck:radix=2", 6),
      correct("scattered:block_count=2", 6),
      correct("exclusive_or", 6),
      correct("hierarchical:radix=2,block_count=1", 7, "3,2,2"),
      correct("hierarchical:radix=2,pattern=staggered,overlap=off,block_count=3", 7, "3,2,2"),
      correct("hierarchical:radix=2,global=radix,global_radix=2", 7, "2,1,3,1")};
  std::map<mutation, int> caught, harmless;
  for (const auto& programs : jobs) {
    const loose_job job = loosen(programs);
    ASSERT_FALSE(check_alltoall(job));
    ASSERT_TRUE(random_run(job, random).ends_well());
    for (int i = 0; i < (std::getenv("SHOAL_EXHAUSTIVE") ? 20000 : 400); ++i) {
      const auto how = static_cast<mutation>(i % static_cast<int>(mutation::last));
      const auto mutant = mutator(job, random).apply(how);
      if (!mutant) continue;
      const auto found = check_alltoall(mutant->job);
      ++(found ? caught : harmless)[how];
      ASSERT_TRUE(found || !mutant->must_be_caught) << mutant->text;
      for (int run = 0; run < 5 && !found; ++run)
        ASSERT_TRUE(random_run(mutant->job, random).ends_well()) << mutant->text;
    }
  }
  for (int how = 0; how < static_cast<int>(mutation::last); ++how)
    EXPECT_GT(caught[static_cast<mutation>(how)], 20) << how;
  for (mutation how : {mutation::retarget_peer, mutation::flip_passing}) EXPECT_EQ(harmless[how], 0);
}

// Sends wait for random receives. If some wait in a circle, no order of events ends. Otherwise every order ends.
TEST(checker, finds_a_deadlock_exactly_where_runs_do_not_end) {
  std::mt19937 random(4);
  int deadlocks = 0;
  const auto programs = correct("spread_out", 4);
  for (int i = 0; i < 300; ++i) {
    loose_job job = loosen(programs);
    for (auto& program : job)
      for (op_id id = 1; id < static_cast<op_id>(program.operations.size()); ++id)
        if (program.operations[id].kind == op_kind::send && random() % 2 == 0)
          program.operations[id].after.push_back(1 + static_cast<op_id>(random() % 3));
    const auto found = check_alltoall(job);
    if (found) {
      ASSERT_EQ(found->kind, fault_kind::deadlock) << found->text;
    }
    ASSERT_EQ(!found, random_run(job, random).ends_well());
    deadlocks += found.has_value();
  }
  EXPECT_GT(deadlocks, 30);
  EXPECT_LT(deadlocks, 270);
}

}  // namespace
}  // namespace shoal
