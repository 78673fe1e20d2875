#include "calls/native_nonblocking.hpp"

#include "calls/arguments.hpp"
#include "calls/mpi_datatype.hpp"
#include "calls/native.hpp"
#include "team/progress.hpp"
#include "transport/mpi_ended.hpp"
#include "transport/mpi_error.hpp"
#include "transport/mpi_newer.hpp"

namespace shoal {

namespace {

bool fit(const number_array& values, int ranks) {
  if (values.ints()) return true;
  for (int i = 0; i < ranks; ++i)
    if (!fits_int(values[i])) return false;
  return true;
}

template <typename Integer>
const Integer* listed(const number_array& values, int ranks, std::vector<Integer>& storage) {
  if (values.is_missing()) return nullptr;
  for (int i = 0; i < ranks; ++i) storage.push_back(static_cast<Integer>(values[i]));
  return storage.data();
}

// The numbers as the program gave them, or narrowed if it gave them in 64 bits.
const int* ints_of(const number_array& values, int ranks, std::vector<int>& storage) {
  return values.ints() ? values.ints() : listed(values, ranks, storage);
}

// Counts and displacements of both sides.
bool fit(const exchange_call& call, int ranks) {
  return fit(call.recv_counts, ranks) && fit(call.recv_displacements, ranks) &&
         (call.in_place() || (fit(call.send_counts, ranks) && fit(call.send_displacements, ranks)));
}

// With MPI_IN_PLACE, Open MPI's MPI_Ialltoallv mixes up blocks whose type does not begin at its address. Only the rank
// itself knows of its type, and Open MPI does not match a call that is in place on some ranks with one that is not on
// others. So there all ranks send from a copy. So they do in MPI_Ialltoallw of MPICH before 4.3 and of its kin, which
// delivers wrong data if the types of blocks differ.
bool is_right_in_place([[maybe_unused]] const exchange_call& call) {
#ifdef OPEN_MPI
  return false;
#else
  return !call.recv_type.differ() || progress::mpi_can_move();  // which MPICH can from 4.3 on
#endif
}

}  // namespace

native_collective::~native_collective() {
  if (request_ != MPI_REQUEST_NULL) PMPI_Request_free(&request_);
  if (packed_ != MPI_DATATYPE_NULL) PMPI_Type_free(&packed_);
}

int native_collective::start(const exchange_call& call) {
  if (!call.uniform) return start_v(call.in_place() && !is_right_in_place(call) ? sent_from_a_copy(call) : call);
  const std::int64_t sent = call.send == MPI_IN_PLACE ? 0 : call.send_counts[0], received = call.recv_counts[0];
  if (fits_int(sent) && fits_int(received))
    return PMPI_Ialltoall(call.send, static_cast<int>(sent), call.send_type[0], call.recv, static_cast<int>(received),
                          call.recv_type[0], call.comm, &request_);
  if (!PMPI_Ialltoall_c) return count_too_large(call.comm);
  return PMPI_Ialltoall_c(call.send, sent, call.send_type[0], call.recv, received, call.recv_type[0], call.comm,
                          &request_);
}

exchange_call native_collective::sent_from_a_copy(exchange_call call) {
  const int ranks = peers_of(call.comm);
  std::vector<element_type> types;
  user_buffer blocks;
  blocks.base = static_cast<std::byte*>(call.recv);
  blocks.counts = call.recv_counts;
  blocks.displacements = call.recv_displacements;
  describe(call.recv_type, ranks, types, blocks, device_runtimes::loaded());
  if (!is_valid(blocks, call.recv_type, ranks, MPI_COMM_SELF)) return call;  // the MPI reports what is wrong
  const std::int64_t element = call.recv_type.differ() ? 1 : make_packed(blocks.type.size);
  offsets_.assign(1, 0);
  for (int i = 0; i < ranks; ++i) {
    counts_of_copy_.push_back(static_cast<std::int64_t>(blocks.bytes(i)) / element);
    offsets_.push_back(offsets_.back() + counts_of_copy_.back());
  }
  copy_.resize(static_cast<std::size_t>(offsets_.back() * element));
  for (int i = 0; i < ranks; ++i) blocks.pack(i, copy_.data() + offsets_[i] * element);
  call.send = copy_.data();
  call.send_counts = number_array(counts_of_copy_.data());
  call.send_displacements = number_array(offsets_.data());
  types_of_copy_.assign(static_cast<std::size_t>(ranks), MPI_BYTE);
  call.send_type = call.recv_type.differ() ? type_list(types_of_copy_.data()) : packed_;
  return call;
}

// Makes a type of `bytes` bytes, or else of one, so that counts are no larger than the program's. Returns its bytes.
std::int64_t native_collective::make_packed(std::int64_t bytes) {
  const int size = fits_int(bytes) && bytes > 0 ? static_cast<int>(bytes) : 1;
  require(PMPI_Type_contiguous(size, MPI_BYTE, &packed_), "MPI_Type_contiguous");
  require(PMPI_Type_commit(&packed_), "MPI_Type_commit");
  return size;
}

int native_collective::start_v(const exchange_call& call) {
  const int ranks = peers_of(call.comm);
  return fit(call, ranks) ? start_narrow(call, ranks) : start_wide(call, ranks);
}

int native_collective::start_narrow(const exchange_call& call, int ranks) {
  const int* const sent = call.in_place() ? nullptr : ints_of(call.send_counts, ranks, ints_[0]);
  const int* const sent_at = call.in_place() ? nullptr : ints_of(call.send_displacements, ranks, ints_[1]);
  const int* const received = ints_of(call.recv_counts, ranks, ints_[2]);
  const int* const received_at = ints_of(call.recv_displacements, ranks, ints_[3]);
  if (call.recv_type.differ())
    return PMPI_Ialltoallw(call.send, sent, sent_at, call.send_type.each(), call.recv, received, received_at,
                           call.recv_type.each(), call.comm, &request_);
  return PMPI_Ialltoallv(call.send, sent, sent_at, call.send_type[0], call.recv, received, received_at,
                         call.recv_type[0], call.comm, &request_);
}

int native_collective::start_wide(const exchange_call& call, int ranks) {
  if (!PMPI_Ialltoallv_c || !PMPI_Ialltoallw_c) return count_too_large(call.comm);
  const MPI_Count* const sent = call.in_place() ? nullptr : listed(call.send_counts, ranks, counts_[0]);
  const MPI_Aint* const sent_at = call.in_place() ? nullptr : listed(call.send_displacements, ranks, displacements_[0]);
  const MPI_Count* const received = listed(call.recv_counts, ranks, counts_[1]);
  const MPI_Aint* const received_at = listed(call.recv_displacements, ranks, displacements_[1]);
  if (call.recv_type.differ())
    return PMPI_Ialltoallw_c(call.send, sent, sent_at, call.send_type.each(), call.recv, received, received_at,
                             call.recv_type.each(), call.comm, &request_);
  return PMPI_Ialltoallv_c(call.send, sent, sent_at, call.send_type[0], call.recv, received, received_at,
                           call.recv_type[0], call.comm, &request_);
}

int native_collective::start(const allgather_call& call) {
  if (!call.uniform) return start_v(call);
  const std::int64_t received = call.recv_counts[0];
  if (fits_int(call.send_count) && fits_int(received))
    return PMPI_Iallgather(call.send, static_cast<int>(call.send_count), call.send_type, call.recv,
                           static_cast<int>(received), call.recv_type, call.comm, &request_);
  if (!PMPI_Iallgather_c) return count_too_large(call.comm);
  return PMPI_Iallgather_c(call.send, call.send_count, call.send_type, call.recv, received, call.recv_type, call.comm,
                           &request_);
}

int native_collective::start_v(const allgather_call& call) {
  const int ranks = peers_of(call.comm);
  if (fits_int(call.send_count) && fit(call.recv_counts, ranks) && fit(call.recv_displacements, ranks))
    return PMPI_Iallgatherv(call.send, static_cast<int>(call.send_count), call.send_type, call.recv,
                            ints_of(call.recv_counts, ranks, ints_[2]),
                            ints_of(call.recv_displacements, ranks, ints_[3]), call.recv_type, call.comm, &request_);
  if (!PMPI_Iallgatherv_c) return count_too_large(call.comm);
  return PMPI_Iallgatherv_c(
      call.send, call.send_count, call.send_type, call.recv, listed(call.recv_counts, ranks, counts_[1]),
      listed(call.recv_displacements, ranks, displacements_[1]), call.recv_type, call.comm, &request_);
}

const bool native_collective::has_persistent = PMPI_Alltoall_init;

int native_collective::prepare(const exchange_call& call) {
  if (!call.uniform) return prepare_v(call, peers_of(call.comm));
  const std::int64_t sent = call.in_place() ? 0 : call.send_counts[0], received = call.recv_counts[0];
  if (fits_int(sent) && fits_int(received))
    return PMPI_Alltoall_init(call.send, static_cast<int>(sent), call.send_type[0], call.recv,
                              static_cast<int>(received), call.recv_type[0], call.comm, MPI_INFO_NULL, &request_);
  if (!PMPI_Alltoall_init_c) return count_too_large(call.comm);
  return PMPI_Alltoall_init_c(call.send, sent, call.send_type[0], call.recv, received, call.recv_type[0], call.comm,
                              MPI_INFO_NULL, &request_);
}

// Not for MPI_IN_PLACE.
int native_collective::prepare_v(const exchange_call& call, int ranks) {
  if (fit(call, ranks))
    return PMPI_Alltoallv_init(
        call.send, ints_of(call.send_counts, ranks, ints_[0]), ints_of(call.send_displacements, ranks, ints_[1]),
        call.send_type[0], call.recv, ints_of(call.recv_counts, ranks, ints_[2]),
        ints_of(call.recv_displacements, ranks, ints_[3]), call.recv_type[0], call.comm, MPI_INFO_NULL, &request_);
  if (!PMPI_Alltoallv_init_c) return count_too_large(call.comm);
  return PMPI_Alltoallv_init_c(call.send, listed(call.send_counts, ranks, counts_[0]),
                               listed(call.send_displacements, ranks, displacements_[0]), call.send_type[0], call.recv,
                               listed(call.recv_counts, ranks, counts_[1]),
                               listed(call.recv_displacements, ranks, displacements_[1]), call.recv_type[0], call.comm,
                               MPI_INFO_NULL, &request_);
}

int native_collective::test(bool& ended) { return test_one(request_, ended); }

int native_collective::wait(wait_mode mode) { return end_moving(request_, mode); }

int end_moving(MPI_Request& request, wait_mode mode) {
  waiting wait = moving_meanwhile(mode);
  for (;;) {
    bool ended = false;
    const int code = test_one(request, ended);
    if (ended) return code;
    wait.idle();
  }
}

}  // namespace shoal
