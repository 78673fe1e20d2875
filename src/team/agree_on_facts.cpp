#include "team/agree_on_facts.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "team/devices.hpp"
#include "team/pending_agreement.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

std::vector<int> numbered(std::span<const std::int64_t> names) {
  std::map<std::int64_t, int> numbers;
  std::vector<int> all;
  for (const std::int64_t name : names)
    all.push_back(numbers.try_emplace(name, static_cast<int>(numbers.size())).first->second);
  return all;
}

constexpr std::int64_t unsaid = std::numeric_limits<std::int64_t>::min();

// What this rank tells the others of its place: its node and, with `all_levels`, the socket and the cache that its CPUs
// share. The array has room for every rank, and each rank fills in its own numbers: so the largest of all arrays holds
// what every rank told. Socket and cache take two files of Linux for each CPU, so nobody reads them in vain.
std::vector<std::int64_t> place_of_rank(const job_facts& here, bool all_levels, int rank, int ranks) {
  std::vector mine{here.node ^ std::rotl(here.domain, 17)};
  for (const node_level level : {node_level::socket, node_level::cache})
    if (all_levels) mine.push_back(hash_of(domain_of(here.cpus, level)));
  const std::size_t all = ranks, levels = mine.size();
  std::vector<std::int64_t> names(all * levels, unsaid);
  for (std::size_t l = 0; l < levels; ++l) names[l * all + rank] = static_cast<std::int64_t>(mine[l] >> 1);
  return names;
}

// What the largest of these arrays tells: which ranks share a node, a socket and a cache.
std::vector<layout_tree::shared_ids> places_of_ranks(std::span<const std::int64_t> of_all, int ranks) {
  const std::size_t all = ranks, levels = of_all.size() / all;
  std::vector<layout_tree::shared_ids> shared;
  for (std::size_t l = 0; l < levels; ++l)
    shared.push_back({std::array{"node", "socket", "cache"}[l], numbered(of_all.subspan(l * all, all))});
  return shared;
}

// The host names of all ranks, by rank. Collective.
std::vector<std::string> hosts_of_ranks(MPI_Comm comm, int ranks, int rank, waiting& waits) {
  std::array<std::int64_t, (HOST_NAME_MAX + sizeof(std::int64_t)) / sizeof(std::int64_t)> mine{};
  gethostname(reinterpret_cast<char*>(mine.data()), HOST_NAME_MAX);
  std::vector<std::int64_t> names(mine.size() * static_cast<std::size_t>(ranks), unsaid);
  std::copy(mine.begin(), mine.end(), names.begin() + static_cast<std::ptrdiff_t>(mine.size()) * rank);
  pending_agreement said(comm, std::move(names));
  const std::span<const std::int64_t> all = said.wait(waits);
  std::vector<std::string> hosts;
  for (std::size_t at = 0; at < all.size(); at += mine.size())
    hosts.emplace_back(reinterpret_cast<const char*>(all.data() + at));
  return hosts;
}

// The topology, with these ranks placed on its machines. Throws std::invalid_argument if it lacks one of the hosts.
std::shared_ptr<const switch_network> placed_on(switch_network network, const std::vector<std::string>& hosts) {
  try {
    network.place_ranks(hosts);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("SHOAL_TOPOLOGY: ") + error.what());
  }
  return std::make_shared<const switch_network>(std::move(network));
}

// The layout of the settings, if it is for this number of ranks, or else the layout that was found: the smaller
// communicators of a program have layouts of their own.
layout_tree layout_of(const settings& set, std::vector<layout_tree::shared_ids> found, const switch_network* switches) {
  if (set.layout && set.layout->ranks() == static_cast<int>(found[0].ids.size())) return *set.layout;
  if (set.finds_levels && switches) found.insert(found.begin(), {"group", switches->switch_of_ranks()});
  return layout_tree::found(std::move(found));
}

}  // namespace

std::vector<layout_tree::shared_ids> places_of_ranks(MPI_Comm comm, const job_facts& here, bool all_levels,
                                                     waiting& waits) {
  int ranks = 1, rank = 0;
  require(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  pending_agreement said(comm, place_of_rank(here, all_levels, rank, ranks));
  return places_of_ranks(said.wait(waits), ranks);
}

problem place_ranks(MPI_Comm comm, const settings& set, std::vector<layout_tree::shared_ids> share, waiting& waits) {
  int rank = 0;
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const int ranks = static_cast<int>(share[0].ids.size());
  const auto switches = set.topology ? placed_on(*set.topology, hosts_of_ranks(comm, ranks, rank, waits)) : nullptr;
  problem where = placed(layout_of(set, std::move(share), switches.get()));
  where.switches = switches;
  return where;
}

common_facts agree_on_facts(MPI_Comm comm, const settings& set, waiting& waits) {
  const job_facts here = find_job_facts(set.nodes_share);
  pending_agreement said(comm, {-here.cores, device_runtime_loaded()});
  const auto all = said.wait(waits);
  return {place_ranks(comm, set, places_of_ranks(comm, here, set.finds_levels, waits), waits),
          -static_cast<int>(all[0]), all[1] > 0};
}

}  // namespace shoal
