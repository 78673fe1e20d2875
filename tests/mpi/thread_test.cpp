// Threads that exchange on different communicators at the same time.
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "oracle.hpp"
#include "together.hpp"

namespace shoal {
namespace {

constexpr int threads = 3;

void exchange_repeatedly(MPI_Comm comm, int thread) {
  for (int i = 0; i < 20; ++i) {
    job j;
    j.comm = comm;
    j.spec = i % 3 == 0 ? "auto" : i % 3 == 1 ? "tuna:radix=2" : "spread_out";
    j.uniform = (i + thread) % 2;
    j.scalars = equal_blocks(ranks_of(comm), 12 * (1 + i * thread));
    j.recv.how = &layout_named("reversed");
    perform(j);
  }
}

TEST(Threads, ExchangeOnDifferentCommunicatorsAtOnce) {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE) GTEST_SKIP() << mpi_name() << " does not provide MPI_THREAD_MULTIPLE";
  std::vector<std::unique_ptr<scoped_comm>> comms;
  for (int i = 0; i < threads; ++i) comms.push_back(std::make_unique<scoped_comm>(duplicate_of(MPI_COMM_WORLD)));
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(exchange_repeatedly, MPI_Comm{*comms[i]}, i);
  for (std::thread& one : running) one.join();
}

}  // namespace
}  // namespace shoal
