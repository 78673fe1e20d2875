// Allgathers between two groups: the first ranks send, the others receive.
#pragma once

#include "group_workload.hpp"
#include "measured.hpp"

namespace shoal::bench {

class between_groups final : public measured {
 public:
  between_groups(int senders, std::int64_t size, int rank) : w_(senders, size, rank) {}

  bool takes(const std::string&) const override { return true; }
  void make_ready(const std::string&, MPI_Comm) override {}
  void run(const std::string& variant, MPI_Comm comm) override;
  int calls_until_settled() const override { return 4; }
  const phase_clock* phases(MPI_Comm comm) const override;

  void fill() override { w_.fill(); }
  std::string wrong() const override { return w_.wrong(); }

 private:
  group_workload w_;
};

// Makes an inter-communicator of all ranks. Its two groups are the first `senders` ranks and the others.
MPI_Comm make_intercommunicator(int senders);

}  // namespace shoal::bench
