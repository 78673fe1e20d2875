// Random exchanges over MPI: any communicator, sizes, types, displacements and algorithm, asked for in any way.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <sstream>

#include "algorithms/algorithm.hpp"
#include "oracle.hpp"
#include "together.hpp"

namespace shoal {
namespace {

using matrix = std::vector<std::vector<std::int64_t>>;

template <typename Element>
const Element& one_of(const std::vector<Element>& all, std::mt19937& random) {
  return all[random() % all.size()];
}

std::string random_value(const parameter& p, int ranks, std::mt19937& random) {
  if (p.lowest > p.highest || (!p.words.empty() && random() % 3 == 0)) return one_of(p.words, random);
  const auto number = [&] { return std::to_string(p.lowest + static_cast<int>(random() % (2 * ranks))); };
  std::string text = number();
  if (p.list)
    for (int i = 0; i < 4; ++i) text += "x" + number();
  return text;
}

// A random algorithm of the table, with random parameters, that can serve this number of ranks.
std::string random_spec(int ranks, bool uniform, std::mt19937& random) {
  problem at;
  at.ranks = ranks;
  for (;;) {
    const algorithm& a = one_of(algorithms(), random);
    if (a.what != collective::alltoall || (a.uniform_only && !uniform)) continue;
    std::string spec = a.name;
    char separator = ':';
    for (const parameter& p : a.parameters) {
      if (random() % 2) continue;
      spec += separator + p.name + "=" + random_value(p, ranks, random);
      separator = ',';
    }
    if (!a.refuses || !a.refuses(at, parse_selection(spec).with)) return spec;
  }
}

std::int64_t random_size(std::int64_t largest, std::mt19937& random) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(largest + 1)) * common_scalars;
}

matrix random_sizes(int ranks, bool uniform, bool symmetric, std::mt19937& random) {
  const std::int64_t largest = one_of<std::int64_t>({0, 1, 3, 30, 400}, random);
  matrix sizes = equal_blocks(ranks, largest * common_scalars);
  if (uniform) return sizes;
  const std::uint32_t empty_tenths = one_of<std::uint32_t>({0, 3, 9}, random);
  for (auto& row : sizes)
    for (auto& size : row) size = random() % 10 < empty_tenths ? 0 : random_size(largest, random);
  if (random() % 4 == 0) sizes[random() % ranks][random() % ranks] = 3000 * common_scalars;
  if (random() % 8 == 0) sizes[random() % ranks].assign(ranks, 0);
  for (int i = 0; symmetric && i < ranks; ++i)
    for (int j = 0; j < i; ++j) sizes[i][j] = sizes[j][i];
  return sizes;
}

bool all_empty(const matrix& sizes) {
  for (const auto& row : sizes)
    for (auto size : row)
      if (size > 0) return false;
  return true;
}

// `unusual`: the side may be one that some MPI library gets wrong, or with which it hangs.
side random_side(const job& j, bool unusual, std::mt19937& random) {
  side s;
  do s.how = &one_of(layouts(), random);
  while (s.how->unusual && !unusual);
  if (!j.uniform && random() % 2) s.shuffled = random() | 1;
  s.at_bottom = random() % 8 == 0;
  if (j.typed) s.each = random();
  if (unusual && !j.typed && all_empty(j.scalars) && random() % 2) s.empty_count = 1 + random() % 3;
  return s;
}

// The parts that must be equal on all ranks come from `random`, the others from `own`.
job random_job(MPI_Comm comm, std::mt19937& random, std::mt19937& own) {
  job j;
  const int ranks = ranks_of(comm);
  j.comm = comm;
  j.uniform = random() % 3 == 0;
  j.typed = !j.uniform && random() % 2;
  j.in_place = random() % 5 == 0;
  j.base = all_scalars[random() % std::size(all_scalars)];
  j.scalars = random_sizes(ranks, j.uniform, j.in_place, random);
  j.spec = random() % 5 == 0 ? "auto" : random_spec(ranks, j.uniform, random);
  if (random() % 3 == 0) j.with = asked::by_communicator;
  j.wide_counts = j.with == asked::by_communicator && random() % 2;
  const bool unusual = j.spec != "native" && j.spec != "auto" && random() % 2;
  j.send = random_side(j, unusual, own);
  j.recv = random_side(j, unusual, own);
  return j;
}

std::string described(const job& j, std::uint32_t seed, const std::string& comm) {
  std::ostringstream text;
  text << "--gtest_random_seed=" << seed << ": "
       << (j.uniform ? "alltoall"
           : j.typed ? "alltoallw"
                     : "alltoallv")
       << (j.wide_counts ? "_c" : "") << " " << j.spec << " on " << comm << ", scalar " << static_cast<int>(j.base)
       << ", sent as " << (j.in_place ? "in place" : j.send.how->name) << ", received as " << j.recv.how->name;
  return text.str();
}

// `specs`: if there are any, the exchange uses one of them instead of a random spec.
void perform_random(std::uint32_t seed, const std::vector<std::string>& specs = {}) {
  std::mt19937 random(seed), own(seed * 1000 + static_cast<std::uint32_t>(world_rank()));
  const named_comm& where = one_of(many_communicators(), random);
  if (where.comm == MPI_COMM_NULL) return;
  job j = random_job(where.comm, random, own);
  if (!specs.empty()) j.spec = one_of(specs, random);
  const std::string what = described(j, seed, where.name);
  SCOPED_TRACE(what);
  doing("rank " + std::to_string(world_rank()) + ", " + what);
  perform(j);
}

TEST(Exchange, DeliversEveryByteAndWritesNoOther) {
  const int asked_seed = testing::GTEST_FLAG(random_seed);
  if (asked_seed) return perform_random(static_cast<std::uint32_t>(asked_seed));
  for (std::uint32_t seed = 1; seed <= 600; ++seed) perform_random(seed);
}

TEST(Exchange, ThroughSharedMemoryDeliversEveryByteAndWritesNoOther) {
  const std::vector<std::string> specs{"shared", "hierarchical:local=shared", "hierarchical:local=shared,global=radix",
                                       "hierarchical:local=shared,pattern=staggered,block_count=2",
                                       "hierarchical:local=shared,global=pairwise,overlap=off"};
  for (std::uint32_t seed = 10001; seed <= 10200; ++seed) perform_random(seed, specs);
}

// In communicators with all ranks of the topology, with some of them, or with several on a machine.
TEST(Exchange, OnATreeOfSwitchesDeliversEveryByteAndWritesNoOther) {
  if (!std::getenv("SHOAL_TOPOLOGY")) GTEST_SKIP() << "no topology";
  const std::vector<std::string> specs{"tree", "tree:window=2,last=100", "tree:order=phases,parts=3", "tree:sync=none"};
  for (std::uint32_t seed = 20001; seed <= 20080; ++seed) perform_random(seed, specs);
}

}  // namespace
}  // namespace shoal
