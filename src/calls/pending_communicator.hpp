// The ranks of one of the user's communicators that become Shoal's while none of them waits: for calls that may not. Begun
// by every rank in the same call.
#pragma once

#include <mpi.h>

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learn/communicator.hpp"
#include "team/pending_agreement.hpp"
#include "team/progress.hpp"

namespace shoal {

class process;

class pending_communicator final : public progress::part, public std::enable_shared_from_this<pending_communicator> {
 public:
  // Copies the user's communicator, attributes and all, as MPI has no other way that does not wait.
  pending_communicator(process& job, MPI_Comm users);
  ~pending_communicator() override;

  // Whether all ranks are there, and state() and why() say what of.
  bool is_ready() const { return stage_ == stage::ready; }
  // Null, on every rank: Shoal cannot serve them, for the reason in why().
  const std::shared_ptr<communicator>& state() const { return state_; }
  const std::string& why() const { return why_; }
  // The same ranks, for what the MPI's own is to do where ranks wanted otherwise.
  MPI_Comm own() const { return own_; }
  // In the order of the calls, on every rank, once it is ready.
  void when_ready(std::function<void()> then) { then_.push_back(std::move(then)); }

  bool move() noexcept override;
  // Whether the program has freed its communicator.
  bool is_left() const { return left_; }
  // It frees it, or all communicators end (`users` is null).
  void leave(MPI_Comm users);

 private:
  enum class stage { copying, agreeing, ready, failed };
  std::vector<std::int64_t> terms() const;
  bool advance();
  bool fail() noexcept;
  void make_state(std::span<const std::int64_t> all);
  void finish(stage with);

  process& job_;
  stage stage_ = stage::copying;
  MPI_Comm own_ = MPI_COMM_NULL;
  MPI_Request copying_ = MPI_REQUEST_NULL;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;  // of the program's, once that is freed
  bool left_ = false;
  int ranks_ = 1, rank_ = 0;
  std::unique_ptr<pending_agreement> said_;
  std::shared_ptr<communicator> state_;
  std::string why_;
  std::deque<std::function<void()>> then_;
};

}  // namespace shoal
