// shoal_exchange() against an alltoall of counts with an alltoallv behind it, the MPI's own, and against NBX by hand:
// mpiexec -n P sparse_bench [partners].
//
// Every rank sends to `partners` ranks (default: half of them, at most 8) at distances that all ranks draw alike.
// Prints microseconds: the median of the slowest rank's times, the ways in turns. What each of them delivers is compared with what
// was sent, once for each size.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "shoal/shoal.h"
#include "sparse/nbx.hpp"

using namespace shoal;

namespace {

int rank, ranks;

struct message_set {
  std::vector<int> to;
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> at;
  std::vector<char> data;
  std::vector<char> expected;  // what this rank gets, by rank of its senders
};

using received = std::vector<char>;  // null where nobody looks: in what is timed

char mark_of(int sender) { return static_cast<char>(1 + sender % 127); }

message_set messages(int partners, int bytes) {
  std::vector<int> distances(ranks - 1);
  std::iota(distances.begin(), distances.end(), 1);
  std::mt19937 random(1);
  std::shuffle(distances.begin(), distances.end(), random);
  message_set mine;
  for (int i = 0; i < partners; ++i) {
    mine.to.push_back((rank + distances[i]) % ranks);
    mine.counts.push_back(bytes);
    mine.at.push_back(static_cast<MPI_Aint>(i) * bytes);
  }
  mine.data.assign(static_cast<std::size_t>(partners) * bytes + 1, mark_of(rank));
  std::vector<int> from;
  for (int i = 0; i < partners; ++i) from.push_back((rank - distances[i] + ranks) % ranks);
  std::sort(from.begin(), from.end());
  for (const int sender : from) mine.expected.insert(mine.expected.end(), bytes, mark_of(sender));
  return mine;
}

void with_counts(const message_set& mine, received* out) {
  std::vector<int> sent(ranks), got(ranks), sent_at(ranks), got_at(ranks);
  for (std::size_t i = 0; i < mine.to.size(); ++i) {
    sent[mine.to[i]] = static_cast<int>(mine.counts[i]);
    sent_at[mine.to[i]] = static_cast<int>(mine.at[i]);
  }
  MPI_Alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::exclusive_scan(got.begin(), got.end(), got_at.begin(), 0);
  std::vector<char> data(static_cast<std::size_t>(got_at.back() + got.back()) + 1);
  MPI_Alltoallv(mine.data.data(), sent.data(), sent_at.data(), MPI_BYTE, data.data(), got.data(), got_at.data(),
                MPI_BYTE, MPI_COMM_WORLD);
  if (out) out->assign(data.begin(), data.end() - 1);
}

void sparsely(const message_set& mine, received* out) {
  shoal_arrivals* got = nullptr;
  shoal_exchange(static_cast<int>(mine.to.size()), mine.to.data(), mine.data.data(), mine.counts.data(), mine.at.data(),
                 MPI_BYTE, MPI_COMM_WORLD, &got);
  for (int i = 0; out && i < got->blocks; ++i) {
    const char* const block = static_cast<const char*>(got->data) + got->displs[i];
    out->insert(out->end(), block, block + got->counts[i]);
  }
  shoal_arrivals_free(&got);
}

// Without what a program would do with the parcels.
void by_probing(const message_set& mine, nbx& probing, received* out) {
  parcels held(std::size_t{1} << 30);
  for (std::size_t i = 0; i < mine.to.size(); ++i)
    held.add({rank, mine.to[i], static_cast<std::uint64_t>(mine.counts[i])},
             reinterpret_cast<const std::byte*>(mine.data.data() + mine.at[i]));
  probing.deliver(held, false);
  if (!out) return;
  std::map<int, received> by_sender;
  held.each([&](const parcels::label& what, const std::byte* block, const std::byte*) {
    const char* const data = reinterpret_cast<const char*>(block);
    by_sender[what.origin].assign(data, data + what.bytes);
  });
  for (const auto& [sender, block] : by_sender) out->insert(out->end(), block.begin(), block.end());
}

using exchange_way = std::function<void(received*)>;

void check(const exchange_way& way, const message_set& mine) {
  received got;
  way(&got);
  if (got == mine.expected) return;
  std::fprintf(stderr, "sparse_bench: rank %d did not get what was sent to it\n", rank);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Of `calls` in a row, each.
double seconds_of(const exchange_way& way, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) way(nullptr);
  double mine = (MPI_Wtime() - begin) / calls, slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

double median(std::vector<double> of) {
  std::nth_element(of.begin(), of.begin() + of.size() / 2, of.end());
  return of[of.size() / 2];
}

void measure(int partners, int bytes, nbx& probing) {
  constexpr int turns = 15, calls = 20;
  const message_set mine = messages(partners, bytes);
  const exchange_way ways[] = {[&](received* out) { with_counts(mine, out); },
                               [&](received* out) { by_probing(mine, probing, out); },
                               [&](received* out) { sparsely(mine, out); }};
  for (const exchange_way& way : ways) check(way, mine);
  std::vector<double> times[3];
  for (int turn = 0; turn < turns; ++turn)
    for (int way = 0; way < 3; ++way) times[way].push_back(seconds_of(ways[way], calls));
  if (rank == 0)
    std::printf("%8d %8d %10.1f %10.1f %10.1f\n", partners, bytes, median(times[0]) * 1e6, median(times[1]) * 1e6,
                median(times[2]) * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int partners = argc > 1 ? std::min(std::atoi(argv[1]), ranks - 1) : std::min(8, ranks / 2);
  if (rank == 0) std::printf("%d ranks\npartners    bytes     counts        nbx      shoal\n", ranks);
  waiting wait(wait_mode::yield);
  MPI_Comm own;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  nbx probing(own, wait, 1);
  for (const int bytes : {8, 256, 1024, 4096, 65536}) measure(partners, bytes, probing);
  MPI_Comm_free(&own);
  MPI_Finalize();
}
