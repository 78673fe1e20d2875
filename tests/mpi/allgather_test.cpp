// Allgathers between two groups: every algorithm, direction and type, wrong calls, and how much is moved.
#include <gtest/gtest.h>

#include <random>

#include "algorithms/algorithm.hpp"
#include "allocations.hpp"
#include "calls/process.hpp"
#include "buffer.hpp"
#include "info.hpp"
#include "oracle.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

namespace shoal {
namespace {

// The number of a rank of the world. It has nothing to do with the rank, unless the number of ranks is a multiple of 5.
int number_of(int rank) { return world_ranks() % 5 == 0 ? rank : (rank * 5 + 2) % world_ranks(); }

int rank_with(int number) {
  int rank = 0;
  while (number_of(rank) != number) ++rank;
  return rank;
}

// Two groups, made of the ranks with the lowest numbers.
class two_groups {
 public:
  two_groups(int p, int q) : sizes{p, q} {
    const int number = number_of(world_rank());
    side_ = number < p ? 0 : number < p + q ? 1 : MPI_UNDEFINED;
    half_ = split_of(MPI_COMM_WORLD, side_, number);
    if (!takes_part()) return;
    MPI_Intercomm_create(half_, 0, MPI_COMM_WORLD, rank_with(side_ == 0 ? p : 0), 7, &both_);
    MPI_Comm_set_errhandler(both_, MPI_ERRORS_RETURN);
  }
  ~two_groups() {
    if (!takes_part()) return;
    MPI_Comm_free(&both_);
    MPI_Comm_free(&half_);
  }
  two_groups(const two_groups&) = delete;
  two_groups& operator=(const two_groups&) = delete;

  bool takes_part() const { return side_ != MPI_UNDEFINED; }
  MPI_Comm comm() const { return both_; }
  int side() const { return side_; }
  int rank() const { return rank_in(half_); }

  const int sizes[2];

 private:
  int side_;
  MPI_Comm half_ = MPI_COMM_NULL, both_ = MPI_COMM_NULL;
};

struct group_job {
  std::string spec;  // for this call; empty: what the communicator asks for
  bool uniform = false, wide_counts = false;
  scalar base = scalar::byte;
  std::vector<std::int64_t> scalars[2];  // of the messages of each group's ranks
  side send, recv;
};

constexpr int sender_number(int group, int rank) { return group * 1000 + rank; }

// One rank's part in a job.
class gathering {
 public:
  gathering(const two_groups& g, const group_job& j)
      : groups_(g),
        job_(j),
        base_(shape_of(j.base)),
        send_(base_, j.send, {j.scalars[g.side()][g.rank()]}),
        recv_(base_, j.recv, j.scalars[1 - g.side()]) {
    fill(0);
  }

  // Fills the messages with contents that differ in every round.
  void fill(int round) {
    const int theirs = 1 - groups_.side();
    send_.holds(0, sender_number(groups_.side(), groups_.rank()), round);
    send_.shall_stay();
    for (int i = 0; i < groups_.sizes[theirs]; ++i) recv_.shall_hold(i, sender_number(theirs, i), round);
  }

  int call() { return job_.uniform ? call_uniform() : call_any(); }
  void check() const {
    recv_.check("receive");
    send_.check("send");
  }

  // Makes a request to be started many times. Its arrays stay as long as this object.
  int init(shoal_request* request) {
    const auto received_at = recv_.displacements();
    counts_.assign(recv_.counts().begin(), recv_.counts().end());
    at_.assign(received_at.begin(), received_at.end());
    const int sent = static_cast<int>(send_.counts()[0]);
    return with_info(job_.uniform ? "shoal_allgather" : "shoal_allgatherv", [&](MPI_Info info) {
      if (job_.uniform)
        return shoal_allgather_init(send_.argument(), sent, send_.type(), recv_.argument(), counts_[0], recv_.type(),
                                    groups_.comm(), info, request);
      return shoal_allgatherv_init(send_.argument(), sent, send_.type(), recv_.argument(), counts_.data(), at_.data(),
                                   recv_.type(), groups_.comm(), info, request);
    });
  }

 private:
  int call_uniform() {
    const std::int64_t sent = send_.counts()[0], received = recv_.counts()[0];
    if (job_.wide_counts)
      return shoal_allgather_c(send_.argument(), sent, send_.type(), recv_.argument(), received, recv_.type(),
                               groups_.comm());
    return with_info("shoal_allgather", [&](MPI_Info info) {
      return shoal_allgather_with(send_.argument(), static_cast<int>(sent), send_.type(), recv_.argument(),
                                  static_cast<int>(received), recv_.type(), groups_.comm(), info);
    });
  }

  int call_any() {
    const auto &received = recv_.counts(), received_at = recv_.displacements();
    if (job_.wide_counts)
      return shoal_allgatherv_c(send_.argument(), send_.counts()[0], send_.type(), recv_.argument(),
                                std::vector<MPI_Count>(received.begin(), received.end()).data(),
                                std::vector<MPI_Aint>(received_at.begin(), received_at.end()).data(), recv_.type(),
                                groups_.comm());
    return with_info("shoal_allgatherv", [&](MPI_Info info) {
      return shoal_allgatherv_with(send_.argument(), static_cast<int>(send_.counts()[0]), send_.type(),
                                   recv_.argument(), std::vector<int>(received.begin(), received.end()).data(),
                                   std::vector<int>(received_at.begin(), received_at.end()).data(), recv_.type(),
                                   groups_.comm(), info);
    });
  }

  template <typename Call>
  int with_info(const char* key, Call call) {
    if (job_.spec.empty()) return call(MPI_INFO_NULL);
    return call(info{{key, job_.spec}});
  }

  const two_groups& groups_;
  const group_job& job_;
  shape base_;
  buffer send_, recv_;
  std::vector<int> counts_, at_;
};

void perform(const two_groups& g, const group_job& j) {
  gathering call(g, j);
  ASSERT_EQ(call.call(), MPI_SUCCESS);
  call.check();
}

int set_spec(MPI_Comm comm, const char* key, const std::string& spec) {
  return shoal_comm_set_info(comm, info{{key, spec}});
}

// The pairs that need about as many ranks as there are. The launches with different numbers of ranks test all pairs.
std::vector<std::pair<int, int>> pairs() {
  constexpr std::pair<int, int> all[] = {{1, 1}, {1, 3}, {3, 1}, {1, 5}, {5, 1},
                                         {2, 6}, {6, 2}, {4, 4}, {3, 5}, {7, 4}};
  std::vector<std::pair<int, int>> fitting;
  for (const auto& [p, q] : all)
    if (p + q <= world_ranks() && p + q > world_ranks() - 3) fitting.push_back({p, q});
  return fitting;
}

template <typename Test>
void with_groups(Test test) {
  for (const auto& [p, q] : pairs()) {
    SCOPED_TRACE("groups of " + std::to_string(p) + " and " + std::to_string(q));
    const two_groups g(p, q);
    if (g.takes_part()) test(g);
    meet();
  }
}

std::vector<std::string> every_spec(const two_groups& g) {
  std::vector<std::string> all{
      "native",          "full:spread=split", "full:allgather=ring",           "full:paced=yes",
      "ring:segments=3", "ring:paced=yes",    "root_gathering:broadcast=split"};
  for (const algorithm& a : algorithms())
    if (a.what == collective::allgather && a.name != "torus") all.push_back(a.name);
  if (g.sizes[0] == g.sizes[1]) all.push_back("torus:shape=2x" + std::to_string(g.sizes[0]));
  return all;
}

// Who sends: the first group, the second, or both.
constexpr int directions[] = {1, 2, 3};

group_job random_job(const two_groups& g, bool uniform, int senders, std::mt19937& random) {
  group_job j;
  j.uniform = uniform;
  const std::uint32_t largest = std::vector<std::uint32_t>{1, 30, 900}[random() % 3];
  for (int side = 0; side < 2; ++side) {
    const std::int64_t equal = random() % (largest + 1) * common_scalars;
    for (int i = 0; i < g.sizes[side]; ++i) {
      const std::int64_t own = random() % 4 ? random() % (largest + 1) * common_scalars : 0;
      j.scalars[side].push_back(senders & 1 << side ? uniform ? equal : own : 0);
    }
  }
  if (!uniform && random() % 2) j.recv.shuffled = random() | 1;
  return j;
}

TEST(Allgather, EveryAlgorithmInEveryDirection) {
  with_groups([](const two_groups& g) {
    std::mt19937 random(g.sizes[0] * 100 + g.sizes[1]);
    for (const std::string& spec : every_spec(g))
      for (int senders : directions)
        for (bool uniform : {false, true}) {
          SCOPED_TRACE(spec + (uniform ? ", equal, " : ", any, ") + std::to_string(senders));
          doing("rank " + std::to_string(world_rank()) + ", allgather by " + spec);
          group_job j = random_job(g, uniform, senders, random);
          j.spec = spec;
          perform(g, j);
          EXPECT_EQ(used_spec(g.comm()), spec);
        }
  });
}

TEST(Allgather, AnyTypes) {
  with_groups([](const two_groups& g) {
    std::mt19937 random(g.sizes[0] * 100 + g.sizes[1] + 1);
    const std::vector<std::string> specs = every_spec(g);
    for (const layout& how : layouts())
      for (int k = 0; k < 4; ++k) {
        group_job j = random_job(g, random() % 2, 1 + static_cast<int>(random() % 3), random);
        j.spec = specs[1 + random() % (specs.size() - 1)];  // MPI libraries get some types wrong
        j.base = all_scalars[random() % std::size(all_scalars)];
        j.wide_counts = random() % 3 == 0;
        const bool sends = random() % 2;
        (sends ? j.send : j.recv).how = &how;
        (sends ? j.recv : j.send).how = &layouts()[random() % layouts().size()];
        j.send.at_bottom = random() % 4 == 0;
        j.recv.at_bottom = random() % 4 == 0;
        if (j.wide_counts) {
          ASSERT_EQ(set_spec(g.comm(), j.uniform ? "shoal_allgather" : "shoal_allgatherv", j.spec), MPI_SUCCESS);
        }
        SCOPED_TRACE(j.spec + ", " + std::string(j.send.how->name) + " to " + std::string(j.recv.how->name));
        perform(g, j);
      }
  });
}

// The MPI's own serves the first calls. Then the ranks settle on the calls themselves who serves.
TEST(Allgather, ChoosesByItself) {
  with_groups([](const two_groups& g) {
    std::mt19937 random(3);
    const int senders = static_cast<int>(random() % std::size(directions));
    for (int k = 0; k < 120; ++k) perform(g, random_job(g, k % 2, directions[senders], random));
    EXPECT_NE(explained(g.comm()), "");
  });
}

TEST(Allgather, MovesWhatTheScheduleSays) {
  with_groups([](const two_groups& g) {
    for (const char* spec :
         {"full", "full:spread=split", "full:paced=yes", "circulant", "ring", "union_ring", "root_gathering"})
      for (int sending = 0; sending < 2; ++sending) {
        SCOPED_TRACE(spec);
        group_job j;
        j.spec = spec;
        j.uniform = true;
        constexpr std::int64_t bytes = 12 * 5 * 7 * 8;  // in equal parts for any of the groups
        for (int side = 0; side < 2; ++side) j.scalars[side].assign(g.sizes[side], side == sending ? bytes : 0);
        perform(g, j);
        problem at;
        at.ranks = g.sizes[0] + g.sizes[1];
        at.senders = g.sizes[sending];
        const bool sends = g.side() == sending;
        const schedule plan =
            generate(parse_selection(spec, collective::allgather), at, sends ? g.rank() : at.senders + g.rank());
        std::string wrong;
        intercommunicator& state = *process::get().groups_of(g.comm(), true, wrong);
        const exchange_counters moved = state.counters(sends ? state.outgoing() : 1 - state.outgoing());
        EXPECT_EQ(moved.messages, sent_by(plan).messages);
        EXPECT_EQ(moved.bytes, sent_by(plan).blocks * bytes / plan.parts);
      }
  });
}

group_job small_job(const two_groups& g, bool uniform) {
  group_job j;
  j.uniform = uniform;
  for (int side = 0; side < 2; ++side) j.scalars[side].assign(g.sizes[side], 24);
  return j;
}

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

TEST(Allgather, DifferingSizesAreAnErrorOnAllRanks) {
  with_groups([](const two_groups& g) {
    for (const std::string& spec : every_spec(g)) {
      if (spec == "native") continue;
      SCOPED_TRACE(spec);
      ASSERT_EQ(set_spec(g.comm(), "shoal_allgatherv", spec), MPI_SUCCESS);
      for (int side = 0; side < 2; ++side) {
        group_job j = small_job(g, false);
        if (g.side() == side) j.scalars[0][0] += 1;  // a sender, or all receivers, give another size
        const int code = gathering(g, j).call();
        EXPECT_NE(text_of(code).find("differ about the sizes"), std::string::npos) << text_of(code);
        perform(g, small_job(g, false));
        EXPECT_EQ(used_spec(g.comm()), spec);
      }
    }
  });
}

TEST(Allgather, WrongCountsAreAnErrorOnAllRanks) {
  with_groups([](const two_groups& g) {
    ASSERT_EQ(shoal_comm_set_info(g.comm(), info{{"shoal_allgatherv", "full"}}), MPI_SUCCESS);
    const int others = g.sizes[1 - g.side()];
    const std::vector<int> counts(others, 1);
    std::vector<int> at(others);
    for (int i = 0; i < others; ++i) at[i] = i;
    std::vector<char> recv(others);
    const bool wrong = g.side() == 0 && g.rank() == 0;
    char send = 0;
    EXPECT_NE(
        shoal_allgatherv(&send, wrong ? -1 : 1, MPI_BYTE, recv.data(), counts.data(), at.data(), MPI_BYTE, g.comm()),
        MPI_SUCCESS);
    perform(g, small_job(g, true));
  });
}

TEST(Allgather, WhatDoesNotFitIsRefusedOnAllRanks) {
  with_groups([](const two_groups& g) {
    for (const char* spec : {"torus:shape=7x9", "rink", "full:spread=wide", "ring:segments=0", "tuna"}) {
      const int code = set_spec(g.comm(), "shoal_allgatherv", spec);
      EXPECT_NE(code, MPI_SUCCESS) << spec;
      EXPECT_EQ(text_of(code).rfind("shoal: ", 0), 0u) << text_of(code);
      group_job j = small_job(g, false);
      j.spec = spec;
      EXPECT_NE(gathering(g, j).call(), MPI_SUCCESS) << spec;
    }
    const bool first = g.side() == 0 && g.rank() == 0;
    EXPECT_NE(set_spec(g.comm(), "shoal_allgather", first ? "full" : "ring"), MPI_SUCCESS);
    perform(g, small_job(g, true));
  });
}

TEST(Allgather, SpecsOfTheCommunicatorHoldUntilAuto) {
  with_groups([](const two_groups& g) {
    ASSERT_EQ(set_spec(g.comm(), "shoal_allgather", "union_ring"), MPI_SUCCESS);
    for (int k = 0; k < 2; ++k) perform(g, small_job(g, true));
    EXPECT_EQ(explained(g.comm()), "union_ring: asked for");
    perform(g, small_job(g, false));
    EXPECT_NE(used_spec(g.comm()), "union_ring");
    ASSERT_EQ(set_spec(g.comm(), "shoal_allgather", "auto"), MPI_SUCCESS);
    perform(g, small_job(g, true));
    EXPECT_NE(used_spec(g.comm()), "union_ring");
  });
}

// Two persistent exchanges are under way with a blocking one, which half of the ranks call first and the others last.
void repeat_beside_others(const two_groups& g, gathering& one, gathering& two, const group_job& between) {
  shoal_request first, second;
  ASSERT_EQ(one.init(&first), MPI_SUCCESS);
  ASSERT_EQ(two.init(&second), MPI_SUCCESS);
  const bool even = world_rank() % 2 == 0;
  for (int round = 1; round <= 3; ++round) {
    one.fill(round);
    two.fill(round + 10);
    ASSERT_EQ(shoal_start(first), MPI_SUCCESS);
    ASSERT_EQ(shoal_start(second), MPI_SUCCESS);
    if (even) perform(g, between);
    ASSERT_EQ(shoal_wait(even ? &first : &second), MPI_SUCCESS);
    for (int ended = 0; !ended;) ASSERT_EQ(shoal_test(even ? &second : &first, &ended), MPI_SUCCESS);
    if (!even) perform(g, between);
    one.check();
    two.check();
  }
  EXPECT_EQ(shoal_request_free(&first), MPI_SUCCESS);
  EXPECT_EQ(shoal_request_free(&second), MPI_SUCCESS);
}

TEST(Allgather, PersistentOnesRepeatWithNewContents) {
  with_groups([](const two_groups& g) {
    std::mt19937 random(g.sizes[0] * 100 + g.sizes[1] + 2);
    std::vector<std::string> specs = every_spec(g);
    specs.push_back("");  // Shoal chooses
    for (const std::string& spec : specs)
      for (int senders : directions) {
        SCOPED_TRACE(spec + ", " + std::to_string(senders));
        doing("rank " + std::to_string(world_rank()) + ", persistent allgather by " + spec);
        group_job equal = random_job(g, true, senders, random), any = random_job(g, false, senders, random);
        equal.spec = any.spec = spec;
        gathering one(g, equal), two(g, any);
        group_job between = small_job(g, false);
        between.spec = "full";
        repeat_beside_others(g, one, two, between);
      }
  });
}

// An element has three of five numbers. Its type is freed once the request is made.
TEST(Allgather, TypesMayBeFreedOnceAPersistentOneIsMade) {
  constexpr int room = 5;
  with_groups([](const two_groups& g) {
    for (const bool strided : {true, false})
      for (const char* const spec : {"full", "ring", "native"}) {
        SCOPED_TRACE(spec + std::string(strided ? ", strided" : ", indexed"));
        doing("rank " + std::to_string(world_rank()) + ", allgather of freed types by " + spec);
        const auto every_second = [&] {
          const int lengths[] = {1, 1, 1}, places[] = {0, 2, 4};
          MPI_Datatype made;
          strided ? MPI_Type_vector(3, 1, 2, MPI_INT, &made) : MPI_Type_indexed(3, lengths, places, MPI_INT, &made);
          MPI_Type_commit(&made);
          return made;
        };
        ASSERT_EQ(shoal_comm_set_info(g.comm(), info{{"shoal_allgather", spec}}), MPI_SUCCESS);
        MPI_Datatype type = every_second();
        const int theirs = g.sizes[1 - g.side()];
        std::vector<int> send(room), recv(static_cast<std::size_t>(theirs * room));
        shoal_request request;
        ASSERT_EQ(shoal_allgather_init(send.data(), 1, type, recv.data(), 1, type, g.comm(), MPI_INFO_NULL, &request),
                  MPI_SUCCESS);
        MPI_Type_free(&type);
        MPI_Datatype later = every_second();  // perhaps under the same handle
        MPI_Type_free(&later);
        for (int round = 0; round < 2; ++round) {
          for (int k = 0; k < room; ++k) send[k] = round * 10000 + g.rank() * 100 + k;
          std::fill(recv.begin(), recv.end(), -1);
          ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
          ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
          for (int i = 0; i < theirs * room; ++i)
            ASSERT_EQ(recv[i], i % room % 2 ? -1 : round * 10000 + i / room * 100 + i % room) << i;
        }
        EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
      }
  });
}

TEST(Allgather, PersistentIterationsAllocateNothingAndAgreeOnNothing) {
  with_groups([](const two_groups& g) {
    for (const char* spec : {"full", "full:spread=split", "ring", "circulant"})
      for (bool uniform : {false, true}) {
        SCOPED_TRACE(spec);
        group_job j = small_job(g, uniform);
        j.spec = spec;
        gathering one(g, j);
        shoal_request request;
        ASSERT_EQ(one.init(&request), MPI_SUCCESS);
        std::string wrong;
        agreement& agreed = process::get().groups_of(g.comm(), true, wrong)->all().agree();
        std::int64_t memory = 0, reductions = 0;
        for (int i = 0; i < 12; ++i) {
          if (i == 1) memory = allocations(), reductions = agreed.reached();
          ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
          ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
        }
        EXPECT_EQ(allocations(), memory);
        EXPECT_EQ(agreed.reached(), reductions);
        one.check();
        EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
      }
  });
}

TEST(Allgather, WrongPersistentOnesAreAnErrorOnAllRanks) {
  with_groups([](const two_groups& g) {
    for (const char* name : {"shoal_allgather", "shoal_allgatherv"})
      ASSERT_EQ(shoal_comm_set_info(g.comm(), info{{name, "full"}}), MPI_SUCCESS);
    for (bool uniform : {false, true}) {
      group_job j = small_job(g, uniform);
      if (g.side() == 0) j.scalars[0].assign(g.sizes[0], 25);
      shoal_request request;
      const int code = gathering(g, j).init(&request);
      EXPECT_NE(text_of(code).find("differ about the sizes"), std::string::npos) << text_of(code);
      EXPECT_EQ(request, SHOAL_REQUEST_NULL);
    }
    perform(g, small_job(g, true));
  });
}

TEST(Allgather, PersistentOnOneGroupIsTheMpis) {
  std::vector<int> recv(world_ranks(), -1), expected(world_ranks());
  int mine = 0;
  shoal_request request;
  MPI_Comm comm = duplicate_of(MPI_COMM_WORLD);
  ASSERT_EQ(shoal_allgather_init(&mine, 1, MPI_INT, recv.data(), 1, MPI_INT, comm, MPI_INFO_NULL, &request),
            MPI_SUCCESS);
  for (int round = 0; round < 2; ++round) {
    mine = world_rank() + 100 * round;
    for (int i = 0; i < world_ranks(); ++i) expected[i] = i + 100 * round;
    ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
    ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
    EXPECT_EQ(recv, expected);
  }
  MPI_Comm_free(&comm);
  const scoped_comm of_its_number(split_of(MPI_COMM_WORLD, world_rank(), 0));
  int error = MPI_SUCCESS;
  MPI_Error_class(shoal_start(request), &error);
  EXPECT_EQ(error, MPI_ERR_COMM);
  EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
}

TEST(Allgather, OnOneGroupTheMpiGathers) {
  std::vector<int> recv(world_ranks(), -1), expected(world_ranks());
  for (int i = 0; i < world_ranks(); ++i) expected[i] = i;
  const int mine = world_rank();
  ASSERT_EQ(shoal_allgather(&mine, 1, MPI_INT, recv.data(), 1, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(recv, expected);
}

TEST(Allgather, ManyPairsOfGroupsLeaveNothing) {
  if (world_ranks() < 2) GTEST_SKIP() << "needs 2 ranks";
  const auto use = [](int times) {
    for (int i = 0; i < times; ++i) {
      const two_groups g(1, world_ranks() - 1);
      perform(g, small_job(g, i % 2));
    }
  };
  use(3);
  const std::int64_t memory = allocated_bytes();
  use(world_ranks() == 2 ? 100 : 20);
  EXPECT_LE(allocated_bytes() - memory, 1000);
}

}  // namespace
}  // namespace shoal
