// The C functions of shoal.h that start an exchange in one call and end it in another.
#include "calls/allgather_service.hpp"
#include "calls/exchange_service.hpp"
#include "calls/exchange_work.hpp"
#include "calls/forms.hpp"
#include "calls/kept_type.hpp"
#include "calls/native_nonblocking.hpp"
#include "calls/process.hpp"
#include "team/boundary.hpp"
#include "team/fault_tolerance.hpp"
#include "team/nearest_rounding.hpp"
#include "shoal/shoal.h"

using namespace shoal;

namespace {

open_request* data_of(shoal_request handle) { return reinterpret_cast<open_request*>(handle); }
shoal_request handle_of(std::unique_ptr<open_request> made) { return reinterpret_cast<shoal_request>(made.release()); }

void free(shoal_request* handle) {
  delete data_of(*handle);
  *handle = SHOAL_REQUEST_NULL;
}

// The MPI's own collective; `begin` makes the request for it.
template <typename Call, typename Begin>
request::native_start natively(const Call& call, bool is_persistent, Begin begin) {
  return {[call, begin, own = std::shared_ptr<native_collective>()](MPI_Request* request) mutable {
            own = std::make_shared<native_collective>();
            const int code = begin(*own, call);
            *request = own->hand_over();
            return code;
          },
          is_persistent};
}

// The MPI's own collective in its nonblocking form.
template <typename Call>
request::native_start started(const Call& call) {
  return natively(call, false, [](native_collective& own, const Call& what) { return own.start(what); });
}

// The MPI's own collective in its persistent form if the MPI has one and it is right, else in its nonblocking form. In
// Open MPI the persistent form mixes up the same blocks in place as the nonblocking form, which native_collective
// avoids by sending a copy. In MPICH 4.0 and Intel MPI the persistent allgather repeats what the first start sent.
request::native_start repeated(const exchange_call& call) {
  const bool is_started = call.recv_type.differ() || (!call.uniform && call.in_place());
  if (!native_collective::has_persistent || is_started) return started(call);
  return natively(call, true, [](native_collective& own, const exchange_call& what) { return own.prepare(what); });
}
request::native_start repeated(const allgather_call& call) { return started(call); }

// A call with datatypes of its own, so that the program may free its datatypes.
template <typename Call>
class kept_call {
 public:
  explicit kept_call(const Call& users) : call_(users) { keep(call_); }
  const Call& operator*() const { return call_; }

 private:
  void keep(exchange_call& call) {
    const int blocks = call.recv_type.differ() ? peers_of(call.comm) : 1;
    call.recv_type = received_.keep(call.recv_type, call.recv_counts, blocks);
    if (!call.in_place()) call.send_type = sent_.keep(call.send_type, call.send_counts, blocks);
  }
  void keep(allgather_call& call) {
    call.recv_type = received_.keep(call.recv_type, call.recv_counts, 1)[0];
    if (call.send != MPI_IN_PLACE) call.send_type = sent_.keep(call.send_type, {}, 1)[0];
  }

  Call call_;
  kept_types sent_, received_;
};

// Keeps what a request was made from as long as the request is there.
template <typename Kept>
request::native_start keeping(const std::shared_ptr<Kept>& kept, request::native_start native) {
  native.make = [kept, make = std::move(native.make)](MPI_Request* own) { return make(own); };
  return native;
}

// If traffic is recorded, every start counts, as every blocking call does.
void record(request& made, const exchange_call& call) {
  if (!process::get().set().record.empty() && traffic_record::is_of(call.comm))
    made.at_each_start([call] { process::get().traffic().add(call); });
}
void record(request&, const allgather_call&) {}

// Serves a call on `comm` that makes a request.
template <typename Body>
int making(shoal_request* handle, MPI_Comm comm, Body body) {
  return returning_codes(comm, [&]() -> int {
    if (!handle) return raise_error(comm, MPI_ERR_ARG, "no place for the request");
    *handle = SHOAL_REQUEST_NULL;
    const nearest_rounding as_on_others;
    return body();
  });
}

// Whether an exchange can be started without waiting for other ranks: if what it needs is there already.
bool can_start(team& ranks, MPI_Comm comm) { return ranks.is_open() && !ranks.is_lost() && !is_revoked(comm); }

std::unique_ptr<request> started_by_shoal(communicator& state, const exchange_call& call) {
  const std::scoped_lock alone(state.all().lock());
  const auto kept = std::make_shared<kept_call<exchange_call>>(call);
  return std::make_unique<request>(request::once(), call.comm, keeping(kept, started(**kept)),
                                   work_once<exchange_service>(state.among(call.form())->shared(), **kept));
}

int nonblocking(const exchange_call& call, shoal_request* handle) {
  return making(handle, call.comm, [&] {
    communicator* const state = process::get().present_state_of(call.comm);
    auto made = state && can_start(state->all(), call.comm)
                    ? started_by_shoal(*state, call)
                    : std::make_unique<request>(request::once(), call.comm, started(call), nullptr);
    record(*made, call);
    const held_ranks alone = made->exclusive();
    made->start();
    *handle = handle_of(std::move(made));
    return MPI_SUCCESS;
  });
}

// Shoal's work for the exchange; null if Shoal does not serve the communicator. Throws if Shoal should and cannot.
std::unique_ptr<request::work> prepare(const exchange_call& call, MPI_Info info) {
  std::string wrong;
  communicator* const state = process::get().state_of(call.comm, true, wrong);
  if (!wrong.empty()) throw std::runtime_error(wrong);
  if (!state) return nullptr;
  const std::scoped_lock alone(state->all().lock());
  return work_repeated<exchange_service>(state->among(call.form())->shared(), call, info);
}

std::unique_ptr<request::work> prepare(const allgather_call& call, MPI_Info info) {
  std::string wrong;
  intercommunicator* const state =
      between_groups(call.comm) ? process::get().groups_of(call.comm, true, wrong) : nullptr;
  if (!wrong.empty()) throw std::runtime_error(wrong);
  if (!state) return nullptr;
  const std::scoped_lock alone(state->all().lock());
  return work_repeated<allgather_service>(state->shared_from_this(), call, info);
}

// What Shoal serves, and a persistent request of the MPI's, outlives the program's communicator. If every start makes a
// request of the MPI's, the communicator must be there then.
template <typename Call>
int persistent(const Call& users, MPI_Info info, shoal_request* handle) {
  return making(handle, users.comm, [&] {
    const auto kept = std::make_shared<kept_call<Call>>(users);
    auto work = prepare(**kept, info);
    request::native_start native = repeated(**kept);
    const bool needs_users = !work && !native.is_persistent;
    auto made =
        std::make_unique<request>(request::repeated(), users.comm, keeping(kept, std::move(native)), std::move(work));
    if (needs_users) made->need(process::get().life_of(users.comm));
    record(*made, **kept);
    *handle = handle_of(std::move(made));
    return MPI_SUCCESS;
  });
}

// Runs the body on a request's data.
template <typename Body>
int on_request(open_request& data, Body body) {
  return returning_codes_by([&] { return data.raise(); },
                            [&] {
                              const auto alone = data.exclusive();
                              body(data);
                              return MPI_SUCCESS;
                            });
}

// The same; then frees the request if it was to run once and has ended, with or without an error.
template <typename Body>
int ending(shoal_request* handle, Body body) {
  struct freed_at_end {
    shoal_request* handle;
    ~freed_at_end() {
      if (const open_request& data = *data_of(*handle); !data.active() && !data.is_repeated()) free(handle);
    }
  };
  const held_ranks alone = data_of(*handle)->exclusive();
  const freed_at_end behind{handle};
  return on_request(*data_of(*handle), body);
}

}  // namespace

extern "C" {

#define NONBLOCKING(form, arguments, ...)                                 \
  int shoal_i##form(arguments(__VA_ARGS__), shoal_request* request) {     \
    return nonblocking(forms::form.describe(arguments##_NAMES), request); \
  }
#define PERSISTENT(function, form, arguments, ...)                              \
  int function(arguments(__VA_ARGS__), MPI_Info info, shoal_request* request) { \
    return persistent(forms::form.describe(arguments##_NAMES), info, request);  \
  }

NONBLOCKING(alltoall, SHOAL_EQUAL, int, int)
NONBLOCKING(alltoallv, SHOAL_SIZED, int, int)
NONBLOCKING(alltoallw, SHOAL_TYPED, int, int)
NONBLOCKING(alltoall_c, SHOAL_EQUAL, MPI_Count, MPI_Aint)
NONBLOCKING(alltoallv_c, SHOAL_SIZED, MPI_Count, MPI_Aint)
NONBLOCKING(alltoallw_c, SHOAL_TYPED, MPI_Count, MPI_Aint)
PERSISTENT(shoal_alltoall_init, alltoall, SHOAL_EQUAL, int, int)
PERSISTENT(shoal_alltoallv_init, alltoallv, SHOAL_SIZED, int, int)
PERSISTENT(shoal_alltoallw_init, alltoallw, SHOAL_TYPED, int, int)
PERSISTENT(shoal_alltoall_init_c, alltoall_c, SHOAL_EQUAL, MPI_Count, MPI_Aint)
PERSISTENT(shoal_alltoallv_init_c, alltoallv_c, SHOAL_SIZED, MPI_Count, MPI_Aint)
PERSISTENT(shoal_alltoallw_init_c, alltoallw_c, SHOAL_TYPED, MPI_Count, MPI_Aint)
PERSISTENT(shoal_allgather_init, allgather, SHOAL_EQUAL, int, int)
PERSISTENT(shoal_allgatherv_init, allgatherv, SHOAL_GATHERED, int, int)
#undef NONBLOCKING
#undef PERSISTENT

int shoal_start(shoal_request request) {
  if (!request) return MPI_ERR_REQUEST;
  return on_request(*data_of(request), [](auto& data) {
    if (!data.is_repeated()) throw mpi_error(MPI_ERR_REQUEST, "only persistent requests can be started");
    data.start();
  });
}

int shoal_test(shoal_request* request, int* flag) {
  if (!request || !flag) return MPI_ERR_ARG;
  *flag = 1;
  if (!*request) return MPI_SUCCESS;
  return ending(request, [&](auto& data) { *flag = data.test(); });
}

int shoal_wait(shoal_request* request) {
  if (!request) return MPI_ERR_ARG;
  if (!*request) return MPI_SUCCESS;
  return ending(request, [](auto& data) { data.wait(); });
}

int shoal_request_free(shoal_request* request) {
  if (!request) return MPI_ERR_ARG;
  if (!*request) return MPI_ERR_REQUEST;
  const held_ranks alone = data_of(*request)->exclusive();
  const int code = on_request(*data_of(*request), [](auto& data) {
    if (data.active()) throw mpi_error(MPI_ERR_REQUEST, "a request under way cannot be freed; wait first");
  });
  if (code == MPI_SUCCESS) free(request);
  return code;
}

}  // extern "C"
