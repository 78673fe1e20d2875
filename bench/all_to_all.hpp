// All-to-alls in which every rank has block sizes of its own, carried out by Shoal, the MPI and a hand-written loop.
#pragma once

#include <shoal/shoal.h>

#include <cstdint>
#include <map>
#include <vector>

#include "learn/communicator.hpp"
#include "transport/waiting.hpp"
#include "measured.hpp"
#include "workload.hpp"

namespace shoal::bench {

// A hand-written spread-out exchange, as good as it gets on one page.
class hand_loop {
 public:
  hand_loop(MPI_Comm comm, int rank, int ranks, wait_mode mode)
      : comm_(comm), rank_(rank), ranks_(ranks), wait_(mode) {}
  void run(workload& w);
  // Waits for these messages in the way in which Shoal waits.
  void end(std::vector<MPI_Request>& all);

 private:
  MPI_Comm comm_;
  int rank_, ranks_;
  waiting wait_;
  std::vector<MPI_Request> requests_;
  std::vector<int> ended_;
};

class all_to_all final : public measured {
 public:
  all_to_all(workload blocks, hand_loop& hand, wait_mode mode) : w_(std::move(blocks)), hand_(hand), wait_(mode) {}
  ~all_to_all() override;
  all_to_all(const all_to_all&) = delete;
  all_to_all& operator=(const all_to_all&) = delete;

  static bool only_uniform(const std::string& variant);
  bool takes(const std::string& variant) const override { return w_.uniform() || !only_uniform(variant); }
  void make_ready(const std::string& variant, MPI_Comm comm) override;
  void run(const std::string& variant, MPI_Comm comm) override;
  int calls_until_settled() const override { return 25; }
  const phase_clock* phases(MPI_Comm comm) const override;

  void fill() override { w_.fill(); }
  std::string wrong() const override { return w_.wrong(); }

 private:
  int block() const { return w_.uniform() ? w_.send_counts[0] : 0; }
  void native(MPI_Comm comm);
  void nonblocking(MPI_Comm comm);
  void make_natives_ready(MPI_Comm comm);
  void end(MPI_Request& request);
  void choose(MPI_Comm comm);
  void shoals(MPI_Comm comm);

  workload w_;
  hand_loop& hand_;
  waiting wait_;
  std::map<std::string, shoal_request> requests_;  // persistent, by variant
  MPI_Request natives_ = MPI_REQUEST_NULL;         // the MPI's own persistent request
  block_storage blocks_;
};

}  // namespace shoal::bench
