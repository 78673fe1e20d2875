// Messages over MPI point-to-point calls on a communicator of Shoal's own.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace shoal {

class mpi_transport final : public transport {
 public:
  // Messages with more bytes are one element of an mpi_long_type, so that no MPI count exceeds an int.
  static constexpr std::size_t most_counted_bytes = std::size_t{1} << 30;

  // `comm` must return errors and stays the caller's.
  explicit mpi_transport(MPI_Comm comm, std::size_t most_counted = most_counted_bytes);
  // Another transport over the same communicator. Both give up together.
  mpi_transport another() const;
  // From now on messages go over this communicator, which has the same ranks.
  void move_to(MPI_Comm comm) { comm_ = comm; }
  // No message will come any more. From now on every message, and waiting for anything else, fails with this code.
  void give_up(int code) { *given_up_ = code; }
  // Cancels nothing: every transfer must have ended.
  ~mpi_transport() override = default;

  int ranks() const override { return ranks_; }
  int rank() const override { return rank_; }
  int highest_tag() const override { return highest_tag_; }
  void reserve(std::size_t transfers) override;
  void send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) override;
  void receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) override;
  void poll(std::vector<ended_transfer>& ended) override;
  // Ends all transfers that are under way, because nobody may be left to end them. To be taken as from poll().
  void abandon(std::vector<ended_transfer>& ended) { abandon(MPI_ERR_OTHER, ended); }

 private:
  struct owner {
    int ticket;
    bool receives;
  };

  template <typename Post>
  void start(std::size_t bytes, owner of, Post post);
  ended_transfer outcome(int index, const MPI_Status& status, bool failed);
  void abandon(int code, std::vector<ended_transfer>& ended);
  void report_lost(std::vector<ended_transfer>& ended);
  void end_all(int code, bool abandoned, std::vector<ended_transfer>& ended);
  void drop_ended(int count);
  void let_others_progress();

  MPI_Comm comm_;
  std::shared_ptr<int> given_up_ = std::make_shared<int>(MPI_SUCCESS);
  std::size_t most_counted_;
  int ranks_ = 0, rank_ = 0, highest_tag_ = 32767;
  std::vector<MPI_Request> requests_;
  std::vector<owner> owners_;  // of requests_
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<ended_transfer> refused_;  // what could not be started
};

}  // namespace shoal
