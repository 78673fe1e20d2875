// An exchange in which each rank sends blocks to any ranks. It is started in one call and ended in another or the same.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

#include "calls/request.hpp"
#include "execute/user_buffer.hpp"
#include "team/sparse_ranks.hpp"

namespace shoal {

// The arguments of shoal_exchange().
struct sparse_call {
  int blocks;
  const int* destinations;
  const void* send;
  const MPI_Count* counts;
  const MPI_Aint* displacements;
  MPI_Datatype type;
  MPI_Comm comm;
};

class sparse_request final : public open_request, public progress::part {
 public:
  // Gets the blocks that arrived, and the bytes of an element.
  using receiver = std::function<void(arrived_blocks, std::int64_t)>;

  // The bytes to send stay the caller's until the end. An empty `give` is an error of this rank. If the rank's
  // arguments are wrong, or cannot be made ready, it takes part all the same, tells the others, and fails at its end.
  sparse_request(std::shared_ptr<sparse_ranks> of, const sparse_call& call, receiver give);
  ~sparse_request() override { progress::get().remove(this); }
  sparse_request(const sparse_request&) = delete;
  sparse_request& operator=(const sparse_request&) = delete;

  void start() override;
  bool test() override;
  void wait() override;
  bool move() noexcept override;
  held_ranks exclusive() override { return {of_, std::unique_lock(of_->lock())}; }
  bool is_repeated() const override { return false; }
  bool active() const override { return active_; }
  int raise() override;

 private:
  void make_ready(const sparse_call& call);
  void end();

  std::shared_ptr<sparse_ranks> of_;
  MPI_Comm comm_;
  receiver give_;
  std::int64_t type_size_ = 0;
  sparse_turn turn_;
  std::exception_ptr wrong_;  // why this rank cannot take part
  bool active_ = false;
};

}  // namespace shoal
