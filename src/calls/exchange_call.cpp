#include "calls/exchange_call.hpp"

#include "calls/arguments.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

std::int64_t exchange_call::bytes_to(int block) const {
  const std::int64_t count = sent_counts()[block];
  return count ? count * bytes_of(sent_type()[block]) : 0;
}

std::int64_t exchange_call::bytes_to_all(int blocks) const {
  const number_array& counts = sent_counts();
  std::int64_t sum = 0;
  for (int i = 0; i < blocks; ++i) sum += sent_type().differ() ? bytes_to(i) : counts[i];
  return sent_type().differ() ? sum : sum * bytes_of(sent_type()[0]);
}

// One block may be empty, as it may be this rank's own.
bool exchange_call::receives_from_all(int ranks) const {
  if (!is_complete()) return false;
  if (uniform) return recv_counts[0] > 0;
  int empty = 0;
  for (int i = 0; i < ranks; ++i) empty += recv_counts[i] == 0;
  return empty <= 1;
}

bool exchange_call::is_awaited() const {
  int rank = 0;
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const block_peers peers = kind->peers(comm);
  const auto some = [&](int blocks, const std::vector<int>& ranks, const number_array& counts) {
    for (int i = 0; i < blocks; ++i) {
      const int peer = ranks.empty() ? i : ranks[i];
      if (peer != rank && peer != MPI_PROC_NULL && (counts.is_missing() || counts[i] != 0)) return true;
    }
    return false;
  };
  return some(peers.received, peers.sources, recv_counts) || some(peers.sent, peers.destinations, sent_counts());
}

bool exchange_call::is_valid() const {
  const block_peers peers = kind->peers(comm);
  std::vector<element_type> received, sent;
  payload what;
  describe_received(*this, peers.received, received, what);
  if (!in_place()) describe_sent(*this, peers.sent, sent, what);
  return are_valid(*this, what, peers, MPI_COMM_SELF);
}

void describe_received(const exchange_call& call, int blocks, std::vector<element_type>& storage, payload& what) {
  what.recv.base = static_cast<std::byte*>(call.recv);
  what.recv.counts = call.recv_counts;
  what.recv.displacements = call.recv_displacements;
  describe(call.recv_type, blocks, storage, what.recv, device_runtimes::loaded());
}

void describe_sent(const exchange_call& call, int blocks, std::vector<element_type>& storage, payload& what) {
  what.send.base = static_cast<std::byte*>(const_cast<void*>(call.send));
  what.send.counts = call.send_counts;
  what.send.displacements = call.send_displacements;
  describe(call.send_type, blocks, storage, what.send, device_runtimes::loaded());
}

bool are_valid(const exchange_call& call, const payload& what, const block_peers& peers, MPI_Comm own) {
  const exchange_kind& of = *call.kind;
  const auto holds = [&](const user_buffer& side, const type_list& types, int blocks, const std::vector<int>& ranks) {
    return !of.is_looked_at(call, side) || is_valid(side, types, blocks, own, ranks);
  };
  if (call.lacks_request || !holds(what.recv, call.recv_type, peers.received, peers.sources)) return false;
  return call.in_place() ||
         (holds(what.send, call.send_type, peers.sent, peers.destinations) && of.do_sides_match(call, what));
}

}  // namespace shoal
