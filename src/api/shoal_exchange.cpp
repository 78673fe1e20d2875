// shoal_exchange() of shoal.h: each rank sends blocks to the ranks it likes.
#include "api/shoal_exchange.hpp"

#include <memory>
#include <string>
#include <vector>

#include "calls/process.hpp"
#include "team/boundary.hpp"
#include "team/fault_tolerance.hpp"
#include "team/nearest_rounding.hpp"

using namespace shoal;

namespace {

// What a caller gets, and the memory that holds it.
struct kept_arrivals : shoal_arrivals {
  arrived_blocks kept;
  std::vector<MPI_Count> kept_counts, kept_displacements;
};

// The arrivals for the caller, counted in elements of `type_size` bytes. Throws if a block ends within an element.
shoal_arrivals* hand_out(arrived_blocks blocks, std::int64_t type_size) {
  auto out = std::make_unique<kept_arrivals>();
  out->kept = std::move(blocks);
  const auto size = static_cast<std::size_t>(type_size);
  MPI_Count at = 0;
  for (const std::size_t bytes : out->kept.bytes) {
    if (size == 0 ? bytes > 0 : bytes % size != 0) throw size_mismatch();
    out->kept_counts.push_back(size == 0 ? 0 : static_cast<MPI_Count>(bytes / size));
    out->kept_displacements.push_back(at);
    at += out->kept_counts.back();
  }
  // Nothing is null where nothing came: c_f_pointer() of Fortran makes no pointer of a null address.
  out->kept.sources.reserve(1);
  out->kept_counts.reserve(1);
  out->kept_displacements.reserve(1);
  if (!out->kept.data) out->kept.data = std::make_unique<std::byte[]>(1);
  out->blocks = static_cast<int>(out->kept.bytes.size());
  out->sources = out->kept.sources.data();
  out->counts = out->kept_counts.data();
  out->displs = out->kept_displacements.data();
  out->data = out->kept.data.get();
  return out.release();
}

// Puts what arrives into `arrivals`, where nothing is until then.
arrivals_place into(shoal_arrivals** arrivals) {
  if (arrivals) *arrivals = nullptr;
  return {arrivals, [](void* where, shoal_arrivals* came) { *static_cast<shoal_arrivals**>(where) = came; }};
}

sparse_request::receiver receiver_for(arrivals_place place) {
  if (!place.where) return nullptr;
  return [place](arrived_blocks came, std::int64_t size) { place.put(place.where, hand_out(std::move(came), size)); };
}

// Makes and starts the request of a call, and runs the body on it, with the ranks of the call's communicator locked.
template <typename Body>
int exchange_by(const sparse_call& call, arrivals_place place, Body body) {
  return returning_codes(call.comm, [&]() -> int {
    if (call.comm == MPI_COMM_NULL) return raise_error(call.comm, MPI_ERR_COMM, "no communicator");
    if (between_groups(call.comm))
      return raise_error(call.comm, MPI_ERR_COMM, "shoal_exchange is among the ranks of one group");
    if (is_revoked(call.comm)) return raise_code(call.comm, lasting_error(call.comm));
    const nearest_rounding as_on_others;
    std::string why;
    const std::shared_ptr<sparse_ranks> of = process::get().sparse_of(call.comm, why);
    if (!of) return raise_error(call.comm, MPI_ERR_OTHER, why.c_str());
    const std::scoped_lock alone(of->lock());
    auto made = std::make_unique<sparse_request>(of, call, receiver_for(place));
    made->start();
    body(std::move(made));
    return MPI_SUCCESS;
  });
}

}  // namespace

int shoal::start_sparse(const sparse_call& call, arrivals_place place, shoal_request* request) {
  if (!request)
    return letting_handlers_throw([&] { return raise_error(call.comm, MPI_ERR_ARG, "no place for the request"); });
  *request = SHOAL_REQUEST_NULL;
  return exchange_by(call, place, [request](std::unique_ptr<open_request> made) {
    *request = reinterpret_cast<shoal_request>(made.release());
  });
}

extern "C" {

int shoal_exchange(int blocks, const int* destinations, const void* sendbuf, const MPI_Count* counts,
                   const MPI_Aint* displs, MPI_Datatype datatype, MPI_Comm comm, shoal_arrivals** arrivals) {
  return exchange_by({blocks, destinations, sendbuf, counts, displs, datatype, comm}, into(arrivals),
                     [](std::unique_ptr<sparse_request> made) { made->wait(); });
}

int shoal_iexchange(int blocks, const int* destinations, const void* sendbuf, const MPI_Count* counts,
                    const MPI_Aint* displs, MPI_Datatype datatype, MPI_Comm comm, shoal_arrivals** arrivals,
                    shoal_request* request) {
  return start_sparse({blocks, destinations, sendbuf, counts, displs, datatype, comm}, into(arrivals), request);
}

int shoal_arrivals_free(shoal_arrivals** arrivals) {
  if (!arrivals) return MPI_ERR_ARG;
  delete static_cast<kept_arrivals*>(*arrivals);
  *arrivals = nullptr;
  return MPI_SUCCESS;
}

}  // extern "C"
