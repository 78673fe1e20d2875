#include "learn/neighborhood.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "learn/communicator.hpp"
#include "team/errors.hpp"
#include "team/mpi_neighbors.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

// Whether nonblocking exchanges of the MPI's own may match several edges between two ranks in another way than blocking
// ones.
#ifdef OPEN_MPI
constexpr bool matches_differently = true;
#else
constexpr bool matches_differently = false;
#endif

// Sends a number along each edge by the MPI's own function of this form.
int native(call_form form, const std::vector<int>& sent, std::vector<int>& received, MPI_Comm users) {
  const std::size_t most = std::max(sent.size(), received.size());
  if (form == call_form::equal)
    return PMPI_Neighbor_alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, users);
  const std::vector<int> ones(most, 1);
  std::vector<int> places(most);
  std::iota(places.begin(), places.end(), 0);
  if (form == call_form::any_sizes)
    return PMPI_Neighbor_alltoallv(sent.data(), ones.data(), places.data(), MPI_INT, received.data(), ones.data(),
                                   places.data(), MPI_INT, users);
  std::vector<MPI_Aint> offsets;
  for (const int place : places) offsets.push_back(place * static_cast<MPI_Aint>(sizeof(int)));
  const std::vector<MPI_Datatype> types(most, MPI_INT);
  return PMPI_Neighbor_alltoallw(sent.data(), ones.data(), offsets.data(), types.data(), received.data(), ones.data(),
                                 offsets.data(), types.data(), users);
}

// For each block that this rank receives: which of its sender's blocks it is, as the MPI's own exchange matches them.
// MPIs match differently if two ranks have several edges; MPICH up to 4.0 even differs between its own functions.
// Collective.
std::vector<int> matched_edges(MPI_Comm users, call_form form, const block_peers& mine) {
  std::vector<int> sent(mine.destinations.size() + 1), received(mine.sources.size() + 1, -1);  // never a null address
  std::iota(sent.begin(), sent.end(), 0);
  require_of_mpi("the MPI's own exchange among neighbours", [&] { return native(form, sent, received, users); });
  received.pop_back();
  return received;
}

int nobody_or(int rank) { return rank == MPI_PROC_NULL ? -1 : rank; }

// What a rank says about its neighbours: how many it sends to, and how many it receives from; the ranks of both; and
// matched_edges(). All ranks say as many numbers as the rank with the most neighbours; those that a rank does not need
// are zero.
class spoken_neighbors {
 public:
  explicit spoken_neighbors(std::size_t most) : most_(most) {}

  std::size_t numbers() const { return 2 + 3 * most_; }
  std::vector<int> said(const block_peers& mine, const std::vector<int>& edges) const {
    std::vector<int> all(numbers());
    all[0] = static_cast<int>(mine.destinations.size());
    all[1] = static_cast<int>(mine.sources.size());
    std::copy(mine.destinations.begin(), mine.destinations.end(), all.begin() + 2);
    std::copy(mine.sources.begin(), mine.sources.end(), all.begin() + 2 + static_cast<std::ptrdiff_t>(most_));
    std::copy(edges.begin(), edges.end(), all.begin() + 2 + 2 * static_cast<std::ptrdiff_t>(most_));
    return all;
  }
  neighbor_graph::neighbors heard(std::span<const int> all) const {
    neighbor_graph::neighbors of;
    for (const int rank : all.subspan(2, all[0])) of.destinations.push_back(nobody_or(rank));
    for (int i = 0; i < all[1]; ++i) {
      const int source = nobody_or(all[2 + most_ + i]);
      of.arrivals.push_back(source < 0 ? neighbor_graph::arrival()
                                       : neighbor_graph::arrival{source, all[2 + 2 * most_ + i]});
    }
    return of;
  }

 private:
  std::size_t most_;
};

// The most neighbours that any rank has on either side. Throws if telling all ranks about the neighbours of all would
// take too much memory: it would also take longer than exchanges could gain.
std::size_t most_neighbors(team& over, const block_peers& mine) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  const auto own = static_cast<std::int64_t>(std::max(mine.sources.size(), mine.destinations.size()));
  const auto most = static_cast<std::size_t>(over.largest({&own, 1})[0]);
  const std::size_t bytes = spoken_neighbors(most).numbers() * sizeof(int) * static_cast<std::size_t>(over.ranks());
  if (bytes > most_bytes)
    throw std::invalid_argument(
        "a rank has " + std::to_string(most) + " neighbours; a list of the neighbours of all ranks would take " +
        std::to_string(bytes >> 20) + " MiB, and the limit is " + std::to_string(most_bytes >> 20) + " MiB");
  return most;
}

neighbor_graph graph_of_all(team& over, MPI_Comm users, call_form form, const block_peers& mine) {
  const spoken_neighbors spoken(most_neighbors(over, mine));
  const std::vector<int> said = spoken.said(mine, matched_edges(users, form, mine));
  const std::vector<std::byte> bytes = over.gather(std::as_bytes(std::span(said)));
  std::vector<int> all(bytes.size() / sizeof(int));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  std::vector<neighbor_graph::neighbors> of_ranks;
  for (std::size_t at = 0; at < all.size(); at += spoken.numbers())
    of_ranks.push_back(spoken.heard(std::span(all).subspan(at, spoken.numbers())));
  return neighbor_graph(std::move(of_ranks));
}

}  // namespace

neighborhood::edges neighborhood::edges_of(team& over, MPI_Comm users, call_form form) {
  edges found{neighbors_of(users), nullptr};
  found.of_all = std::make_shared<const neighbor_graph>(graph_of_all(over, users, form, found.of_rank));
  return found;
}

neighborhood::neighborhood(communicator& over, collective what, edges between, const settings& set)
    : over_(over),
      peers_(std::move(between.of_rank)),
      graph_(std::move(between.of_all)),
      is_matched_alike_(!matches_differently || !graph_ || !graph_->has_parallel_edges()),
      algorithms_(over.all(), graph_),
      named_(what, set, over.all(), [this](const selection& chosen) -> auto& { return algorithms_.get(chosen); }),
      limit_(over.all(), algorithms_, set.max_temp) {}

std::shared_ptr<neighborhood> neighborhood::shared() { return {over_.shared_from_this(), this}; }

neighborhood::neighborhood(communicator& over, const settings& set)
    : neighborhood(over, collective::alltoall, {{over.ranks(), over.ranks(), {}, {}}, nullptr}, set) {}

neighborhood::neighborhood(communicator& over, MPI_Comm users, call_form form, const settings& set)
    : neighborhood(over, collective::neighbor_alltoall, edges_of(over.all(), users, form), set) {}

}  // namespace shoal
