#include "exchange.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace random_programs {

namespace {

MPI_Datatype pair_type() {
  MPI_Datatype made;
  MPI_Type_contiguous(2, MPI_INT, &made);
  MPI_Type_commit(&made);
  return made;
}

// Every other of four integers.
MPI_Datatype gapped_type() {
  MPI_Datatype strided, made;
  MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
  MPI_Type_create_resized(strided, 0, 4 * sizeof(int), &made);
  MPI_Type_free(&strided);
  MPI_Type_commit(&made);
  return made;
}

constexpr int widest = 4;  // integers that an element spans at most

// How many integers the blocks may span, and one more, so that there is an address even without blocks.
int length(const std::vector<int>& room, int extent) {
  return 1 + extent * (std::accumulate(room.begin(), room.end(), 0) + static_cast<int>(room.size()));
}

template <typename Integer>
std::vector<Integer> widened(const std::vector<int>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

MPI_Info info_for(const std::string& spec, bool between_groups) {
  if (spec.empty()) return MPI_INFO_NULL;
  MPI_Info made;
  MPI_Info_create(&made);
  const std::string key = between_groups ? "shoal_allgather" : "shoal_alltoall";
  MPI_Info_set(made, key.c_str(), spec.c_str());
  if (spec.rfind("bruck", 0) == 0) return made;
  MPI_Info_set(made, (key + "v").c_str(), spec.c_str());
  if (!between_groups) MPI_Info_set(made, (key + "w").c_str(), spec.c_str());
  return made;
}

exchange::layout exchange::layout_of(std::uint64_t number) {
  static const std::array<layout, 3> all{{{MPI_INT, 2, 2}, {pair_type(), 1, 2}, {gapped_type(), 1, 4}}};
  return all[number % all.size()];
}

// Blocks lie in any order and with gaps. The places are not used for equal blocks, which lie as MPI has them.
exchange::side exchange::side_of(const std::vector<int>& elements, const std::vector<int>& room,
                                 std::uint64_t number) const {
  side made{layout_of(number), {}, std::vector<int>(elements.size()), {}};
  std::vector<layout> each;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    each.push_back(plan_.typed ? layout_of(mixed(number, i)) : made.how);
    made.counts.push_back(elements[i] * each[i].count);
    made.types.push_back(each[i].type);
  }
  if (plan_.typed) made.how.extent = widest;
  std::vector<int> order(elements.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(number));
  int next = 0;
  for (const int block : order) {
    made.at[block] = next * (plan_.typed ? widest * static_cast<int>(sizeof(int)) : made.how.count);
    next += room[block] + static_cast<int>(mixed(number, block) % 2);
  }
  made.far = widened<MPI_Aint>(made.at);
  return made;
}

exchange::exchange(const exchange_plan& plan, const team& where, int rank) : plan_(plan), where_(where), rank_(rank) {
  if (plan.to_some) {
    sends_ = side_to_some(rank);
    send_.resize(length(plan.sizes_to_some(where, rank), sends_.how.extent));
    return;
  }
  std::vector<int> sent, right, expected, room;
  for (const int peer : plan.among_neighbors ? where.destinations(rank) : where.peers(rank))
    sent.push_back(plan.elements(where, rank, peer));
  for (const int peer : plan.among_neighbors ? where.sources(rank) : where.peers(rank)) {
    right.push_back(plan.elements(where, peer, rank));
    const bool is_wrong = plan.wrong && plan.wrong->rank == rank && (plan.uniform || plan.wrong->peer == peer);
    expected.push_back(right.back() + (is_wrong ? plan.wrong->more : 0));
    room.push_back(std::max(right.back(), expected.back()));
  }
  const bool is_alike = plan.in_place || plan.gathers;  // MPIs gather wrongly if ranks differ in their types
  const std::uint64_t out = mixed(plan.id, plan.gathers ? 0 : rank, 1), in = is_alike ? out : mixed(plan.id, rank, 2);
  sends_ = side_of(sent, sent, out);
  receives_ = side_of(expected, room, in);
  receives_right_ = side_of(right, room, in);
  send_.resize(length(sent, sends_.how.extent));
  recv_.resize(length(room, receives_.how.extent));
  info_ = info_for(plan.spec, where.between_groups());
}

exchange::~exchange() {
  if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  shoal_arrivals_free(&arrivals_);
}

void exchange::fill(int run) {
  run_ = run;
  for (std::size_t i = 0; i < send_.size(); ++i) send_[i] = number(rank_, 0, i);
  for (std::size_t i = 0; i < recv_.size(); ++i) recv_[i] = number(rank_, 1, i);
}

template <typename Alltoall, typename Alltoallv, typename Allgather, typename Allgatherv, typename... More>
int exchange::pass_to(Alltoall alltoall, Alltoallv alltoallv, Allgather allgather, Allgatherv allgatherv,
                      const side& receives, MPI_Comm comm, More... more) {
  const side &out = sends_, &in = receives;
  const MPI_Datatype sent_type = out.how.type, type = in.how.type;
  int* const to = recv_.data();
  if (plan_.gathers && plan_.uniform) return allgather(sent(), each(out), sent_type, to, each(in), type, comm, more...);
  if (plan_.gathers)
    return allgatherv(sent(), each(out), sent_type, to, in.counts.data(), in.at.data(), type, comm, more...);
  if (plan_.uniform) return alltoall(sent(), each(out), sent_type, to, each(in), type, comm, more...);
  return alltoallv(sent(), out.counts.data(), out.at.data(), sent_type, to, in.counts.data(), in.at.data(), type, comm,
                   more...);
}

template <typename Alltoallw, typename... More>
int exchange::pass_types_to(Alltoallw alltoallw, const side& receives, MPI_Comm comm, More... more) {
  return alltoallw(sent(), sends_.counts.data(), sends_.at.data(), sends_.types.data(), recv_.data(),
                   receives.counts.data(), receives.at.data(), receives.types.data(), comm, more...);
}

template <typename Alltoall, typename Alltoallv, typename Alltoallw, typename... More>
int exchange::pass_among_neighbors(Alltoall alltoall, Alltoallv alltoallv, Alltoallw alltoallw, const side& receives,
                                   MPI_Comm comm, More... more) {
  const side &out = sends_, &in = receives;
  const MPI_Datatype sent_type = out.how.type, type = in.how.type;
  int* const to = recv_.data();
  if (plan_.uniform) return alltoall(sent(), each(out), sent_type, to, each(in), type, comm, more...);
  if (plan_.typed)
    return alltoallw(sent(), out.counts.data(), out.far.data(), out.types.data(), to, in.counts.data(), in.far.data(),
                     in.types.data(), comm, more...);
  return alltoallv(sent(), out.counts.data(), out.at.data(), sent_type, to, in.counts.data(), in.at.data(), type, comm,
                   more...);
}

template <typename Exchange, typename... More>
int exchange::pass_to_some(Exchange exchange, MPI_Comm comm, More... more) {
  const std::vector<int> to = plan_.receivers(where_, rank_);
  return exchange(static_cast<int>(to.size()), to.data(), sent(), widened<MPI_Count>(sends_.counts).data(),
                  sends_.far.data(), sends_.how.type, comm, &arrivals_, more...);
}

int exchange::call(names used, MPI_Comm comm) {
  if (plan_.to_some) return pass_to_some(shoal_exchange, comm);
  if (plan_.among_neighbors && used == names::of_mpi)
    return pass_among_neighbors(MPI_Neighbor_alltoall, MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallw, receives_, comm);
  if (plan_.among_neighbors)
    return pass_among_neighbors(shoal_neighbor_alltoall, shoal_neighbor_alltoallv, shoal_neighbor_alltoallw, receives_,
                                comm);
  if (plan_.wide) return call_wide(comm);
  if (plan_.typed && used == names::of_mpi) return pass_types_to(MPI_Alltoallw, receives_, comm);
  if (plan_.typed) return pass_types_to(shoal_alltoallw_with, receives_, comm, info_);
  if (used == names::of_mpi)
    return pass_to(MPI_Alltoall, MPI_Alltoallv, MPI_Allgather, MPI_Allgatherv, receives_, comm);
  return pass_to(shoal_alltoall_with, shoal_alltoallv_with, shoal_allgather_with, shoal_allgatherv_with, receives_,
                 comm, info_);
}

int exchange::call_wide(MPI_Comm comm) {
  const std::vector<MPI_Count> sent_counts = widened<MPI_Count>(sends_.counts),
                               counts = widened<MPI_Count>(receives_.counts);
  const std::vector<MPI_Aint> sent_at = widened<MPI_Aint>(sends_.at), at = widened<MPI_Aint>(receives_.at);
  const MPI_Datatype sent_type = sends_.how.type, type = receives_.how.type;
  int* const to = recv_.data();
  if (plan_.gathers && plan_.uniform)
    return shoal_allgather_c(sent(), sent_counts[0], sent_type, to, counts[0], type, comm);
  if (plan_.gathers)
    return shoal_allgatherv_c(sent(), sent_counts[0], sent_type, to, counts.data(), at.data(), type, comm);
  if (plan_.typed)
    return shoal_alltoallw_c(sent(), sent_counts.data(), sent_at.data(), sends_.types.data(), to, counts.data(),
                             at.data(), receives_.types.data(), comm);
  if (plan_.uniform) return shoal_alltoall_c(sent(), sent_counts[0], sent_type, to, counts[0], type, comm);
  return shoal_alltoallv_c(sent(), sent_counts.data(), sent_at.data(), sent_type, to, counts.data(), at.data(), type,
                           comm);
}

int exchange::begin(MPI_Comm comm, MPI_Request* request) {
  if (plan_.among_neighbors)
    return pass_among_neighbors(MPI_Ineighbor_alltoall, MPI_Ineighbor_alltoallv, MPI_Ineighbor_alltoallw, receives_,
                                comm, request);
  if (plan_.typed) return pass_types_to(MPI_Ialltoallw, receives_, comm, request);
  return pass_to(MPI_Ialltoall, MPI_Ialltoallv, MPI_Iallgather, MPI_Iallgatherv, receives_, comm, request);
}

int exchange::begin(MPI_Comm comm, shoal_request* request) {
  if (plan_.to_some) return pass_to_some(shoal_iexchange, comm, request);
  if (plan_.typed) return pass_types_to(shoal_ialltoallw, receives_, comm, request);
  const auto none = [](auto...) { return MPI_ERR_UNSUPPORTED_OPERATION; };
  return pass_to(shoal_ialltoall, shoal_ialltoallv, none, none, receives_, comm, request);
}

int exchange::prepare(MPI_Comm comm, MPI_Request* request) {
  if (plan_.among_neighbors)
    return pass_among_neighbors(MPI_Neighbor_alltoall_init, MPI_Neighbor_alltoallv_init, MPI_Neighbor_alltoallw_init,
                                receives_, comm, MPI_INFO_NULL, request);
  if (plan_.typed) return pass_types_to(MPI_Alltoallw_init, receives_, comm, MPI_INFO_NULL, request);
  return pass_to(MPI_Alltoall_init, MPI_Alltoallv_init, MPI_Allgather_init, MPI_Allgatherv_init, receives_, comm,
                 MPI_INFO_NULL, request);
}

int exchange::prepare(MPI_Comm comm, shoal_request* request) {
  if (plan_.typed) return pass_types_to(shoal_alltoallw_init, receives_, comm, info_, request);
  return pass_to(shoal_alltoall_init, shoal_alltoallv_init, shoal_allgather_init, shoal_allgatherv_init, receives_,
                 comm, info_, request);
}

int exchange::natively(MPI_Comm comm) {
  if (plan_.to_some) return recv_ = must_arrive(), MPI_SUCCESS;
  if (plan_.among_neighbors) return natively_among_neighbors(comm);
  if (plan_.typed) return pass_types_to(PMPI_Alltoallw, receives_right_, comm);
  return pass_to(PMPI_Alltoall, PMPI_Alltoallv, PMPI_Allgather, PMPI_Allgatherv, receives_right_, comm);
}

// MPIs match several edges between two ranks in one order in blocking calls, and in another in nonblocking ones.
int exchange::natively_among_neighbors(MPI_Comm comm) {
  if (plan_.is_blocking)
    return pass_among_neighbors(PMPI_Neighbor_alltoall, PMPI_Neighbor_alltoallv, PMPI_Neighbor_alltoallw, receives_,
                                comm);
  MPI_Request open;
  pass_among_neighbors(PMPI_Ineighbor_alltoall, PMPI_Ineighbor_alltoallv, PMPI_Ineighbor_alltoallw, receives_, comm,
                       &open);
  return PMPI_Wait(&open, MPI_STATUS_IGNORE);
}

// ---- shoal_exchange ---------------------------------------------------------------------------------------------

// All ranks send the same type.
exchange::side exchange::side_to_some(int rank) const {
  const std::vector<int> sizes = plan_.sizes_to_some(where_, rank);
  return side_of(sizes, sizes, mixed(plan_.id, 1));
}

// Puts what arrived into received(): how many blocks, who sent each, how many elements each has, and what is in them.
void exchange::take_arrivals() {
  if (!arrivals_) return;
  const auto ints = [&](MPI_Count elements) { return elements * 2 / sends_.how.count; };
  recv_ = {arrivals_->blocks};
  recv_.insert(recv_.end(), arrivals_->sources, arrivals_->sources + arrivals_->blocks);
  recv_.insert(recv_.end(), arrivals_->counts, arrivals_->counts + arrivals_->blocks);
  for (int i = 0; i < arrivals_->blocks; ++i) {
    const int* const begin = static_cast<const int*>(arrivals_->data) + ints(arrivals_->displs[i]);
    recv_.insert(recv_.end(), begin, begin + ints(arrivals_->counts[i]));
  }
  shoal_arrivals_free(&arrivals_);
}

std::vector<int> exchange::must_arrive() const {
  std::vector<int> sources, counts, data;
  for (int source = 0; source < static_cast<int>(where_.first.size()); ++source) {
    const int sender = where_.first[source];
    const side sent = side_to_some(sender);
    const std::vector<int> to = plan_.receivers(where_, sender);
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (where_.first[to[i]] != rank_) continue;
      sources.push_back(source);
      counts.push_back(sent.counts[i]);
      for (int at = sent.at[i]; at < sent.at[i] + sent.counts[i]; at += sent.how.count)
        for (const int half : {0, 1})
          data.push_back(number(sender, 0, at / sent.how.count * sent.how.extent + half * sent.how.extent / 2));
    }
  }
  std::vector<int> all{static_cast<int>(sources.size())};
  for (const std::vector<int>& part : {sources, counts, data}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace random_programs
