// Measures allgathers between two groups: the first ranks send, the others receive.
//
//   mpiexec -n 8 shoal_group_bench --senders 4 --sizes 32768,1048576 --variants 'native;auto;full;root_gathering'
//
// Every repetition starts at a time agreed beforehand; its time is the last end minus the first start. Variants are
// interleaved in random order, each is warmed up (`auto` until it has measured), and every repetition is verified
// outside the timed part. Variants are specs of Shoal's algorithms, `auto`, and `native`, the MPI's own collective. One
// line a size and variant: bytes of a message, median and fastest time, times the first variant's median, spec used.
#include <shoal/shoal.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "../clock.hpp"
#include "../options.hpp"

namespace shoal::bench {

namespace {

struct options {
  int senders = 1;
  std::vector<std::string> sizes{"32768", "1048576"}, variants{"native", "auto"};
  int repetitions = 7;
};

options parse(int argc, char** argv) {
  options all;
  read_options(argc, argv,
               {
                   {"--senders", [&](const std::string& value) { all.senders = std::stoi(value); }},
                   {"--sizes", [&](const std::string& value) { all.sizes = split(value, ','); }},
                   {"--variants", [&](const std::string& value) { all.variants = split(value, ';'); }},
                   {"--repetitions", [&](const std::string& value) { all.repetitions = std::stoi(value); }},
               });
  return all;
}

void require(int code, const std::string& what) {
  if (code != MPI_SUCCESS) throw std::runtime_error(what + " failed");
}

class driver {
 public:
  explicit driver(options what) : what_(std::move(what)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    if (what_.senders < 1 || what_.senders >= ranks_)
      throw std::invalid_argument("--senders " + std::to_string(what_.senders) + ": of " + std::to_string(ranks_) +
                                  " ranks at least one must send and one receive");
    MPI_Comm_split(MPI_COMM_WORLD, sends(), rank_, &group_);
    MPI_Intercomm_create(group_, 0, MPI_COMM_WORLD, sends() ? what_.senders : 0, 0, &both_);
  }
  ~driver() {
    MPI_Comm_free(&both_);
    MPI_Comm_free(&group_);
  }
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;

  void run() {
    if (rank_ == 0) std::printf("# %d senders, %d receivers\n", what_.senders, ranks_ - what_.senders);
    for (const std::string& size : what_.sizes) run_size(std::stoi(size));
  }

 private:
  bool sends() const { return rank_ < what_.senders; }

  void run_size(int bytes) {
    send_.assign(sends() ? bytes : 0, static_cast<char>(rank_ + 1));
    recv_.assign(sends() ? 0 : static_cast<std::size_t>(bytes) * what_.senders, 0);
    std::vector<std::vector<double>> seconds(what_.variants.size());
    std::vector<std::string> used(what_.variants.size());
    for (std::size_t v = 0; v < what_.variants.size(); ++v) {
      for (int i = 0; i < (what_.variants[v] == "auto" ? 4 : 1); ++i) repeat(v, bytes);
      used[v] = explained();
    }
    std::vector<std::size_t> order;
    for (int i = 0; i < what_.repetitions; ++i)
      for (std::size_t v = 0; v < what_.variants.size(); ++v) order.push_back(v);
    std::shuffle(order.begin(), order.end(), random_);
    for (std::size_t v : order) seconds[v].push_back(repeat(v, bytes));
    for (std::size_t v = 0; v < what_.variants.size() && rank_ == 0; ++v) print(bytes, v, seconds, used[v]);
  }

  double repeat(std::size_t variant, int bytes) {
    const std::string& spec = what_.variants[variant];
    if (spec != "native") ask(spec);
    std::fill(recv_.begin(), recv_.end(), 0);
    double start = clock_.now() + 0.01;
    MPI_Allreduce(MPI_IN_PLACE, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    clock_.wait_until(start, true);
    double begin = -clock_.now();
    const int sent = static_cast<int>(send_.size()), received = sends() ? 0 : bytes;
    const auto gather = spec == "native" ? PMPI_Allgather : shoal_allgather;
    require(gather(send_.data(), sent, MPI_BYTE, recv_.data(), received, MPI_BYTE, both_), spec);
    double end = clock_.now();
    MPI_Allreduce(MPI_IN_PLACE, &begin, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < recv_.size(); ++i)
      if (recv_[i] != static_cast<char>(i / bytes + 1)) throw std::runtime_error(spec + " delivered a wrong byte");
    return end + begin;
  }

  void ask(const std::string& spec) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "shoal_allgather", spec.c_str());
    require(shoal_comm_set_info(both_, info), spec);
    MPI_Info_free(&info);
  }

  std::string explained() const {
    char text[400] = "";
    shoal_comm_explain(both_, text, sizeof text);
    return text;
  }

  void print(int bytes, std::size_t v, std::vector<std::vector<double>> seconds, const std::string& used) const {
    for (auto& all : seconds) std::sort(all.begin(), all.end());
    const auto median = [&](std::size_t i) { return seconds[i][seconds[i].size() / 2]; };
    std::printf("%8d B  %-32s %10.3f ms  fastest %10.3f ms  %6.2fx  %s\n", bytes, what_.variants[v].c_str(),
                median(v) * 1e3, seconds[v][0] * 1e3, median(0) / median(v),
                what_.variants[v] == "auto" ? used.c_str() : "");
    std::fflush(stdout);
  }

  options what_;
  int rank_ = 0, ranks_ = 0;
  MPI_Comm group_ = MPI_COMM_NULL, both_ = MPI_COMM_NULL;
  common_clock clock_{MPI_COMM_WORLD};
  std::mt19937 random_{1};
  std::vector<char> send_, recv_;
};

}  // namespace

}  // namespace shoal::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    shoal::bench::driver(shoal::bench::parse(argc, argv)).run();
  } catch (const std::exception& error) {
    std::cerr << "shoal_group_bench: " << error.what() << "\n";
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
