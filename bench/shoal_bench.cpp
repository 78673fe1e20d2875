// The benchmark driver: measures variants of one exchange side by side and writes JSON lines.
//
//   mpiexec -n 8 shoal_bench --variants 'auto;native;tuna:radix=2' --sizes 8,512 --distributions uniform,random
//   mpiexec -n 8 shoal_bench --variants 'auto;native;full' --sizes 1048576 --senders 4
//
// The exchange is an all-to-all unless an option says otherwise. With --senders it is an allgather between two groups,
// in which the first ranks send. With --collective alltoallw it is MPI_Alltoallw with strips of matrices
// (parts_of_arrays.hpp). With --collective exchange every rank sends to ranks that do not expect it (to_some.hpp), and
// a distribution is, for example, "partners:8". With --collective neighbor_alltoallv it is MPI_Neighbor_alltoallv in a
// distributed graph, and a distribution is the name of the graph (neighbor_graphs.hpp).
//
// Method (after ReproMPI):
// * Every repetition starts at a time that the ranks agreed on. A repetition is dropped if a rank started late: by more
//   than 20 us, or 50 ms if ranks outnumber cores and cannot all start at once, and by more than a twentieth of an
//   exchange.
// * A repetition makes as many exchanges, one after another, as fill a millisecond, and the same number for all
//   variants. Its time is the last end minus the first start, divided by this number.
// * The variants take turns in random order. A case runs for a time budget or for a number of repetitions. All
//   repetitions are written.
// * Every variant's data are verified outside the timed part. If all exchanges take longer than a second and the number
//   of repetitions is given, the verified exchange is the first repetition; otherwise it does not count.
// * `idle` is the share of this machine's processor time that was free during the repetitions: nobody used it, or only
//   processes that give way to the ranks (nice).
// * With --phases 1 a line also says where the time of Shoal's exchanges went, as the mean over the ranks and over the
//   last exchange of every repetition. The clock adds 0.3 us to each exchange.
//
// The variants are specs of Shoal's algorithms and:
// * `auto`: Shoal's choice.
// * `choose`: all that `auto` does before it exchanges anything. Nothing is exchanged.
// * `ask`: one agreement of Shoal's on sizes. Nothing is exchanged.
// * `native`: the MPI's own collective.
// * `native_nonblocking`, `native_persistent`: its nonblocking and its persistent form. They wait as Shoal does.
// * `preloaded`: MPI_Alltoall of whatever library is preloaded into this program.
// * `hand`: a loop of MPI_Irecv, MPI_Isend and MPI_Testsome with the messages of spread_out, which waits as Shoal does.
// * `memcpy`: every rank copies as many bytes as it would exchange, and waits for nobody. Nothing is exchanged or
//   verified.
// Behind a spec, " inline=N" sends sizes in front of the data if the data have at most N bytes, instead of the standard
// number (0: sizes always travel in a message of their own), and " persistent" starts and ends a persistent exchange
// instead of a blocking call.
#include <shoal/shoal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "all_to_all.hpp"
#include "among_neighbors.hpp"
#include "calls/process.hpp"
#include "select/features.hpp"
#include "team/machine.hpp"
#include "between_groups.hpp"
#include "block_sizes.hpp"
#include "clock.hpp"
#include "neighbor_graphs.hpp"
#include "parts_of_arrays.hpp"
#include "state.hpp"
#include "to_some.hpp"
#include "transport/agree.hpp"
#include "transport/mpi_transport.hpp"
#include "transport/waiting.hpp"
#include "options.hpp"

namespace shoal::bench {

namespace {

struct options {
  std::vector<std::string> variants{"auto", "native"};
  std::vector<std::string> distributions{"uniform"};
  std::vector<std::string> sizes{"8", "512", "32768"};
  std::string collective = "alltoall";  // MPI_Alltoallv if blocks differ in size
  int senders = 0;                      // 0: no allgather between two groups
  double seconds = 0.3;                 // for each variant of a case
  int repetitions = 0;                  // of each variant; 0: as many as the seconds allow
  unsigned seed = 1;
  bool phases = false;
};

options parse(int argc, char** argv) {
  options all;
  read_options(argc, argv,
               {
                   {"--variants", [&](const std::string& value) { all.variants = split(value, ';'); }},
                   {"--distributions", [&](const std::string& value) { all.distributions = split(value, ','); }},
                   {"--sizes", [&](const std::string& value) { all.sizes = split(value, ','); }},
                   {"--collective", [&](const std::string& value) { all.collective = value; }},
                   {"--senders", [&](const std::string& value) { all.senders = std::stoi(value); }},
                   {"--seconds", [&](const std::string& value) { all.seconds = std::stod(value); }},
                   {"--repetitions", [&](const std::string& value) { all.repetitions = std::stoi(value); }},
                   {"--seed", [&](const std::string& value) { all.seed = static_cast<unsigned>(std::stoul(value)); }},
                   {"--phases", [&](const std::string& value) { all.phases = value != "0"; }},
               });
  return all;
}

MPI_Comm duplicate_world() {
  MPI_Comm comm;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

// Behind `choose` or `ask`: measures the processor time of the rank that needs most, if ranks take turns on a core.
constexpr std::string_view by_processor = " cpu";

std::string without_clock(const std::string& variant) {
  return variant.ends_with(by_processor) ? variant.substr(0, variant.size() - by_processor.size()) : variant;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Whether a variant is neither `auto` nor a spec of Shoal's.
bool is_foreign(const std::string& variant) {
  constexpr const char* names[] = {
      "ask",    "choose", "native", "native_nonblocking", "native_persistent", "preloaded", "hand",
      "memcpy", "nbx",    "crystal"};
  return std::find(std::begin(names), std::end(names), without_clock(variant)) != std::end(names);
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
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
    // The fields: user, nice, system, idle, waiting for disks, ... Ranks could have used the time of nicer processes.
    static const bool others_are_nicer = getpriority(PRIO_PROCESS, 0) <= 0;
    for (int field = 0; field < 8 && file >> ticks; ++field) {
      time.all += ticks;
      if (field == 3 || field == 4 || (field == 1 && others_are_nicer)) time.idle += ticks;
    }
    return time;
  }
};

// What is known about a variant's repetitions besides their times.
struct circumstances {
  processor_time processors;
  phase_seconds phases{};  // of the last exchanges of `recorded` repetitions
  int recorded = 0;
  int late = 0;  // repetitions that were dropped

  void add(const phase_clock& clock) {
    for (std::size_t p = 0; p < phases.size(); ++p) phases[p] += clock.seconds()[p];
    ++recorded;
  }
  // The means over repetitions and ranks. Collective.
  phase_seconds mean_phases(int ranks) const {
    phase_seconds mean{};
    PMPI_Allreduce(phases.data(), mean.data(), static_cast<int>(mean.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (double& seconds : mean) seconds /= ranks * std::max(1.0, static_cast<double>(recorded));
    return mean;
  }
};

std::string to_json(const phase_seconds& phases) {
  std::ostringstream text;
  for (std::size_t p = 0; p < phases.size(); ++p)
    text << (p ? ", " : "{") << '"' << phase_names[p] << "\": " << phases[p];
  return text.str() + "}";
}

class driver {
 public:
  explicit driver(const options& what) : what_(what), random_(what.seed) {
    if (what_.senders < 0 || what_.senders >= ranks_)
      throw std::invalid_argument("--senders " + std::to_string(what_.senders) + ": of " + std::to_string(ranks_) +
                                  " ranks at least one must send and one receive");
    if (between()) what_.distributions = {group_sizes(what_.senders, ranks_)};
    else if (is("alltoallw")) what_.distributions = {"strips"};
    for (const std::string& name : what_.distributions) require_known(name);
    if (what_.variants.empty()) throw std::invalid_argument("--variants names none");
    for (const std::string& variant : what_.variants) {
      require_words(variant);
      require_takes(variant);
      prepare(variant);
    }
  }

  void run() {
    if (rank_ == 0) print_provenance();
    for (const std::string& distribution : what_.distributions) {
      if (is("neighbor_alltoallv")) connect(distribution);
      for (const std::string& size : what_.sizes) run_case(distribution, std::stoll(size));
    }
  }

 private:
  bool between() const { return what_.senders > 0; }
  bool is(std::string_view collective) const { return what_.collective == collective; }

  // Both functions throw std::invalid_argument, on all ranks, if there is no such distribution or variant.
  void require_known(const std::string& distribution) const {
    if (is("exchange")) to_some::partners_of(distribution, ranks_);
    else if (is("neighbor_alltoallv")) graph_named(distribution, ranks_);
    else if (is("alltoall") && !between()) sizes_of(distribution, 1, ranks_);
    else if (!is("alltoall") && !is("alltoallw"))
      throw std::invalid_argument("--collective " + what_.collective +
                                  ": alltoall, alltoallw, exchange or neighbor_alltoallv");
  }
  void require_takes(const std::string& variant) const {
    if (is("neighbor_alltoallv")) return among_neighbors::require_has(variant);
    const bool by_hand = variant == "nbx" || variant == "crystal";
    const bool takes = is("exchange")    ? to_some::has(variant)
                       : is("alltoallw") ? variant == "native" || !is_foreign(variant)
                                         : !by_hand;
    if (!takes) throw std::invalid_argument("--collective " + what_.collective + " has no variant " + variant);
  }

  // Throws std::invalid_argument if the words behind a spec mean nothing in this exchange.
  void require_words(const std::string& variant) const {
    const std::size_t end = std::min(variant.find(' '), variant.size());
    const std::string name = variant.substr(0, end);
    if (name.empty()) throw std::invalid_argument("a variant without a name");
    const bool among_all = is("alltoall") && !between(), is_spec = name == "native" || !is_foreign(name);
    const auto means_something = [&](const std::string& word) {
      if (word == by_processor.substr(1)) return among_all && (name == "choose" || name == "ask");
      if (word == "persistent") return among_all && is_spec;
      return is_spec && (among_all || is("alltoallw")) && word.starts_with("inline=") && is_number(word.substr(7));
    };
    for (const std::string& word : split(variant.substr(std::min(end + 1, variant.size())), ' '))
      if (!means_something(word))
        throw std::invalid_argument(variant + ": '" + word + "' means nothing behind " + name + " here; there are " +
                                    "'persistent' and 'inline=N' behind specs, and 'cpu' behind choose and ask");
  }

  std::unique_ptr<measured> make(const std::string& distribution, std::int64_t size) {
    if (between()) return std::make_unique<between_groups>(what_.senders, size, rank_);
    if (is("alltoallw")) return std::make_unique<parts_of_arrays>(size, rank_, ranks_);
    if (is("exchange"))
      return std::make_unique<to_some>(to_some::partners_of(distribution, ranks_), size, rank_, ranks_, mode_);
    if (is("neighbor_alltoallv")) return std::make_unique<among_neighbors>(*graph_, size, rank_, hand_);
    return std::make_unique<all_to_all>(workload(distribution, size, rank_, ranks_), hand_, mode_);
  }

  // Throws std::invalid_argument on all ranks if the blocks of one rank are too large.
  std::unique_ptr<measured> make_everywhere(const std::string& distribution, std::int64_t size) {
    std::unique_ptr<measured> made;
    std::string wrong = "the blocks of another rank cannot be measured";
    try {
      made = make(distribution, size);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    int all_made = made != nullptr;
    PMPI_Allreduce(MPI_IN_PLACE, &all_made, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all_made) throw std::invalid_argument("--sizes " + std::to_string(size) + ": " + wrong);
    return made;
  }

  // Each variant has a communicator of its own, so that changing between them costs nothing in the measurement.
  void prepare(const std::string& variant) {
    if (is("neighbor_alltoallv")) return;  // connect() makes the communicator, which needs the graph
    comms_[variant] = between() ? make_intercommunicator(what_.senders) : duplicate_world();
    if (is_foreign(variant) || is("exchange")) return;
    MPI_Info info;
    PMPI_Info_create(&info);
    const std::size_t space = variant.find(" inline=");
    const std::string spec = variant.substr(0, variant.find(' '));
    const char* const key = between() ? "shoal_allgather" : is("alltoallw") ? "shoal_alltoallw" : "shoal_alltoall";
    PMPI_Info_set(info, key, spec.c_str());
    if (!between() && is("alltoall") && !all_to_all::only_uniform(spec))
      PMPI_Info_set(info, "shoal_alltoallv", spec.c_str());
    shoal_comm_set_info(comms_[variant], info);
    PMPI_Info_free(&info);
    if (space != std::string::npos)
      state_on(comms_[variant]).all().set_inline_bytes(std::stoul(variant.substr(space + 8)));
  }

  void connect(const std::string& distribution) {
    graph_ = graph_named(distribution, ranks_);
    for (const std::string& variant : what_.variants) {
      MPI_Comm& comm = comms_.try_emplace(variant, MPI_COMM_NULL).first->second;
      if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
      comm = make_graph_communicator(*graph_, rank_);
    }
  }

  void run_case(const std::string& distribution, std::int64_t size) {
    const std::unique_ptr<measured> what = make_everywhere(distribution, size);
    std::vector<std::string> order;
    for (const std::string& variant : what_.variants)
      if (what->takes(variant)) order.push_back(variant);
    std::map<std::string, std::vector<double>> times;
    const auto keep = [&](const std::string& variant, double took, int exchanges) {
      std::vector<double>& of_variant = times[variant];  // printed even if every repetition was late
      if (took > 0) of_variant.push_back(took / exchanges);
      else ++used_[variant].late;
    };
    used_.clear();
    double slowest = 1e-7, quickest = a_long_time;
    for (const std::string& variant : order) {
      const double took = check(variant, *what);
      keep(variant, took, 1);
      slowest = std::max(slowest, std::abs(took));
      quickest = std::min(quickest, std::abs(took));
    }
    const bool verified_ones_count = what_.repetitions > 0 && quickest >= a_long_time;
    if (!verified_ones_count) {
      used_.clear();
      for (auto& [_, of_variant] : times) of_variant.clear();
    }
    const int batch = std::max(1, static_cast<int>(1e-3 / slowest));

    const double end = clock_.now() + what_.seconds * static_cast<double>(order.size());
    int round = verified_ones_count;
    while (what_.repetitions > 0 ? round++ < what_.repetitions : everyones_latest(end - clock_.now()) > 0) {
      std::shuffle(order.begin(), order.end(), random_);
      for (const std::string& variant : order) keep(variant, repetition(variant, *what, batch), batch);
    }
    for (const auto& [variant, all] : times) {
      const phase_seconds phases = used_[variant].mean_phases(ranks_);
      if (rank_ == 0) print(distribution, size, variant, batch, all, phases);
    }
  }

  // Verifies what a variant delivers, warms it up, and returns how long it takes: negative if a rank started late.
  double check(const std::string& variant, measured& what) {
    what.fill();
    what.make_ready(variant, comms_[variant]);
    const double first = repetition(variant, what, 1);
    const std::string name = without_clock(variant);
    const bool chooses = name == "choose", exchanges = name != "memcpy" && name != "ask" && !chooses;
    const std::string wrong = exchanges ? what.wrong() : "";
    if (!wrong.empty()) {
      std::cerr << "shoal_bench: " << variant << ": " << wrong << std::endl;
      PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    if ((variant == "auto" || chooses) && std::abs(first) * what.calls_until_settled() < 25 * what_.seconds)
      for (int i = 0; i < what.calls_until_settled(); ++i) exchange(variant, what);
    double least = first;
    for (int i = 0; i < 5 && std::abs(least) < what_.seconds / 10; ++i) {
      const double took = repetition(variant, what, 1);
      if (std::abs(took) < std::abs(least)) least = took;
    }
    return least;
  }

  // Returns the seconds from the first start to the last end, or with " cpu" the processor time. They are negative if a
  // rank started late.
  double repetition(const std::string& variant, measured& what, int batch) {
    const processor_time before = look_at_processors();
    const double start = everyones_latest(clock_.now()) + notice_;
    clock_.wait_until(start, crowded_);
    const double first = clock_.now(), begin = processor_seconds();
    for (int i = 0; i < batch; ++i) exchange(variant, what);
    const double last = clock_.now(), spent = processor_seconds() - begin;
    const double latest_start = everyones_latest(first);
    const double took = everyones_latest(last) + everyones_latest(-first);
    const processor_time after = look_at_processors();
    used_[variant].processors.idle += after.idle - before.idle;
    used_[variant].processors.all += after.all - before.all;
    if (const phase_clock* clock = what.phases(comms_[variant])) used_[variant].add(*clock);
    const bool in_time = latest_start - start <= std::max(crowded_ ? 50e-3 : 20e-6, took / batch / 20);
    notice_ = in_time ? std::max(shortest_notice(), 0.9 * notice_) : std::min(2 * notice_, longest_notice());
    const double told = variant.ends_with(by_processor) ? everyones_latest(spent) : took;
    return in_time ? told : -told;
  }

  // Seconds from the agreement on a start to this start. The notice is longer for a while after a rank was late.
  double shortest_notice() const { return crowded_ ? 500e-6 : 50e-6; }
  // Ranks that share cores may wait for the time slices of all others. If each has a core of its own, other programs
  // make it late, and more notice hardly helps.
  double longest_notice() const { return crowded_ ? 0.5 : 20e-3; }

  // Only rank 0 looks, outside the timed part: a look takes tens of microseconds, and other ranks on its core wait.
  processor_time look_at_processors() const { return rank_ == 0 ? processor_time::now() : processor_time(); }

  void exchange(const std::string& variant, measured& what) {
    const std::string name = without_clock(variant);
    if (name == "ask") agree_on(features(), state_on(MPI_COMM_WORLD).all().agree());
    else what.run(name, comms_[variant]);
  }

  double everyones_latest(double seconds) {
    std::int64_t value = std::llround(seconds * 1e9);
    constexpr combine rule = combine::maximum;
    agreement_.reach({&value, 1}, {&rule, 1});
    return static_cast<double>(value) * 1e-9;
  }

  void print_provenance() const {
    team& all = state_on(MPI_COMM_WORLD).all();
    const job_description job{mpi_version(), machine_name(all.facts().cores), *all.where().nodes};
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
    int length = 0;
    PMPI_Get_library_version(version.data(), &length);
    std::string line(version.data());
    line = line.substr(0, line.find('\n'));
    std::replace(line.begin(), line.end(), '"', '\'');
    std::replace(line.begin(), line.end(), '\t', ' ');
    std::printf(
        "{\"provenance\": {\"shoal\": \"%s\", \"mpi\": \"%s\", \"ranks\": %d, \"cores\": %ld, \"crowded\": %s, "
        "\"seed\": %u, \"seconds_per_variant\": %g, \"phases\": \"%s\", \"job\": {\"mpi\": \"%s\", "
        "\"machine\": \"%s\", \"layout\": \"%s\"}}}\n",
        SHOAL_VERSION, line.c_str(), ranks_, sysconf(_SC_NPROCESSORS_ONLN), crowded_ ? "true" : "false", what_.seed,
        what_.seconds, what_.phases ? "recorded" : "not recorded", job.mpi.c_str(), job.machine.c_str(),
        to_string(job.layout).c_str());
  }

  void print(const std::string& distribution, std::int64_t size, const std::string& variant, int batch,
             const std::vector<double>& times, const phase_seconds& phases) {
    std::array<char, 256> ran{};
    const bool shoals = !is_foreign(variant) && !is("exchange");
    const circumstances& were = used_[variant];
    if (shoals) shoal_comm_explain(comms_[variant], ran.data(), static_cast<int>(ran.size()));
    std::ostringstream line;
    line << "{\"ranks\": " << ranks_ << ", \"distribution\": " << std::quoted(distribution) << ", \"size\": " << size
         << ", \"variant\": \"" << variant << "\", \"ran\": \"" << (shoals ? ran.data() : variant.c_str())
         << "\", \"batch\": " << batch << ", \"late\": " << were.late
         << ", \"verified\": true, \"idle\": " << were.processors.idle / std::max(1.0, were.processors.all);
    if (phases != phase_seconds{}) line << ", \"phases\": " << to_json(phases);
    line << ", \"seconds\": [";
    for (std::size_t i = 0; i < times.size(); ++i) line << (i ? "," : "") << times[i];
    std::cout << line.str() << "]}" << std::endl;
  }

  static constexpr double a_long_time = 1;

  options what_;
  std::mt19937 random_;  // the same order on every rank
  common_clock clock_{MPI_COMM_WORLD};
  mpi_transport over_{duplicate_world()};
  int rank_ = over_.rank(), ranks_ = over_.ranks();
  // Ranks do not spin while they wait: they outnumber cores, or a setting says so, as on emulated hosts.
  bool crowded_ = state_on(MPI_COMM_WORLD).all().wait().mode() != wait_mode::spin;
  double notice_ = shortest_notice();
  wait_mode mode_ = state_on(MPI_COMM_WORLD).all().wait().mode();
  waiting wait_{mode_};
  agreement agreement_{over_, wait_};
  hand_loop hand_{duplicate_world(), rank_, ranks_, mode_};
  std::optional<neighbor_graph> graph_;  // of an exchange among neighbours
  std::map<std::string, MPI_Comm> comms_;
  std::map<std::string, circumstances> used_;  // in the repetitions of a case, by variant
};

}  // namespace

}  // namespace shoal::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const shoal::bench::options what = shoal::bench::parse(argc, argv);
    if (what.phases) setenv("SHOAL_REPORT", "phases", 1);  // read when Shoal is first used
    shoal::bench::driver(what).run();
  } catch (const std::exception& error) {  // wrong arguments: the same on every rank
    if (rank == 0) std::cerr << "shoal_bench: " << error.what() << std::endl;
    MPI_Finalize();
    return 2;
  }
  MPI_Finalize();
  return 0;
}
