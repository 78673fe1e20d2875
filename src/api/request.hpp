// An all-to-all that is started in one call and ended in another, once or many times: MPI's nonblocking and persistent
// collectives. It moves when its owner tests or waits; there is no thread.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "api/alltoall_service.hpp"

namespace shoal {

class request {
 public:
  // Makes a request for the MPI's own collective with the caller's arguments: its nonblocking one, or for what is
  // repeated its persistent one, if it has such.
  using native_start = std::function<int(MPI_Request*)>;

  // `call` as the user gave it: its buffers and arrays stay until the end. Shoal's part is prepared by one of the two
  // below; where they prepare none, the MPI's own runs.
  request(const alltoall_call& call, native_start native) : call_(call), native_(std::move(native)) {}
  ~request();
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  // To be started once, and at once: asks no other rank.
  void prepare_once(communicator& state);
  // To be started many times; `state` is null where Shoal does not serve the communicator. Collective.
  void prepare_repeated(communicator* state, MPI_Info info);

  // Throws where it is under way already.
  void start();
  // True when it is not, or no more, under way.
  bool test();
  void wait();
  // Of one that is under way by Shoal's way: whether anything moved.
  bool move();

  bool repeated() const { return repeated_; }
  bool active() const { return active_; }
  MPI_Comm comm() const { return call_.comm; }

 private:
  // Shoal's way of doing it.
  struct work {
    work(communicator& state, const alltoall_call& call);
    ~work() {
      if (tags.count > 0) state->release_tags(tags);
    }

    std::shared_ptr<communicator> state;
    std::vector<std::int64_t> offsets;
    alltoall_service service;
    mpi_transport over;
    exchange moving;
    std::unique_ptr<node_exchange> inside;  // instead, where the ranks of a node share memory
    std::optional<phase_clock> clock;       // time between tests belongs to what ends next
    exchange::tag_range tags{};
    const decision* chosen = nullptr;
    bool ran = false;  // so sizes are known
    double begin = 0;

    void start();
    bool progress(bool& moved) { return inside ? inside->progress(moved) : moving.progress(moved); }
    void run_to_end();
  };
  void plan(communicator& state, MPI_Info info);
  bool everyone_may_share();
  void adopt(std::unique_ptr<work> prepared, exchange::tag_range tags);
  void finish();

  alltoall_call call_;
  native_start native_;
  bool repeated_ = false;
  bool active_ = false;
  MPI_Request natives_ = MPI_REQUEST_NULL;
  std::unique_ptr<work> work_;
};

}  // namespace shoal
