#include "api/agree_on_facts.hpp"

#include <bit>
#include <limits>
#include <map>

#include "api/pending_agreement.hpp"
#include "execute/mpi_error.hpp"

namespace shoal {

std::vector<int> nodes_of_ranks(MPI_Comm comm, const job_facts& here, waiting& how) {
  int ranks = 1, rank = 0;
  require(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  std::vector<std::int64_t> names(static_cast<std::size_t>(ranks), std::numeric_limits<std::int64_t>::min());
  names[rank] = static_cast<std::int64_t>((here.node ^ std::rotl(here.domain, 17)) >> 1);
  pending_agreement said(comm, std::move(names));
  std::map<std::int64_t, int> numbers;
  std::vector<int> node_of_rank;
  for (const std::int64_t name : said.wait(how))
    node_of_rank.push_back(numbers.try_emplace(name, static_cast<int>(numbers.size())).first->second);
  return node_of_rank;
}

communicator::facts agree_on_facts(MPI_Comm comm, const settings& set, waiting& how) {
  const job_facts here = find_job_facts(set.nodes_share);
  pending_agreement said(comm, {-here.cores, here.devices});
  const auto all = said.wait(how);
  return {nodes_of_ranks(comm, here, how), -static_cast<int>(all[0]), all[1] > 0};
}

}  // namespace shoal
