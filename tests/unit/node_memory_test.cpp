// The memory that the ranks of a node share, and the rows and channels in it. Ranks are threads here, or processes if
// that matters to the test.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <random>
#include <system_error>
#include <thread>

#include "transport/node_rows.hpp"
#include "transport/node_window.hpp"
#include "transport/process_memory.hpp"
#include "transport/shared_memory.hpp"

namespace shoal {
namespace {

int error_of(const std::function<void()>& call) {
  try {
    call();
    return 0;
  } catch (const std::system_error& error) {
    return error.code().value();
  }
}

// The exit status of a process that has no right to do what a test needs.
constexpr int may_not = 77;

// Calls `call` in another process, which exits with what that returns. Returns the status as waitpid() gives it.
int in_another_process_ending(const std::function<int()>& call) {
  const pid_t child = fork();
  if (child == 0) _exit(call());
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// Returns 0 if `call` returned true there.
int in_another_process(const std::function<bool()>& call) {
  return in_another_process_ending([&] { return call() ? 0 : 1; });
}

TEST(shared_memory, is_seen_by_another_process) {
  const shared_memory mine = shared_memory::create(10000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mine.data()) % 64, 0u);
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(mine.data()[i], std::byte{0});
  EXPECT_EQ(in_another_process([&] {
              const shared_memory theirs = shared_memory::open(mine.where(), 10000);
              theirs.data()[9999] = std::byte{7};
              return theirs.data() != mine.data();
            }),
            0);
  EXPECT_EQ(mine.data()[9999], std::byte{7});
}

// Also if there are fewer pages than parts, and if other ranks already use some pages.
TEST(shared_memory, stays_as_it_is_where_pages_are_cleared_early) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{20000}, std::size_t{3} << 20}) {
    shared_memory memory = shared_memory::create(bytes);
    memory.data()[bytes / 2] = std::byte{5};
    constexpr std::size_t parts = 3;
    for (std::size_t part = 0; part < parts; ++part) memory.clear_part(part, parts);
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(memory.data()[i], std::byte(i == bytes / 2 ? 5 : 0));
    EXPECT_NO_THROW(shared_memory::open(memory.where(), bytes));  // the proof is still there
  }
}

TEST(shared_memory, keys_that_mean_something_else_are_refused) {
  shared_memory mine = shared_memory::create(4096);
  shared_memory::key wrong = mine.where();
  ++wrong.proof;
  EXPECT_EQ(error_of([&] { shared_memory::open(wrong, 4096); }), ENXIO);
  EXPECT_EQ(error_of([&] { shared_memory::open(mine.where(), 8192); }), ENXIO);
  wrong = mine.where();
  wrong.descriptor = 0;
  EXPECT_NE(error_of([&] { shared_memory::open(wrong, 4096); }), 0);
  const shared_memory::key closed = mine.where();
  mine.close();
  EXPECT_NE(error_of([&] { shared_memory::open(closed, 4096); }), 0);
  mine.data()[4095] = std::byte{1};  // still mapped
}

// Left to itself, the system would end the process by a signal.
TEST(shared_memory, limits_on_files_are_errors) {
  EXPECT_EQ(in_another_process([] {
              const rlimit little{1 << 16, RLIM_INFINITY};
              setrlimit(RLIMIT_FSIZE, &little);
              return error_of([] { shared_memory::create(1 << 20); }) == EFBIG;
            }),
            0);
}

// The memory is in no file system that people can see. If the process may not mount one, nothing is tested.
TEST(shared_memory, does_not_need_room_in_dev_shm) {
  const int status = in_another_process_ending([] {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("shm", "/dev/shm", "tmpfs", 0, "size=4k") != 0)
      return may_not;
    const int full = open("/dev/shm/full", O_CREAT | O_WRONLY, 0600);
    if (posix_fallocate(full, 0, 4096) != 0 || posix_fallocate(full, 0, 8192) != ENOSPC) return 1;
    return error_of([] { shared_memory::create(1 << 20).data()[(1 << 20) - 1] = std::byte{1}; });
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == may_not) GTEST_SKIP() << "mounting needs root";
  EXPECT_EQ(status, 0);
}

// Memory for ranks that are threads.
class arena {
 public:
  explicit arena(std::size_t bytes) : memory_(new (std::align_val_t{64}) std::byte[bytes]()) {}
  ~arena() { ::operator delete[](memory_, std::align_val_t{64}); }
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  std::byte* data() const { return memory_; }

 private:
  std::byte* memory_;
};

void on_threads(int ranks, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(work, rank);
  for (std::thread& one : threads) one.join();
}

std::byte content(int from, int to, int message, std::size_t k) {
  return static_cast<std::byte>(from * 31 + to * 17 + message * 7 + static_cast<int>(k) * 3 + static_cast<int>(k >> 8));
}

// The size of a message: around what a line or a cell holds, or that of several segments.
std::size_t size_of(int from, int to, int message, std::size_t segment) {
  std::mt19937 random(static_cast<std::uint32_t>(from * 10007 + to * 101 + message));
  const std::size_t sizes[] = {
      0, 1, 39, 40, 41, 1000, segment - 1, segment, segment + 1, 2 * segment, 2 * segment + 40, 7 * segment + 5};
  return sizes[random() % std::size(sizes)];
}

// Sends `messages` messages to every other rank, and receives as many from it. Several are under way at the same time.
void send_and_receive(node_window& window, int messages) {
  const int self = window.rank();
  struct peer {
    int sent = 0, received = 0;
    std::vector<std::byte> out, in;
    node_window::outgoing sending{};
    node_window::incoming receiving{};
  };
  std::vector<peer> peers(static_cast<std::size_t>(window.ranks()));
  const auto begin_send = [&](int p) {
    peer& at = peers[p];
    at.out.resize(size_of(self, p, at.sent, window.segment_bytes()));
    for (std::size_t k = 0; k < at.out.size(); ++k) at.out[k] = content(self, p, at.sent, k);
    at.sending = {at.out.data(), at.out.size()};
  };
  const auto begin_receive = [&](int p) {
    peer& at = peers[p];
    at.in.assign(size_of(p, self, at.received, window.segment_bytes()), std::byte{0});
    at.receiving = {at.in.data(), at.in.size()};
  };
  const auto check = [&](int p) {
    const peer& at = peers[p];
    ASSERT_EQ(at.receiving.capacity, 0u);
    for (std::size_t k = 0; k < at.in.size(); ++k) ASSERT_EQ(at.in[k], content(p, self, at.received, k)) << k;
  };
  for (int p = 0; p < window.ranks(); ++p)
    if (p != self) begin_send(p), begin_receive(p);
  for (int left = 2 * messages * (window.ranks() - 1); left > 0;) {
    const int before = left;
    for (int p = 0; p < window.ranks(); ++p) {
      if (p == self) continue;
      peer& at = peers[p];
      if (at.sent < messages && window.push(p, at.sending)) {
        --left;
        if (++at.sent < messages) begin_send(p);
      }
      if (at.received < messages && window.pull(p, at.receiving)) {
        check(p);
        --left;
        if (++at.received < messages) begin_receive(p);
      }
    }
    window.wake_those_waiting();
    if (left == before) window.sleep_for((self + 1) % window.ranks(), 50, [] { return false; });
  }
}

TEST(node_window, messages_arrive_whole_and_in_order) {
  for (const std::size_t read_from : {node_window::never, std::size_t{20000}, std::size_t{0}})
    for (const std::size_t longest : {node_window::any, std::size_t{40}})
      for (int ranks : {2, 3, 5}) {
        const arena memory(node_window::bytes_for(ranks, longest));
        on_threads(ranks, [&](int rank) {
          node_window window(memory.data(), ranks, rank, read_from, longest);
          send_and_receive(window, 60);
        });
      }
}

TEST(node_window, longer_messages_than_expected_are_cut) {
  const arena memory(node_window::bytes_for(2));
  node_window from(memory.data(), 2, 0), to(memory.data(), 2, 1);
  std::vector<std::byte> sent(3 * from.segment_bytes(), std::byte{5}), place(from.segment_bytes() + 10, std::byte{1});
  node_window::outgoing out{sent.data(), sent.size()};
  node_window::incoming in{place.data(), from.segment_bytes() + 3};
  while (!from.push(1, out)) EXPECT_FALSE(to.pull(0, in));
  EXPECT_TRUE(to.pull(0, in));
  EXPECT_TRUE(in.cut);
  for (std::size_t k = 0; k < place.size(); ++k)
    ASSERT_EQ(place[k], std::byte(k < from.segment_bytes() + 3 ? 5 : 1)) << k;
  out = {sent.data(), 100};
  in = {place.data(), 100};
  EXPECT_TRUE(from.push(1, out));
  EXPECT_TRUE(to.pull(0, in));
  EXPECT_FALSE(in.cut);
}

TEST(node_window, messages_read_from_their_sender_are_pushed_when_they_are_read) {
  const arena memory(node_window::bytes_for(2));
  node_window from(memory.data(), 2, 0, 100), to(memory.data(), 2, 1, 100);
  std::vector<std::byte> sent(300, std::byte{5}), place(300, std::byte{1});
  node_window::outgoing out{sent.data(), sent.size()};
  node_window::incoming in{place.data(), 200};
  EXPECT_FALSE(from.push(1, out));
  EXPECT_FALSE(from.push(1, out));
  EXPECT_TRUE(to.pull(0, in));
  EXPECT_TRUE(in.cut);
  EXPECT_TRUE(from.push(1, out));
  for (std::size_t k = 0; k < place.size(); ++k) ASSERT_EQ(place[k], std::byte(k < 200 ? 5 : 1)) << k;
}

// Ranks that have nothing for each other do not wait for each other.
TEST(node_window, a_rank_may_be_any_number_of_exchanges_ahead) {
  for (const int ahead : {1, 40000, 49152, 70000, 200000}) {
    const arena memory(node_window::bytes_for(2));
    node_window from(memory.data(), 2, 0), to(memory.data(), 2, 1);
    std::vector<std::byte> sent(100, std::byte{7}), place(100);
    node_window::outgoing out{sent.data(), sent.size()};
    node_window::incoming in{place.data(), place.size()};
    for (int i = 0; i < ahead; ++i) from.begin_exchange();
    EXPECT_TRUE(from.push(1, out));
    for (int i = 0; i < ahead; ++i) {
      to.begin_exchange();
      if (i % 1000 == 0) to.drop_stale();
    }
    EXPECT_TRUE(to.pull(0, in)) << ahead;
    EXPECT_EQ(place, sent) << ahead;
  }
}

TEST(node_window, what_nobody_pulled_is_dropped_any_number_of_exchanges_later) {
  for (const int later : {1, 40000, 65536}) {
    const arena memory(node_window::bytes_for(2));
    node_window from(memory.data(), 2, 0), to(memory.data(), 2, 1);
    std::vector<std::byte> sent(100, std::byte{7}), place(100);
    node_window::outgoing old{sent.data(), sent.size()};
    EXPECT_TRUE(from.push(1, old));
    for (int i = 0; i < later; ++i) from.begin_exchange(), to.begin_exchange();
    std::fill(sent.begin(), sent.end(), std::byte{8});
    node_window::outgoing out{sent.data(), sent.size()};
    EXPECT_TRUE(from.push(1, out));
    node_window::incoming in{place.data(), place.size()};
    EXPECT_TRUE(to.pull(0, in)) << later;
    EXPECT_EQ(place, sent) << later;
  }
}

// Memory that its owner can read, but the kernel cannot read for others, like that of some devices.
class only_for_its_owner {
 public:
  only_for_its_owner() : pages_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    std::memset(pages_, 7, bytes);
  }
  ~only_for_its_owner() { munmap(pages_, bytes); }
  only_for_its_owner(const only_for_its_owner&) = delete;
  only_for_its_owner& operator=(const only_for_its_owner&) = delete;
  void allow(bool allowed) { mprotect(pages_, bytes, allowed ? PROT_READ | PROT_WRITE : PROT_NONE); }
  const std::byte* data() const { return static_cast<const std::byte*>(pages_); }
  static constexpr std::size_t bytes = 65536;

 private:
  void* pages_;
};

TEST(node_window, messages_that_cannot_be_read_come_in_pieces) {
  const arena memory(node_window::bytes_for(2));
  node_window from(memory.data(), 2, 0, 100), to(memory.data(), 2, 1, 100);
  only_for_its_owner sent;
  for (const bool readable : {false, true, false}) {
    std::vector<std::byte> place(only_for_its_owner::bytes, std::byte{1});
    node_window::outgoing out{sent.data(), only_for_its_owner::bytes};
    node_window::incoming in{place.data(), place.size()};
    EXPECT_FALSE(from.push(1, out));
    sent.allow(readable);
    const bool at_once = to.pull(0, in);
    sent.allow(true);
    EXPECT_EQ(at_once, readable);
    while (!from.push(1, out)) EXPECT_EQ(to.pull(0, in), readable);
    EXPECT_TRUE(readable || to.pull(0, in));
    EXPECT_EQ(in.error, 0);
    for (std::size_t k = 0; k < place.size(); ++k) ASSERT_EQ(place[k], std::byte{7}) << k;
  }
}

// The number that a process has in its container is that of another process outside.
TEST(node_window, a_sender_in_another_container_is_not_read) {
  const shared_memory memory = shared_memory::create(node_window::bytes_for(2));
  const std::vector<std::byte> sent(30000, std::byte{5});
  const auto send = [&] {
    node_window from(memory.data(), 2, 0, 100);
    for (node_window::outgoing out{sent.data(), sent.size()}; !from.push(1, out);) sched_yield();
    return true;
  };
  const pid_t child = fork();
  if (child == 0) _exit(unshare(CLONE_NEWPID) != 0 ? may_not : in_another_process(send));
  node_window to(memory.data(), 2, 1, 100);
  std::vector<std::byte> place(sent.size());
  node_window::incoming in{place.data(), place.size()};
  int status = -1;
  bool ended = false, arrived = false;
  while (!(arrived = to.pull(0, in)) && !ended) ended = waitpid(child, &status, WNOHANG) == child;
  if (!ended) waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == may_not) GTEST_SKIP() << "another container needs root";
  EXPECT_TRUE(arrived || to.pull(0, in));
  EXPECT_EQ(in.error, 0);
  EXPECT_EQ(place, sent);
}

TEST(process_memory, of_a_process_that_has_ended_is_an_error) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  std::byte to[8], from[8] = {std::byte{3}};
  EXPECT_NE(read_process_memory(child, from, to, sizeof to), 0);
  EXPECT_NE(read_process_memory(getpid(), nullptr, to, sizeof to), 0);
  EXPECT_EQ(read_process_memory(getpid(), from, to, sizeof to), 0);
  EXPECT_EQ(to[0], std::byte{3});
}

TEST(node_window, waits_for_room_and_sleeps_until_there_is_some) {
  const arena memory(node_window::bytes_for(2));
  on_threads(2, [&](int rank) {
    node_window window(memory.data(), 2, rank);
    std::vector<std::byte> data(20 * window.segment_bytes());
    node_window::outgoing out{data.data(), data.size()};
    node_window::incoming in{data.data(), data.size()};
    for (bool done = false; !done; window.wake_those_waiting()) {
      const std::uint64_t before = window.segments_moved();
      done = rank == 0 ? window.push(1, out) : window.pull(0, in);
      if (!done && window.segments_moved() == before) window.sleep_for(1 - rank, 999999, [] { return false; });
    }
  });
}

TEST(node_window, memory_is_bounded) {
  for (int ranks = 1; ranks <= 100; ++ranks) {
    EXPECT_LE(node_window::bytes_for(ranks), std::size_t{9} << 20);
    EXPECT_LE(node_rows::bytes_for(ranks), std::size_t{4} << 20);
  }
  EXPECT_LE(node_window::bytes_for(512), std::size_t{512} * 512 * 800);
  EXPECT_LE(node_window::bytes_for(8, 100) + node_rows::bytes_for(8, 800), std::size_t{80000});
}

std::size_t row_size(int from, int to, int exchange, int ranks) {
  std::mt19937 random(static_cast<std::uint32_t>(from * 10007 + to * 101 + exchange));
  const std::size_t most = exchange % 3 == 0 ? 8 : exchange % 3 == 1 ? 3000 : node_rows::bytes_for(ranks);
  return random() % 3 ? random() % (most + 1) : 0;
}

// Returns how many blocks did not fit into the row.
int write_row(node_rows& rows, int exchange) {
  int elsewhere = 0;
  rows.begin();
  for (int to = 0; to < rows.ranks(); ++to) {
    const std::size_t bytes = row_size(rows.rank(), to, exchange, rows.ranks());
    std::byte* const place = rows.add(bytes);
    elsewhere += !place;
    for (std::size_t k = 0; place && k < bytes; ++k) place[k] = content(rows.rank(), to, exchange, k);
  }
  rows.publish();
  return elsewhere;
}

void read_row(node_rows& rows, int from, int exchange) {
  const node_rows::block block = rows.block_from(from);
  if (block.elsewhere) return;
  ASSERT_EQ(block.bytes, row_size(from, rows.rank(), exchange, rows.ranks()));
  for (std::size_t k = 0; k < block.bytes; ++k) ASSERT_EQ(block.data[k], content(from, rows.rank(), exchange, k));
}

// A rank waits only for rows that have something for it, and for ranks that must still read a row that it replaces.
TEST(node_rows, blocks_of_one_exchange_after_another) {
  for (int ranks : {1, 2, 3, 6}) {
    const arena memory(node_rows::bytes_for(ranks));
    std::atomic<int> elsewhere = 0;
    on_threads(ranks, [&](int rank) {
      node_rows rows(memory.data(), ranks, rank);
      for (int exchange = 0; exchange < 300; ++exchange) {
        while (rows.awaited_reader() >= 0) std::this_thread::yield();
        elsewhere += write_row(rows, exchange);
        for (int from = 0; from < ranks; ++from) {
          if (row_size(from, rank, exchange, ranks) == 0) continue;
          while (!rows.is_there(from)) std::this_thread::yield();
          read_row(rows, from, exchange);
        }
      }
    });
    EXPECT_GT(elsewhere, 0);
  }
}

// They are skipped by all ranks, or by one for which the others have nothing.
TEST(node_rows, exchanges_that_are_skipped_hold_nobody_up) {
  constexpr int ranks = 3;
  const arena memory(node_rows::bytes_for(ranks));
  on_threads(ranks, [&](int rank) {
    node_rows rows(memory.data(), ranks, rank);
    for (int exchange = 0; exchange < 300; ++exchange) {
      const bool all_skip = exchange % 7 >= 5, first_skips = exchange % 5 == 2;
      if (all_skip || (first_skips && rank == 0)) {
        rows.skip();
        continue;
      }
      while (rows.awaited_reader() >= 0) std::this_thread::yield();
      if (first_skips) {
        rows.begin();
        for (int to = 0; to < ranks; ++to) rows.add(0);
        rows.publish();
        continue;
      }
      write_row(rows, exchange);
      for (int from = 0; from < ranks; ++from) {
        if (row_size(from, rank, exchange, ranks) == 0) continue;
        while (!rows.is_there(from)) std::this_thread::yield();
        read_row(rows, from, exchange);
      }
    }
  });
}

TEST(node_rows, one_that_was_replaced_had_nothing_for_who_comes_late) {
  const arena memory(node_rows::bytes_for(2));
  node_rows mine(memory.data(), 2, 0), theirs(memory.data(), 2, 1);
  mine.begin();
  theirs.skip();
  theirs.skip();
  EXPECT_EQ(theirs.awaited_reader(), -1);
  theirs.begin();  // this row replaces the first
  for (const std::size_t bytes : {8, 0}) theirs.add(bytes);
  theirs.publish();
  ASSERT_TRUE(mine.is_there(1));
  EXPECT_EQ(mine.block_from(1).bytes, 0u);
}

// Begins a row with a block for each rank.
void begin_row(node_rows& rows, std::initializer_list<std::size_t> blocks) {
  ASSERT_EQ(rows.awaited_reader(), -1);
  rows.begin();
  for (const std::size_t bytes : blocks) ASSERT_NE(rows.add(bytes), nullptr);
}

// A writer does not wait for a rank for which it has nothing, even if that rank expects something by mistake.
TEST(node_rows, one_that_is_being_replaced_is_not_read) {
  const arena memory(node_rows::bytes_for(2));
  node_rows mine(memory.data(), 2, 0), theirs(memory.data(), 2, 1);
  mine.begin();
  for (int exchange = 0; exchange < 2; ++exchange) begin_row(theirs, {0, 0}), theirs.publish();
  ASSERT_TRUE(mine.is_there(1));
  begin_row(theirs, {8, 0});  // this row replaces the first
  EXPECT_EQ(mine.block_from(1).bytes, 0u);
  EXPECT_FALSE(mine.is_there(1));
  theirs.publish();
  ASSERT_TRUE(mine.is_there(1));
  EXPECT_EQ(mine.block_from(1).bytes, 0u);
}

// The block of the first rank for the second one. Whatever is wrong, the caller goes on: the first rank waits for it.
void expect_block(const node_rows::block& block, std::size_t bytes, int exchange) {
  ASSERT_EQ(block.bytes, bytes) << exchange;
  for (std::size_t k = 0; k < bytes; ++k) ASSERT_EQ(block.data[k], content(0, 1, exchange, k)) << exchange;
}

// The first rank has something for the second one in three of four exchanges. The second one always expects something.
TEST(node_rows, who_expects_too_much_gets_nothing_of_another_exchange) {
  constexpr std::size_t bytes = 3000;
  const arena memory(node_rows::bytes_for(2));
  on_threads(2, [&](int rank) {
    node_rows rows(memory.data(), 2, rank);
    for (int exchange = 0; exchange < 4000; ++exchange) {
      const std::size_t sent = exchange % 4 ? bytes : 0;
      while (rows.awaited_reader() >= 0) std::this_thread::yield();
      rows.begin();
      rows.add(0);
      std::byte* const place = rows.add(rank == 0 ? sent : 0);
      for (std::size_t k = 0; rank == 0 && k < sent; ++k) place[k] = content(0, 1, exchange, k);
      rows.publish();
      if (rank == 0) continue;
      while (!rows.is_there(0)) std::this_thread::yield();
      expect_block(rows.block_from(0), sent, exchange);
    }
  });
}

TEST(node_rows, have_room_for_what_they_are_made_for) {
  for (const int ranks : {2, 3, 8, 100})
    for (const std::size_t most : {0, 1, 63, 64, 1000, 1024, 20000}) {
      const arena memory(node_rows::bytes_for(ranks, most));
      EXPECT_LE(node_rows::bytes_for(ranks, most), node_rows::bytes_for(ranks));
      for (const int rank : {ranks - 1, 0}) {
        node_rows rows(memory.data(), ranks, rank, most);
        rows.begin();
        for (int to = 0; to + 1 < ranks; ++to) rows.add(0);
        std::byte* const place = rows.add(most);
        ASSERT_NE(place, nullptr) << ranks << " ranks, " << most << " bytes";
        EXPECT_LE(place + most, memory.data() + node_rows::bytes_for(ranks, most));
      }
    }
}

TEST(node_rows, only_those_who_had_something_to_read_are_waited_for) {
  const arena memory(node_rows::bytes_for(3));
  node_rows mine(memory.data(), 3, 0), theirs(memory.data(), 3, 1);
  const auto exchange = [](node_rows& rows, std::size_t to_second) {
    begin_row(rows, {8, to_second, 0});
    rows.publish();
  };
  exchange(mine, 0);
  exchange(mine, 8);
  exchange(mine, 0);  // replaces the first row, in which nobody had anything to read
  EXPECT_EQ(mine.awaited_reader(), 1);
  exchange(theirs, 0);
  exchange(theirs, 0);
  EXPECT_EQ(mine.awaited_reader(), 1) << "it may still read";
  exchange(theirs, 0);
  EXPECT_EQ(mine.awaited_reader(), -1);
}

TEST(node_rows, a_full_row_says_which_blocks_are_elsewhere) {
  const arena memory(node_rows::bytes_for(3));
  node_rows mine(memory.data(), 3, 0), theirs(memory.data(), 3, 2);
  mine.begin();
  theirs.begin();
  EXPECT_NE(mine.add(30000), nullptr);
  EXPECT_EQ(mine.add(30000), nullptr);
  EXPECT_NE(mine.add(100), nullptr);
  EXPECT_FALSE(theirs.is_there(0));
  mine.publish();
  ASSERT_TRUE(theirs.is_there(0));
  EXPECT_FALSE(theirs.block_from(0).elsewhere);
  EXPECT_EQ(theirs.block_from(0).bytes, 100u);
}

}  // namespace
}  // namespace shoal
