#include "team/agree_on_facts.hpp"

#include <array>
#include <bit>
#include <limits>
#include <map>

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

// Where this rank is, in numbers of which all ranks hear the largest.
std::vector<std::int64_t> place_of_rank(const job_facts& here, bool all_levels, int rank, int ranks) {
  const std::size_t all = ranks, levels = all_levels ? 3 : 1;
  const std::array mine{here.node ^ std::rotl(here.domain, 17), here.socket, here.cache};
  std::vector<std::int64_t> names(all * levels, std::numeric_limits<std::int64_t>::min());
  for (std::size_t l = 0; l < levels; ++l) names[l * all + rank] = static_cast<std::int64_t>(mine[l] >> 1);
  return names;
}

// What those numbers tell.
std::vector<layout_tree::shared_ids> places_of_ranks(std::span<const std::int64_t> of_all, int ranks) {
  const std::size_t all = ranks, levels = of_all.size() / all;
  std::vector<layout_tree::shared_ids> shared;
  for (std::size_t l = 0; l < levels; ++l)
    shared.push_back({std::array{"node", "socket", "cache"}[l], numbered(of_all.subspan(l * all, all))});
  return shared;
}

}  // namespace

std::vector<layout_tree::shared_ids> places_of_ranks(MPI_Comm comm, const job_facts& here, bool all_levels,
                                                     waiting& how) {
  int ranks = 1, rank = 0;
  require(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  pending_agreement said(comm, place_of_rank(here, all_levels, rank, ranks));
  return places_of_ranks(said.wait(how), ranks);
}

common_facts agree_on_facts(MPI_Comm comm, const settings& set, waiting& how) {
  const job_facts here = find_job_facts(set.nodes_share);
  pending_agreement said(comm, {-here.cores, here.devices});
  const auto all = said.wait(how);
  return {places_of_ranks(comm, here, set.finds_levels, how), -static_cast<int>(all[0]), all[1] > 0};
}

}  // namespace shoal
