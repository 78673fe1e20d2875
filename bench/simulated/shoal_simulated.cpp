// Exchanges of thousands of ranks under SimGrid's SMPI. Shoal's algorithms, executor and transport are real; the
// network, the clock and the costs of messages are modelled. `shoal simulate` starts this program and tells the model.
//
//   smpirun -np 256 ... libshoal_simulated.so --variants 'native;tuna:radix=16' --sizes 16,1024 --layout 16x16
//
// All simulated ranks are fibres of one process with the same global variables. So this program does not use Shoal's
// public interface, which keeps state for each process. All ranks start an exchange at the same simulated time; the
// exchange ends when the last rank has ended. One run is enough, because the next one takes the same time. Writes the
// JSON lines of shoal_bench.
//
// Among the variants, `native` is the collective that SMPI's selector takes, `ask` is one agreement on sizes, and
// `auto` is what jobs with the profile of --profile take. With --senders p the exchange is an allgather between two
// groups: the first p ranks send to all others. With a distribution such as partners:12 it is an exchange among
// neighbours: every rank sends to 12 others. With --verify 0 all ranks exchange the same memory, and they share one
// program if their programs differ only in the names of ranks. So thousands of ranks fit into memory.
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "../group_workload.hpp"
#include "../neighbor_blocks.hpp"
#include "../neighbor_graphs.hpp"
#include "../options.hpp"
#include "../workload.hpp"
#include "algorithms/relabelling.hpp"
#include "execute/exchange.hpp"
#include "transport/agree.hpp"
#include "transport/mpi_transport.hpp"
#include "renamed.hpp"
#include "select/choose.hpp"
#include "select/profile.hpp"
#include "topology/layout_tree.hpp"

namespace shoal::bench {

namespace {

struct options {
  std::vector<std::string> variants{"native"}, sizes{"64"}, distributions{"random"};
  std::string layout, profile;
  int senders = 0;
  bool verify = true;
};

options parse(int argc, char** argv) {
  options all;
  read_options(argc, argv,
               {
                   {"--variants", [&](const std::string& value) { all.variants = split(value, ';'); }},
                   {"--sizes", [&](const std::string& value) { all.sizes = split(value, ','); }},
                   {"--distributions", [&](const std::string& value) { all.distributions = split(value, ','); }},
                   {"--layout", [&](const std::string& value) { all.layout = value; }},
                   {"--profile", [&](const std::string& value) { all.profile = value; }},
                   {"--senders", [&](const std::string& value) { all.senders = std::stoi(value); }},
                   {"--verify", [&](const std::string& value) { all.verify = value != "0"; }},
               });
  return all;
}

double latest(double mine) {
  double all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

void sleep_until(double when) {
  const double left = when - PMPI_Wtime();
  timespec time{static_cast<time_t>(left), static_cast<long>((left - std::floor(left)) * 1e9)};
  nanosleep(&time, nullptr);
}

// What is being exchanged: where it lies, and whether what arrived is right.
class content {
 public:
  virtual ~content() = default;
  virtual std::string name() const = 0;
  virtual payload blocks() = 0;
  virtual void native() = 0;
  virtual void fill() = 0;
  virtual std::string wrong() const = 0;
  // What this rank knows of the sizes of an all-to-all.
  virtual features sizes() const = 0;
  // Gives up this rank's own memory, and uses `memory`, which all ranks share, from now on. Enlarges it if need be;
  // later ranks may do so too.
  virtual void share(std::vector<std::byte>& memory) = 0;
};

void keep_largest(std::vector<std::byte>& memory, std::vector<std::byte>& own) {
  if (own.size() > memory.size()) memory.resize(own.size());
  own = {};
}

class all_to_all final : public content {
 public:
  all_to_all(const std::string& distribution, std::int64_t size, int rank, int ranks)
      : name_(distribution), w_(distribution, size, rank, ranks), ranks_(ranks) {}
  std::string name() const override { return name_; }
  void fill() override { w_.fill(); }
  std::string wrong() const override { return w_.wrong(); }
  features sizes() const override {
    if (w_.uniform()) return features::uniform(ranks_, w_.send_counts[0]);
    features mine;
    mine.ranks = static_cast<std::int64_t>(w_.send_counts.size());
    for (const int bytes : w_.send_counts) {
      mine.total_bytes += bytes;
      mine.largest_block = std::max<std::int64_t>(mine.largest_block, bytes);
      mine.nonempty_blocks += bytes > 0;
    }
    mine.most_loaded =
        std::max(mine.total_bytes, std::accumulate(w_.recv_counts.begin(), w_.recv_counts.end(), std::int64_t{0}));
    return mine;
  }
  void share(std::vector<std::byte>& memory) override {
    shared_ = &memory;
    keep_largest(memory, w_.send);
    keep_largest(memory, w_.recv);
    if (!w_.uniform()) return;
    for (std::vector<int>* one : {&w_.send_counts, &w_.send_at, &w_.recv_counts, &w_.recv_at}) *one = {one->front()};
  }
  payload blocks() override {
    payload all;
    if (shared_ && w_.uniform()) return equal_blocks();
    all.send.base = memory(w_.send);
    all.send.counts = number_array(w_.send_counts.data());
    all.send.displacements = number_array(w_.send_at.data());
    all.recv.base = memory(w_.recv);
    all.recv.counts = number_array(w_.recv_counts.data());
    all.recv.displacements = number_array(w_.recv_at.data());
    if (w_.uniform()) all.uniform = static_cast<std::size_t>(w_.send_counts[0]);
    return all;
  }
  void native() override {
    std::byte *const send = memory(w_.send), *const recv = memory(w_.recv);
    const int block = w_.send_counts[0];
    if (w_.uniform()) PMPI_Alltoall(send, block, MPI_BYTE, recv, block, MPI_BYTE, MPI_COMM_WORLD);
    else
      PMPI_Alltoallv(send, w_.send_counts.data(), w_.send_at.data(), MPI_BYTE, recv, w_.recv_counts.data(),
                     w_.recv_at.data(), MPI_BYTE, MPI_COMM_WORLD);
  }

 private:
  // One number stands for all counts: thousands of ranks would each have thousands.
  payload equal_blocks() {
    payload all;
    const std::int64_t bytes = w_.send_counts[0];
    for (user_buffer* one : {&all.send, &all.recv}) {
      one->base = shared_->data();
      one->counts = number_array::linear(bytes, 0);
      one->displacements = number_array::linear(0, bytes);
    }
    all.uniform = static_cast<std::size_t>(bytes);
    return all;
  }
  std::byte* memory(std::vector<std::byte>& own) { return shared_ ? shared_->data() : own.data(); }

  std::string name_;
  workload w_;
  std::int64_t ranks_;
  std::vector<std::byte>* shared_ = nullptr;
};

class between_groups final : public content {
 public:
  between_groups(int senders, std::int64_t size, int rank, int ranks)
      : name_(group_sizes(senders, ranks)), w_(senders, size, rank) {}
  std::string name() const override { return name_; }
  void fill() override { w_.fill(); }
  std::string wrong() const override { return w_.wrong(); }
  features sizes() const override { throw std::invalid_argument("auto can choose only for all-to-alls"); }
  void native() override {
    throw std::invalid_argument("SMPI has no inter-communicators; root_gathering is what MPIs do");
  }
  void share(std::vector<std::byte>& memory) override {
    shared_ = &memory;
    keep_largest(memory, w_.memory);
  }
  payload blocks() override {
    payload all;
    all.uniform = static_cast<std::size_t>(w_.size());
    user_buffer& own = w_.sends() ? all.send : all.recv;
    own.base = shared_ ? shared_->data() : w_.memory.data();
    own.counts = number_array::linear(w_.size(), 0);
    own.displacements = number_array::linear(0, w_.size());
    return all;
  }

 private:
  std::string name_;
  group_workload w_;
  std::vector<std::byte>* shared_ = nullptr;
};

class among_neighbors final : public content {
 public:
  among_neighbors(const std::string& distribution, const neighbor_graph& graph, std::int64_t size, int rank)
      : name_(distribution), size_(size), b_(graph, size, rank) {}
  std::string name() const override { return name_; }
  payload blocks() override {
    payload all;
    all.send.base = b_.send();
    all.recv.base = b_.recv();
    for (user_buffer* one : {&all.send, &all.recv}) {
      one->counts = number_array::linear(size_, 0);
      one->displacements = number_array::linear(0, size_);
    }
    return all;
  }
  // SMPI has no exchanges among neighbours.
  void native() override {
    std::vector<MPI_Request> all = b_.begin_messages(MPI_COMM_WORLD);
    PMPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE);
  }
  void fill() override { b_.fill(); }
  std::string wrong() const override { return b_.wrong(); }
  features sizes() const override { throw std::invalid_argument("auto can choose only for all-to-alls"); }
  void share(std::vector<std::byte>&) override {}  // these blocks need little memory

 private:
  std::string name_;
  std::int64_t size_;
  neighbor_blocks b_;
};

class driver {
 public:
  explicit driver(options what) : what_(std::move(what)), over_(MPI_COMM_WORLD) {
    at_.ranks = over_.ranks();
    if (!what_.layout.empty()) at_ = placed(layout_tree::parse(what_.layout));
    at_.senders = what_.senders;
    if (!what_.profile.empty()) profile_ = read_profile(what_.profile);
  }

  void run() {
    for (const std::string& distribution : what_.distributions)
      for (const std::string& size : what_.sizes) {
        const auto moved = make(distribution, std::stoll(size));
        if (!what_.verify) moved->share(common_memory());
        for (const std::string& variant : what_.variants) measure(variant, std::stoll(size), *moved);
      }
  }

 private:
  // What the next two functions return is the same object for all ranks.
  static std::vector<std::byte>& common_memory() {
    static std::vector<std::byte> memory;
    return memory;
  }

  static std::shared_ptr<const neighbor_graph> common_graph(const std::string& name, int ranks) {
    static std::map<std::string, std::shared_ptr<const neighbor_graph>> made;
    auto& graph = made[name];
    if (!graph) graph = std::make_shared<const neighbor_graph>(graph_named(name, ranks));
    return graph;
  }

  std::unique_ptr<content> make(const std::string& distribution, std::int64_t size) {
    if (partners_in(distribution)) {
      at_.neighbors = common_graph(distribution, at_.ranks);
      return std::make_unique<among_neighbors>(distribution, *at_.neighbors, size, over_.rank());
    }
    if (at_.senders > 0) return std::make_unique<between_groups>(at_.senders, size, over_.rank(), over_.ranks());
    return std::make_unique<all_to_all>(distribution, size, over_.rank(), over_.ranks());
  }

  void measure(const std::string& variant, std::int64_t size, content& moved) {
    if (variant == "ask")
      return print(variant, variant, size, moved.name(), seconds([&] { agree_on({}, agreement_); }));
    const std::string spec = variant == "auto" ? chosen(moved) : variant;
    const auto steps = spec != "native" ? schedule_of(spec) : nullptr;
    if (what_.verify) moved.fill();
    const double took = seconds([&] { steps ? run(*steps, moved.blocks()) : moved.native(); });
    names_.reset();
    if (const std::string wrong = what_.verify ? moved.wrong() : ""; !wrong.empty())
      throw std::runtime_error(variant + ": " + wrong);
    print(variant, spec, size, moved.name(), took);
  }

  // The algorithm with which a job with this profile begins.
  std::string chosen(const content& moved) {
    const bool uniform = moved.name() == "uniform";
    const measured_exchanges known = profile_->kinds.at(uniform)->measured("by the profile", at_.ranks);
    return to_string(choose(known, agree_on(moved.sizes(), agreement_).mix()).algorithm);
  }

  // The ranks share the last schedule made, as long as one of them runs it.
  std::shared_ptr<const linked_schedule> schedule_of(const std::string& variant) {
    static std::string made_for;
    static std::weak_ptr<const linked_schedule> of_rank_0;
    const collective what = at_.senders > 0 ? collective::allgather
                            : at_.neighbors ? collective::neighbor_alltoall
                                            : collective::alltoall;
    const selection chosen = parse_selection(variant, what);
    if (!what_.verify) names_ = relabelling_of(chosen, at_, over_.rank());
    if (!names_) return std::make_shared<linked_schedule>(generate(chosen, at_, over_.rank()));
    auto found = made_for == variant ? of_rank_0.lock() : nullptr;
    if (!found) found = std::make_shared<linked_schedule>(generate(chosen, at_, 0));
    made_for = variant;
    of_rank_0 = found;
    return found;
  }

  // No rank begins before all ranks are here, because they may share their memory.
  template <typename Exchange>
  double seconds(Exchange exchange) {
    constexpr double time_to_get_ready = 1;  // simulated, so it costs nothing
    const double start = latest(PMPI_Wtime()) + time_to_get_ready;
    sleep_until(start);
    exchange();
    return latest(PMPI_Wtime()) - start;
  }

  void run(const linked_schedule& steps, const payload& blocks) {
    if (!names_) return run(moves_, steps, blocks);
    renamed_transport names(over_, *names_);
    exchange moves(pool_, names);
    renamed_blocks own(blocks, *names_, over_.ranks());
    run(moves, steps, own.blocks());
  }
  static void run(exchange& moves, const linked_schedule& steps, const payload& blocks) {
    moves.start(steps, blocks);
    for (bool any = true; !moves.done();) moves.progress(any);
  }

  void print(const std::string& variant, const std::string& ran, std::int64_t size, const std::string& distribution,
             double took) const {
    if (over_.rank() != 0) return;
    std::ostringstream line;
    line << "{\"ranks\": " << over_.ranks() << ", \"distribution\": \"" << distribution << "\", \"size\": " << size
         << ", \"variant\": \"" << variant << "\", \"ran\": \"" << ran
         << "\", \"modelled\": true, \"verified\": " << (what_.verify ? "true" : "false") << ", \"seconds\": [" << took
         << "]}";
    std::cout << line.str() << std::endl;
  }

  options what_;
  mpi_transport over_;
  waiting wait_;
  agreement agreement_{over_, wait_};
  std::optional<profile> profile_;
  memory_pool pool_;
  exchange moves_{pool_, over_};
  problem at_;
  std::optional<relabelling> names_;  // in the program that all ranks run; none if each rank has its own
};

}  // namespace

}  // namespace shoal::bench

// Shoal polls for messages by this function. Polling again and again would move the simulated clock by an amount that
// means nothing, so a rank waits for a message if none has ended. It looks first, because SMPI's MPI_Waitany takes time
// in proportion to the number of messages, and in a linear exchange a look finds many that have ended.
extern "C" int __real_PMPI_Testsome(int active, MPI_Request* requests, int* count, int* indices, MPI_Status* statuses);
extern "C" int __wrap_PMPI_Testsome(int active, MPI_Request* requests, int* count, int* indices, MPI_Status* statuses) {
  const int code = __real_PMPI_Testsome(active, requests, count, indices, statuses);
  if (code != MPI_SUCCESS || *count != 0) return code;
  *count = 1;
  return PMPI_Waitany(active, requests, indices, statuses);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    shoal::bench::driver(shoal::bench::parse(argc, argv)).run();
  } catch (const std::exception& error) {
    std::cerr << "shoal_simulated: " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}
