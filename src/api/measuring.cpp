#include "api/measuring.hpp"

#include <algorithm>
#include <cstring>

#include "select/sparse_pattern.hpp"

namespace shoal {

namespace {

constexpr std::int64_t most_bytes = 1 << 20;  // of one rank's buffer
constexpr int rounds = 4;
constexpr double hopeless = 3;  // times the fastest: measured once, and no more

enum class mix { uniform, equal, sparse };  // MPI_Alltoall's, and two of MPI_Alltoallv

// Buffers of equal blocks, most of them empty where they are sparse, and the calls that exchange them.
class test_exchange {
 public:
  test_exchange(communicator& on, mix blocks, std::int64_t block)
      : on_(on), block_(static_cast<int>(block)), counts_(on.ranks()), starts_(on.ranks()), wide_(on.ranks()) {
    for (int i = 0; i < on.ranks(); ++i) {
      starts_[i] = i * block_;
      wide_[i] = counts_[i] = blocks != mix::sparse || sparse_pair(on.rank(), i) ? block_ : 0;
    }
    send_ = on.pool().take(bytes());
    recv_ = on.pool().take(bytes());
    std::memset(send_, 0, bytes());
    if (blocks == mix::uniform) what_.uniform = static_cast<std::size_t>(block);
    what_.send.base = send_;
    what_.recv.base = recv_;
    what_.send.counts = what_.recv.counts = number_array(wide_.data());
    what_.send.displacements = what_.recv.displacements = number_array::linear(0, block);
  }
  ~test_exchange() {
    on_.pool().give_back(send_, bytes());
    on_.pool().give_back(recv_, bytes());
  }
  test_exchange(const test_exchange&) = delete;
  test_exchange& operator=(const test_exchange&) = delete;

  // Seconds of one exchange on this rank, the mean of `times` one after another, behind one that warms caches up.
  double seconds(const prepared& how, int times) {
    run(how);
    const double begin = PMPI_Wtime();
    for (int i = 0; i < times; ++i) run(how);
    return (PMPI_Wtime() - begin) / times;
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(block_) * counts_.size(); }

  void run(const prepared& how) {
    if (how.steps) on_.run(*how.steps, what_);
    else native();
  }

  void native() {
    const int *c = counts_.data(), *d = starts_.data();
    if (what_.uniform) PMPI_Alltoall(send_, block_, MPI_BYTE, recv_, block_, MPI_BYTE, on_.own());
    else PMPI_Alltoallv(send_, c, d, MPI_BYTE, recv_, c, d, MPI_BYTE, on_.own());
  }

  communicator& on_;
  int block_;
  std::vector<int> counts_, starts_;
  std::vector<std::int64_t> wide_;  // counts
  payload what_;
  std::byte *send_ = nullptr, *recv_ = nullptr;
};

// Seconds of each spec. They take turns, so that what disturbs the machine disturbs them alike, and the least disturbed
// round counts. The first round tells how many exchanges fill the others.
std::vector<double> measure(communicator& on, mix blocks, std::int64_t block, const std::vector<std::string>& specs) {
  if (specs.empty()) return {};
  test_exchange test(on, blocks, block);
  const auto each = [&](auto time) {
    std::vector<double> mine;
    for (const std::string& spec : specs) mine.push_back(time(mine.size(), on.prepare(parse_selection(spec))));
    return on.slowest(mine);
  };
  std::vector<double> best = each([&](std::size_t, const prepared& how) { return test.seconds(how, 1); });
  const double fastest = *std::min_element(best.begin(), best.end());
  const int times = std::clamp(static_cast<int>(200e-6 / std::max(1e-9, fastest)), 2, 32);
  for (int round = 0; round < rounds; ++round) {
    const std::vector<double> now = each([&](std::size_t i, const prepared& how) {
      return best[i] > hopeless * fastest ? best[i] : test.seconds(how, times);
    });
    for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::min(best[i], now[i]);
  }
  return best;
}

// Seconds of agreeing on the sizes of one exchange.
double measure_asking(communicator& on) {
  constexpr int times = 8;
  double best = 1;
  for (int round = 0; round < rounds; ++round) {
    const double begin = PMPI_Wtime();
    for (int i = 0; i < times; ++i) on.agreed({});
    best = std::min(best, on.slowest({(PMPI_Wtime() - begin) / times})[0]);
  }
  return best;
}

// Where MPIs and Shoal change the way a block travels, as far as buffers are not too large.
std::vector<std::int64_t> blocks_for(int ranks) {
  const std::int64_t largest = std::max<std::int64_t>(256, most_bytes / ranks);
  std::vector<std::int64_t> all;
  for (const std::int64_t block : {8, 512, 4096, 32768, 262144})
    if (all.empty() || all.back() < largest) all.push_back(std::min(block, largest));
  return all;
}

// What uses the memory of nodes, which the model of flat exchanges does not know.
std::vector<const char*> worth_a_try(communicator& on) {
  const node_layout& nodes = *on.where().nodes;
  if (on.shares_memory()) return {"shared"};
  if (nodes.nodes() == 1 || nodes.largest_node() == 1) return {};
  return {"hierarchical:local=shared", "hierarchical:local=shared,carriers=1"};
}

}  // namespace

measured_exchanges measure_exchanges(communicator& on, bool uniform) {
  const mix equal = uniform ? mix::uniform : mix::equal;
  measured_exchanges all;
  for (const std::int64_t block : blocks_for(on.ranks()))
    all.points.push_back({block, measure(on, equal, block, all.specs)});
  std::vector<std::string> proposed = worth_measuring(on.ranks(), all);
  for (const char* spec : worth_a_try(on)) proposed.push_back(spec);
  for (measured_exchanges::point& p : all.points)
    for (double seconds : measure(on, equal, p.block, proposed)) p.seconds.push_back(seconds);
  all.specs.insert(all.specs.end(), proposed.begin(), proposed.end());
  all.asking = measure_asking(on);
  if (uniform || sparse_share(on.ranks()) == 0) return all;
  all.full_share = sparse_share(on.ranks());
  for (const std::int64_t block : blocks_for(on.ranks()))
    all.sparse.push_back({block, measure(on, mix::sparse, block, all.specs)});
  return all;
}

}  // namespace shoal
