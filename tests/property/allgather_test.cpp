// Sends real data through every allgather between two groups, over the in-memory transport. Each receiver gets every
// message.
#include <gtest/gtest.h>

#include "execute/exchange.hpp"
#include "memory_transport.hpp"
#include "../unit/intergroup_fixture.hpp"
#include "user_memory.hpp"

namespace shoal {
namespace {

using testing::parse_intergroup;
using testing::place_blocks;
using testing::reversing;
using testing::two_groups;
using testing::view;

// Byte k of the message of a sender.
std::byte content(int sender, int k) { return static_cast<std::byte>(sender * 151 + k * 7 + (k >> 8) + 1); }

struct job {
  int p, q;
  bool uniform;
  std::vector<int> sizes;   // of the senders' messages
  int wrong = -1;           // the sender that gives half the size
  bool unreadable = false;  // instead, that sender's message cannot be packed
};

job random_job(std::mt19937& random) {
  const auto few = [&] { return 1 + static_cast<int>(random() % (random() % 8 == 0 ? 20 : 7)); };
  job j{few(), few(), random() % 3 == 0, {}};
  const int largest = std::vector<int>{0, 1, 9, 300, 9000}[random() % 5];
  const int empty_tenths = std::vector<int>{0, 3, 9}[random() % 3];
  for (int sender = 0; sender < j.p; ++sender) {
    const bool empty = static_cast<int>(random() % 10) < empty_tenths;
    j.sizes.push_back(j.uniform ? largest : empty ? 0 : static_cast<int>(random() % (largest + 1)));
  }
  return j;
}

// A spec that can serve the job, with random numbers of segments, and a torus if one fits.
std::string random_spec(const job& j, std::mt19937& random) {
  const std::string segments = "ring:segments=" + std::to_string(1 + random() % 9);
  std::vector<std::string> specs = {"full",
                                    "full:allgather=ring",
                                    "full:allgather=bruck",
                                    "full:spread=split",
                                    "full:prune=no",
                                    "full:paced=yes",
                                    "ring:paced=yes",
                                    "circulant",
                                    "ring",
                                    segments,
                                    segments,
                                    "ring_paper",
                                    "union_ring",
                                    "root_gathering",
                                    "root_gathering:broadcast=split"};
  for (int rows = 1; rows <= j.p + j.q; ++rows)
    if ((j.p + j.q) % rows == 0 && j.p % ((j.p + j.q) / rows) == 0)
      specs.push_back("torus:shape=" + std::to_string(rows) + "x" + std::to_string((j.p + j.q) / rows));
  for (;;) {
    const std::string spec = specs[random() % specs.size()];
    const selection chosen = parse_intergroup(spec);
    if (!chosen.which->refuses(two_groups(j.p, j.q), chosen.with)) return spec;
  }
}

// What one rank sends or receives. A sender has no place for the messages of senders.
struct rank_memory {
  std::vector<int> send_counts, send_at, recv_counts, recv_at;
  std::vector<std::byte> send, recv;

  rank_memory(const job& j, int rank, bool reversed, std::mt19937& random) {
    if (rank < j.p) send_counts = {j.sizes[rank] / (rank == j.wrong && !j.unreadable ? 2 : 1)};
    else recv_counts = j.sizes;
    send_at = place_blocks(send_counts, random, send);
    recv_at = place_blocks(recv_counts, random, recv);
    if (rank < j.p) fill(send, send_at[0], rank, send_counts[0], reversed);
  }

  static void fill(std::vector<std::byte>& memory, int at, int sender, int size, bool reversed) {
    for (int k = 0; k < size; ++k) memory[at + (reversed ? size - 1 - k : k)] = content(sender, k);
  }

  std::vector<std::byte> expected(bool reversed) const {
    std::vector<std::byte> memory(recv.size(), std::byte{0xEE});
    for (std::size_t o = 0; o < recv_counts.size(); ++o)
      fill(memory, recv_at[o], static_cast<int>(o), recv_counts[o], reversed);
    return memory;
  }
};

// The ranks of a job, each with its exchange over one network.
class machine {
 public:
  machine(const std::string& spec, const job& j, std::uint32_t seed)
      : j_(j),
        random_(seed),
        reversed_send_(random_() % 4 == 0),
        reversed_recv_(random_() % 4 == 0),
        network_(j.p + j.q, {seed, random_() % 2 == 0, random_() % 2 ? 0.7 : 0.0}) {
    const std::size_t inline_bytes = std::vector<std::size_t>{0, 100, 4096}[random_() % 3];
    for (int rank = 0; rank < j.p + j.q; ++rank) {
      memory_.emplace_back(j, rank, rank < j.p ? reversed_send_ : reversed_recv_, random_);
      programs_.emplace_back(generate(parse_intergroup(spec), two_groups(j.p, j.q), rank));
      lines_.push_back(network_.connect(rank));
      exchanges_.push_back(std::make_unique<exchange>(pool_, *lines_.back(), inline_bytes));
    }
  }

  bool run() {
    for (std::size_t r = 0; r < exchanges_.size(); ++r)
      exchanges_[r]->start(programs_[r], payload_of(static_cast<int>(r)));
    for (int idle = 0; idle < 5000; ++idle) {
      bool moved = false;
      exchanges_[random_() % exchanges_.size()]->progress(moved);
      if (moved) idle = 0;
      if (std::all_of(exchanges_.begin(), exchanges_.end(), [](auto& e) { return e->done(); })) return true;
    }
    return false;
  }

  void expect_delivered() {
    exchange_counters counted;
    for (std::size_t r = 0; r < exchanges_.size(); ++r) {
      EXPECT_EQ(memory_[r].recv, memory_[r].expected(reversed_recv_)) << "rank " << r;
      counted.messages += exchanges_[r]->counters().messages;
      counted.bytes += exchanges_[r]->counters().bytes;
    }
    EXPECT_EQ(network_.unmatched(), 0u);
    EXPECT_EQ(pool_.in_use(), 0u) << "scratch memory is not given back";
    EXPECT_EQ(counted.messages + tokens(), network_.messages());
    EXPECT_EQ(counted.bytes, network_.bytes());
    if (j_.uniform && j_.sizes[0] % programs_[0].parts == 0) expect_what_the_schedule_says(counted);
  }

  void expect_delivered_or_said() {
    for (std::size_t r = j_.p; r < exchanges_.size(); ++r) {
      if (exchanges_[r]->failure()) continue;
      EXPECT_EQ(memory_[r].recv, memory_[r].expected(reversed_recv_)) << "rank " << r;
    }
    EXPECT_EQ(network_.unmatched(), 0u);
    EXPECT_EQ(pool_.in_use(), 0u) << "scratch memory is not given back";
  }

 private:
  payload payload_of(int rank) {
    rank_memory& memory = memory_[rank];
    payload what{view(memory.send, memory.send_counts, memory.send_at),
                 view(memory.recv, memory.recv_counts, memory.recv_at),
                 {}};
    if (j_.uniform) what.uniform = static_cast<std::size_t>(rank == j_.wrong ? memory.send_counts[0] : j_.sizes[0]);
    if (reversed_send_) what.send.type.layout = &backwards_;
    if (rank == j_.wrong && j_.unreadable) what.send.type.layout = &unreadable_;
    if (reversed_recv_) what.recv.type.layout = &backwards_;
    return what;
  }

  std::int64_t tokens() const {
    std::int64_t sum = 0;
    for (const linked_schedule& p : programs_) sum += sent_by(p).tokens;
    return sum;
  }

  void expect_what_the_schedule_says(const exchange_counters& counted) {
    traffic sum;
    for (const linked_schedule& p : programs_) {
      sum.messages += sent_by(p).messages;
      sum.blocks += sent_by(p).blocks;
    }
    const std::int64_t part = j_.sizes[0] / programs_[0].parts;
    EXPECT_EQ(counted.messages, part > 0 ? sum.messages : 0);
    EXPECT_EQ(counted.bytes, part * sum.blocks);
  }

  const job& j_;
  std::mt19937 random_;
  bool reversed_send_, reversed_recv_;
  memory_network network_;
  const reversing backwards_;
  const testing::unreadable unreadable_;
  memory_pool pool_;
  std::vector<rank_memory> memory_;
  std::vector<linked_schedule> programs_;
  std::vector<std::unique_ptr<transport>> lines_;
  std::vector<std::unique_ptr<exchange>> exchanges_;
};

TEST(AllgatherExchange, DeliversEveryByteWhateverTheGroupsSizesAndDelays) {
  for (std::uint32_t seed = 0; seed < 2500; ++seed) {
    std::mt19937 random(seed);
    const job j = random_job(random);
    const std::string spec = random_spec(j, random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + spec + ", p=" + std::to_string(j.p) +
                 ", q=" + std::to_string(j.q) + (j.uniform ? ", uniform" : ""));
    machine m(spec, j, seed);
    ASSERT_TRUE(m.run()) << "the exchange does not end";
    m.expect_delivered();
    if (HasFailure()) return;
  }
}

// Receivers that pass messages on must not pass on what they did not get.
TEST(AllgatherExchange, WhoGetsNotAllIsToldSo) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    job j{1 + static_cast<int>(random() % 5), 1 + static_cast<int>(random() % 6), random() % 2 == 0, {}};
    j.sizes.assign(static_cast<std::size_t>(j.p), 640);
    j.wrong = static_cast<int>(random() % static_cast<unsigned>(j.p));
    j.unreadable = random() % 2 == 0;
    const std::string spec = random_spec(j, random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + spec + ", p=" + std::to_string(j.p) +
                 ", q=" + std::to_string(j.q) + (j.uniform ? ", uniform" : ""));
    machine m(spec, j, seed);
    ASSERT_TRUE(m.run()) << "the exchange does not end";
    m.expect_delivered_or_said();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace shoal
