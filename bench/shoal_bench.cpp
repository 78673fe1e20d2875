// The benchmark driver: measures variants of one exchange side by side and writes JSON lines.
//
//   mpiexec -n 8 shoal_bench --variants 'auto;native;tuna:radix=2' --sizes 8,512 --distributions uniform,random
//
// Method (after ReproMPI): every repetition starts at a time agreed beforehand and is dropped when a rank was late (by
// 20 us, or 50 ms where ranks outnumber cores and cannot all start at once, or a twentieth of it); its time is the last
// end minus the first start, divided by the exchanges in it: as many, one after another, as fill a millisecond, the
// same for all variants. Variants are interleaved in random order, a case runs for a time budget, all repetitions are
// written, and every variant's data are verified outside the timed part. `idle` is the share of this machine's
// processor time that nobody used during the repetitions. Variants are specs of Shoal's algorithms, `auto`, `ask` (one
// agreement of Shoal's on sizes; nothing is exchanged), `native` (the MPI's own collective), `native_nonblocking` (its
// nonblocking form, tested while waiting as Shoal does), `preloaded` (MPI_Alltoall as whatever is preloaded into this
// program does it), `hand` (a loop of MPI_Irecv, MPI_Isend and MPI_Testsome with the messages of spread_out, waiting as
// Shoal does), and `memcpy` (every rank copies as many bytes as it exchanges, and waits for nobody; nothing is
// exchanged then, and nothing verified). " inline=N" behind a spec sends sizes in front of at most N bytes of data
// instead of the standard number; 0: always in a message of their own; " persistent" starts and ends a persistent
// exchange instead of a blocking call.
#include <shoal/shoal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>

#include "api/process.hpp"
#include "block_sizes.hpp"
#include "clock.hpp"
#include "execute/agree.hpp"
#include "execute/mpi_transport.hpp"
#include "execute/waiting.hpp"
#include "options.hpp"
#include "workload.hpp"

namespace shoal::bench {

namespace {

struct options {
  std::vector<std::string> variants{"auto", "native"};
  std::vector<std::string> distributions{"uniform"};
  std::vector<std::string> sizes{"8", "512", "32768"};
  double seconds = 0.3;  // for each variant of a case
  unsigned seed = 1;
};

options parse(int argc, char** argv) {
  options all;
  read_options(argc, argv,
               {
                   {"--variants", [&](const std::string& value) { all.variants = split(value, ';'); }},
                   {"--distributions", [&](const std::string& value) { all.distributions = split(value, ','); }},
                   {"--sizes", [&](const std::string& value) { all.sizes = split(value, ','); }},
                   {"--seconds", [&](const std::string& value) { all.seconds = std::stod(value); }},
                   {"--seed", [&](const std::string& value) { all.seed = static_cast<unsigned>(std::stoul(value)); }},
               });
  return all;
}

MPI_Comm duplicate_world() {
  MPI_Comm comm;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

// A hand-written spread-out exchange, as good as one page makes it.
class hand_loop {
 public:
  hand_loop(MPI_Comm comm, int rank, int ranks, wait_mode mode)
      : comm_(comm), rank_(rank), ranks_(ranks), wait_(mode), requests_(2 * ranks), ended_(2 * ranks) {}

  void run(workload& w) {
    int n = 0;
    std::copy_n(w.send.data() + w.send_at[rank_], w.send_counts[rank_], w.recv.data() + w.recv_at[rank_]);
    for (int i = 1; i < ranks_; ++i) {
      const int from = (rank_ + i) % ranks_;
      if (w.recv_counts[from] > 0)
        PMPI_Irecv(w.recv.data() + w.recv_at[from], w.recv_counts[from], MPI_BYTE, from, 0, comm_, &requests_[n++]);
    }
    for (int i = 1; i < ranks_; ++i) {
      const int to = (rank_ - i + ranks_) % ranks_;
      if (w.send_counts[to] > 0)
        PMPI_Isend(w.send.data() + w.send_at[to], w.send_counts[to], MPI_BYTE, to, 0, comm_, &requests_[n++]);
    }
    for (int left = n; left > 0;) {
      int count = 0;
      PMPI_Testsome(n, requests_.data(), &count, ended_.data(), MPI_STATUSES_IGNORE);
      count > 0 ? wait_.progressed() : wait_.idle();
      left -= count;
    }
  }

 private:
  MPI_Comm comm_;
  int rank_, ranks_;
  waiting wait_;
  std::vector<MPI_Request> requests_;
  std::vector<int> ended_;
};

// What Shoal keeps for a communicator. Collective.
communicator& shoals(MPI_Comm comm) {
  std::string why;
  if (communicator* state = process::get().state_of(comm, why)) return *state;
  throw std::runtime_error("Shoal does not serve these ranks: " + why);
}

// Not Shoal's.
bool is_foreign(const std::string& variant) {
  constexpr const char* names[] = {"ask", "native", "native_nonblocking", "preloaded", "hand", "memcpy"};
  return std::find(std::begin(names), std::end(names), variant) != std::end(names);
}

// What the processors of this machine have done since it started, in ticks.
struct processor_time {
  double idle = 0, all = 0;

  static processor_time now() {
    std::ifstream file("/proc/stat");
    std::string name;
    processor_time time;
    file >> name;
    double ticks = 0;
    for (int field = 0; field < 8 && file >> ticks; ++field) {  // user, nice, system, idle, waiting for disks, ...
      time.all += ticks;
      if (field == 3 || field == 4) time.idle += ticks;
    }
    return time;
  }
};

class driver {
 public:
  explicit driver(const options& what) : what_(what), random_(what.seed) {
    for (const std::string& name : what_.distributions) sizes_of(name, 1, ranks_);  // throws when unknown
    for (const std::string& variant : what_.variants) prepare(variant);
  }

  void run() {
    if (rank_ == 0) print_provenance();
    for (const std::string& distribution : what_.distributions)
      for (const std::string& size : what_.sizes) run_case(distribution, std::stoll(size));
  }

 private:
  // Each variant has a communicator of its own, so that changing between them costs nothing in the measurement.
  void prepare(const std::string& variant) {
    comms_[variant] = duplicate_world();
    if (is_foreign(variant)) return;
    MPI_Info info;
    PMPI_Info_create(&info);
    const std::size_t space = variant.find(" inline=");
    const std::string spec = variant.substr(0, variant.find(' '));
    PMPI_Info_set(info, "shoal_alltoall", spec.c_str());
    if (!only_uniform(spec)) PMPI_Info_set(info, "shoal_alltoallv", spec.c_str());
    shoal_comm_set_info(comms_[variant], info);
    PMPI_Info_free(&info);
    if (space != std::string::npos) shoals(comms_[variant]).set_inline_bytes(std::stoul(variant.substr(space + 8)));
  }

  static bool only_uniform(const std::string& variant) {
    return variant == "preloaded" || variant.rfind("bruck", 0) == 0;
  }

  void run_case(const std::string& distribution, std::int64_t size) {
    workload w(distribution, size, rank_, ranks_);
    std::vector<std::string> order;
    for (const std::string& variant : what_.variants)
      if (w.uniform() || !only_uniform(variant)) order.push_back(variant);
    double slowest = 0;
    for (const std::string& variant : order) slowest = std::max(slowest, check(variant, w));
    const int batch = std::max(1, static_cast<int>(1e-3 / slowest));

    std::map<std::string, std::vector<double>> times;
    std::map<std::string, int> late;
    used_.clear();
    const double end = clock_.now() + what_.seconds * static_cast<double>(order.size());
    do {
      std::shuffle(order.begin(), order.end(), random_);
      for (const std::string& variant : order) {
        const double took = repetition(variant, w, batch);
        if (took > 0) times[variant].push_back(took / batch);
        else ++late[variant];
      }
    } while (everyones_latest(end - clock_.now()) > 0);
    if (rank_ != 0) return;
    for (const auto& [variant, all] : times) print(distribution, size, variant, batch, all, late[variant]);
  }

  // Warms a variant up, verifies what it delivers, and tells about how long it takes.
  double check(const std::string& variant, workload& w) {
    w.fill();
    if (is_persistent(variant)) make_ready(variant, w);
    const double begin = clock_.now();
    exchange(variant, w);
    const double first = everyones_latest(clock_.now() - begin);
    const std::string wrong = variant == "memcpy" || variant == "ask" ? "" : w.wrong();
    if (!wrong.empty()) {
      std::cerr << "shoal_bench: " << variant << ": " << wrong << std::endl;
      PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (variant == "auto" && first < what_.seconds) let_measure(w);
    double least = first;
    for (int i = 0; i < 5 && first < what_.seconds / 10; ++i)
      least = std::min(least, std::abs(repetition(variant, w, 1)));
    return std::max(1e-7, least);
  }

  // `auto` measures after its first 20 calls of a kind; that is no part of what an exchange takes.
  void let_measure(workload& w) {
    for (int i = 0; i < 25; ++i) exchange("auto", w);
  }

  // Seconds from the first start to the last end, negative when a rank started late.
  double repetition(const std::string& variant, workload& w, int batch) {
    const processor_time before = look_at_processors();
    const double start = everyones_latest(clock_.now()) + notice_;
    clock_.wait_until(start, crowded_);
    const double first = clock_.now();
    for (int i = 0; i < batch; ++i) exchange(variant, w);
    const double last = clock_.now();
    const double latest_start = everyones_latest(first);
    const double took = everyones_latest(last) + everyones_latest(-first);
    const processor_time after = look_at_processors();
    used_[variant].idle += after.idle - before.idle;
    used_[variant].all += after.all - before.all;
    const bool in_time = latest_start - start <= std::max(crowded_ ? 50e-3 : 20e-6, took / batch / 20);
    notice_ = in_time ? std::max(shortest_notice(), 0.9 * notice_) : std::min(2 * notice_, longest_notice);
    return in_time ? took : -took;
  }

  // Between agreeing when to start and starting; longer for a while after a rank was late.
  double shortest_notice() const { return crowded_ ? 500e-6 : 50e-6; }

  // By one rank and outside the timed part: it takes tens of microseconds, which the other ranks of a core would wait.
  processor_time look_at_processors() const { return rank_ == 0 ? processor_time::now() : processor_time(); }

  static bool is_persistent(const std::string& variant) { return variant.find(" persistent") != std::string::npos; }

  void make_ready(const std::string& variant, workload& w) {
    shoal_request& request = requests_[variant];
    if (request) shoal_request_free(&request);
    const int block = w.uniform() ? w.send_counts[0] : 0;
    const MPI_Comm comm = comms_[variant];
    if (w.uniform())
      shoal_alltoall_init(w.send.data(), block, MPI_BYTE, w.recv.data(), block, MPI_BYTE, comm, MPI_INFO_NULL,
                          &request);
    else
      shoal_alltoallv_init(w.send.data(), w.send_counts.data(), w.send_at.data(), MPI_BYTE, w.recv.data(),
                           w.recv_counts.data(), w.recv_at.data(), MPI_BYTE, comm, MPI_INFO_NULL, &request);
  }

  void exchange(const std::string& variant, workload& w) {
    if (is_persistent(variant)) {
      shoal_request& request = requests_[variant];
      shoal_start(request);
      shoal_wait(&request);
      return;
    }
    const MPI_Comm comm = comms_[variant];
    const int block = w.uniform() ? w.send_counts[0] : 0;
    const auto *sc = w.send_counts.data(), *sd = w.send_at.data(), *rc = w.recv_counts.data(), *rd = w.recv_at.data();
    if (variant == "hand") hand_.run(w);
    else if (variant == "memcpy") w.copy();
    else if (variant == "ask") shoals(MPI_COMM_WORLD).agreed({});
    else if (variant == "native_nonblocking") nonblocking(comm, w);
    else if (variant == "preloaded") MPI_Alltoall(w.send.data(), block, MPI_BYTE, w.recv.data(), block, MPI_BYTE, comm);
    else if (variant == "native" && w.uniform())
      PMPI_Alltoall(w.send.data(), block, MPI_BYTE, w.recv.data(), block, MPI_BYTE, comm);
    else if (variant == "native")
      PMPI_Alltoallv(w.send.data(), sc, sd, MPI_BYTE, w.recv.data(), rc, rd, MPI_BYTE, comm);
    else if (w.uniform()) shoal_alltoall(w.send.data(), block, MPI_BYTE, w.recv.data(), block, MPI_BYTE, comm);
    else shoal_alltoallv(w.send.data(), sc, sd, MPI_BYTE, w.recv.data(), rc, rd, MPI_BYTE, comm);
  }

  void nonblocking(MPI_Comm comm, workload& w) {
    MPI_Request request;
    const int block = w.send_counts[0];
    if (w.uniform()) PMPI_Ialltoall(w.send.data(), block, MPI_BYTE, w.recv.data(), block, MPI_BYTE, comm, &request);
    else
      PMPI_Ialltoallv(w.send.data(), w.send_counts.data(), w.send_at.data(), MPI_BYTE, w.recv.data(),
                      w.recv_counts.data(), w.recv_at.data(), MPI_BYTE, comm, &request);
    wait_.progressed();
    for (int ended = 0; PMPI_Test(&request, &ended, MPI_STATUS_IGNORE) == MPI_SUCCESS && !ended;) wait_.idle();
  }

  double everyones_latest(double seconds) {
    std::int64_t value = std::llround(seconds * 1e9);
    constexpr combine rule = combine::maximum;
    agreement_.reach({&value, 1}, {&rule, 1});
    return static_cast<double>(value) * 1e-9;
  }

  void print_provenance() const {
    const job_description job = shoals(MPI_COMM_WORLD).job();
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
    int length = 0;
    PMPI_Get_library_version(version.data(), &length);
    std::string line(version.data());
    line = line.substr(0, line.find('\n'));
    std::replace(line.begin(), line.end(), '"', '\'');
    std::replace(line.begin(), line.end(), '\t', ' ');
    std::printf(
        "{\"provenance\": {\"shoal\": \"%s\", \"mpi\": \"%s\", \"ranks\": %d, \"cores\": %ld, \"crowded\": %s, "
        "\"seed\": %u, \"seconds_per_variant\": %g, \"job\": {\"mpi\": \"%s\", \"machine\": \"%s\", "
        "\"layout\": \"%s\"}}}\n",
        SHOAL_VERSION, line.c_str(), ranks_, sysconf(_SC_NPROCESSORS_ONLN), crowded_ ? "true" : "false", what_.seed,
        what_.seconds, job.mpi.c_str(), job.machine.c_str(), to_string(job.layout).c_str());
  }

  void print(const std::string& distribution, std::int64_t size, const std::string& variant, int batch,
             const std::vector<double>& times, int late) {
    std::array<char, 256> ran{};
    const bool shoals = !is_foreign(variant);
    if (shoals) shoal_comm_explain(comms_[variant], ran.data(), static_cast<int>(ran.size()));
    std::ostringstream line;
    line << "{\"ranks\": " << ranks_ << ", \"distribution\": \"" << distribution << "\", \"size\": " << size
         << ", \"variant\": \"" << variant << "\", \"ran\": \"" << (shoals ? ran.data() : variant.c_str())
         << "\", \"batch\": " << batch << ", \"late\": " << late
         << ", \"verified\": true, \"idle\": " << used_[variant].idle / std::max(1.0, used_[variant].all)
         << ", \"seconds\": [";
    for (std::size_t i = 0; i < times.size(); ++i) line << (i ? "," : "") << times[i];
    std::cout << line.str() << "]}" << std::endl;
  }

  static constexpr double longest_notice = 0.5;

  options what_;
  std::mt19937 random_;  // the same order on every rank
  common_clock clock_{MPI_COMM_WORLD};
  mpi_transport over_{duplicate_world()};
  int rank_ = over_.rank(), ranks_ = over_.ranks();
  // Ranks do not spin while they wait: they outnumber cores, or are told so, as on emulated hosts.
  bool crowded_ = shoals(MPI_COMM_WORLD).wait().mode() != wait_mode::spin;
  double notice_ = shortest_notice();
  wait_mode mode_ = shoals(MPI_COMM_WORLD).wait().mode();
  waiting wait_{mode_};
  agreement agreement_{over_, wait_};
  hand_loop hand_{duplicate_world(), rank_, ranks_, mode_};
  std::map<std::string, MPI_Comm> comms_;
  std::map<std::string, shoal_request> requests_;  // of the case at hand
  std::map<std::string, processor_time> used_;     // in the repetitions of a case, by variant
};

}  // namespace

}  // namespace shoal::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    shoal::bench::driver(shoal::bench::parse(argc, argv)).run();
  } catch (const std::exception& error) {  // wrong arguments: the same on every rank
    if (rank == 0) std::cerr << "shoal_bench: " << error.what() << std::endl;
    MPI_Finalize();
    return 2;
  }
  MPI_Finalize();
  return 0;
}
