#include "among_neighbors.hpp"

#include <shoal/shoal.h>

#include <algorithm>

#include "calls/exchange_service.hpp"
#include "calls/forms.hpp"
#include "calls/serve.hpp"
#include "state.hpp"

namespace shoal::bench {

among_neighbors::among_neighbors(const neighbor_graph& graph, std::int64_t size, int rank, hand_loop& hand)
    : b_(graph, size, rank),
      counts_(std::max(graph.destinations(rank).size(), graph.arrivals(rank).size()), static_cast<int>(size)),
      hand_(hand) {
  for (std::size_t i = 0; i < counts_.size(); ++i) at_.push_back(static_cast<int>(i) * static_cast<int>(size));
}

void among_neighbors::require_has(const std::string& variant) {
  if (variant != "auto" && variant != "native" && variant != "hand")
    parse_selection(variant, collective::neighbor_alltoall);
}

// MPI_Info cannot name an algorithm among neighbours, and an environment variable would name one for all communicators.
void among_neighbors::make_ready(const std::string& variant, MPI_Comm comm) {
  if (variant == "auto" || variant == "native" || variant == "hand") return;
  settings set;
  set.set("neighbor_alltoallv", variant);
  named_.try_emplace(variant, state_on(comm), comm, call_form::any_sizes, set);
}

void among_neighbors::run(const std::string& variant, MPI_Comm comm) {
  if (variant == "native") native(comm);
  else if (variant == "hand") {
    std::vector<MPI_Request> messages = b_.begin_messages(comm);
    hand_.end(messages);
  } else if (const auto named = named_.find(variant); named != named_.end()) by(named->second, comm);
  else
    shoal_neighbor_alltoallv(b_.send(), counts_.data(), at_.data(), MPI_BYTE, b_.recv(), counts_.data(), at_.data(),
                             MPI_BYTE, comm);
}

int among_neighbors::native(MPI_Comm comm) {
  return PMPI_Neighbor_alltoallv(b_.send(), counts_.data(), at_.data(), MPI_BYTE, b_.recv(), counts_.data(), at_.data(),
                                 MPI_BYTE, comm);
}

// Does what shoal_neighbor_alltoallv() does if an environment variable names the algorithm.
void among_neighbors::by(neighborhood& named, MPI_Comm comm) {
  const exchange_call call = forms::neighbor_alltoallv.describe(b_.send(), counts_.data(), at_.data(), MPI_BYTE,
                                                                b_.recv(), counts_.data(), at_.data(), MPI_BYTE, comm);
  exchange_service service(named, call, named.over().blocks());
  serve(service, call, interface::shoal, MPI_INFO_NULL, [&] { return native(comm); });
}

const phase_clock* among_neighbors::phases(MPI_Comm comm) const {
  process& job = process::get();
  if (communicator* const named = job.present_state_of(comm)) return phases_of(named);
  learner* const of = job.neighbor_learner_of(comm);
  return of ? phases_of(of->state()) : nullptr;
}

MPI_Comm make_graph_communicator(const neighbor_graph& graph, int rank) {
  std::vector<int> sources;
  for (const auto& [source, edge] : graph.arrivals(rank)) sources.push_back(source);
  const auto destinations = graph.destinations(rank);
  MPI_Comm comm;
  PMPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED,
                                  static_cast<int>(destinations.size()), destinations.data(), MPI_UNWEIGHTED,
                                  MPI_INFO_NULL, 0, &comm);
  return comm;
}

}  // namespace shoal::bench
