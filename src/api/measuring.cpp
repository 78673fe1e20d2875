#include "api/measuring.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "select/choose.hpp"
#include "select/median.hpp"
#include "select/sparse_pattern.hpp"

namespace shoal {

namespace {

constexpr std::int64_t most_bytes = 1 << 20;  // of one rank's buffer
constexpr int fewest_rounds = 3, most_rounds = 9;
constexpr double enough = 30e-3;   // seconds of measuring one size
constexpr double sample = 200e-6;  // seconds of exchanges that are measured together, behind one start of all ranks
constexpr double hopeless = 3;     // times the fastest: measured in the fewest rounds, and no more

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

  // Seconds of one exchange on this rank, the mean of `times` one after another.
  double seconds(const prepared& how, int times) {
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

// Seconds of each spec: the median of some rounds behind one that warms caches up, each of the rank where it took
// longest, which also has the ranks begin together. The specs take turns, so that what disturbs the machine disturbs
// them alike.
std::vector<double> measure(communicator& on, mix blocks, std::int64_t block, const std::vector<std::string>& specs) {
  test_exchange test(on, blocks, block);
  std::vector<std::vector<double>> seen(specs.size());
  double fastest = std::numeric_limits<double>::infinity(), spent = 0;
  for (int round = 0; round <= fewest_rounds || (round <= most_rounds && spent < enough); ++round) {
    const int times = static_cast<int>(std::clamp(sample / fastest, 1.0, 32.0));
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (round > fewest_rounds && median(seen[i]) > hopeless * fastest) continue;
      const double now = on.slowest({test.seconds(on.prepare(parse_selection(specs[i])), times)})[0];
      if (round > 0) seen[i].push_back(now);
      fastest = std::min(fastest, now);
      spent += now * times;
    }
  }
  std::vector<double> medians;
  for (const auto& of_spec : seen) medians.push_back(median(of_spec));
  return medians;
}

// Seconds of agreeing on the sizes of one exchange.
double measure_asking(communicator& on) {
  constexpr int times = 8, rounds = 4;
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

// Exchanges of these sizes, and between those where they leave the choice open.
std::vector<measured_exchanges::point> measure_sizes(communicator& on, mix blocks,
                                                     const std::vector<std::string>& specs) {
  std::vector<measured_exchanges::point> points;
  for (const std::int64_t block : blocks_for(on.ranks())) points.push_back({block, measure(on, blocks, block, specs)});
  for (const std::int64_t block : sizes_in_doubt(points)) points.push_back({block, measure(on, blocks, block, specs)});
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.block < b.block; });
  return points;
}

// What uses the memory of nodes, which the model of flat exchanges does not know.
std::vector<const char*> worth_a_try(communicator& on) {
  const node_layout& nodes = *on.where().nodes;
  if (on.shares_memory()) return {"shared"};
  if (nodes.nodes() == 1 || nodes.largest_node() == 1) return {};
  return {"hierarchical:local=shared", "hierarchical:local=shared,carriers=1"};
}

}  // namespace

// The model proposes by the smallest and the largest blocks; all that is to be compared then takes turns.
measured_exchanges measure_exchanges(communicator& on, bool uniform) {
  const mix equal = uniform ? mix::uniform : mix::equal;
  const std::vector<std::int64_t> blocks = blocks_for(on.ranks());
  measured_exchanges all;
  for (const std::int64_t block : {blocks.front(), blocks.back()})
    all.points.push_back({block, measure(on, equal, block, all.specs)});
  for (const std::string& spec : worth_measuring(on.ranks(), all, blocks)) all.specs.push_back(spec);
  for (const char* spec : worth_a_try(on)) all.specs.emplace_back(spec);
  all.points = measure_sizes(on, equal, all.specs);
  all.asking = measure_asking(on);
  if (uniform || sparse_share(on.ranks()) == 0) return all;
  all.full_share = sparse_share(on.ranks());
  all.sparse = measure_sizes(on, mix::sparse, all.specs);
  return all;
}

}  // namespace shoal
