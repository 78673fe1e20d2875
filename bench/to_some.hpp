// Exchanges whose receivers do not know who sends to them, or how much: shoal_exchange(), and what programs do by hand.
#pragma once

#include <shoal/shoal.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crystal_router.hpp"
#include "measured.hpp"
#include "nbx.hpp"

namespace shoal::bench {

// Every rank sends a block to a number of others ("partners:8"). Their distances are drawn at random, the same on all
// ranks. The variants are auto (shoal_exchange()), native (the MPI's MPI_Alltoall of the counts, then its
// MPI_Alltoallv), and, by hand, nbx and crystal.
class to_some final : public measured {
 public:
  to_some(int partners, std::int64_t bytes, int rank, int ranks, wait_mode mode);
  ~to_some() override { shoal_arrivals_free(&arrivals_); }
  to_some(const to_some&) = delete;
  to_some& operator=(const to_some&) = delete;

  // The number in a distribution's name, and at most the number of other ranks. Throws std::invalid_argument if there
  // is no such distribution.
  static int partners_of(const std::string& distribution, int ranks);
  static bool has(const std::string& variant);

  bool takes(const std::string&) const override { return true; }
  void make_ready(const std::string& variant, MPI_Comm comm) override;
  void run(const std::string& variant, MPI_Comm comm) override;
  int calls_until_settled() const override { return 1; }
  const phase_clock* phases(MPI_Comm) const override { return nullptr; }

  void fill() override {}
  std::string wrong() const override;

 private:
  void by_shoal(MPI_Comm comm);
  void with_counts(MPI_Comm comm);
  parcels all_parcels() const;
  std::vector<char> received() const;

  int rank_, ranks_;
  waiting wait_;
  std::vector<int> to_;
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Aint> at_;
  std::vector<char> data_, expected_;  // expected_: in the order of the senders' ranks
  std::optional<nbx> probing_;
  std::optional<crystal_router> crystal_;
  std::string last_;  // the variant that ran
  shoal_arrivals* arrivals_ = nullptr;
  std::vector<char> by_counts_;
  parcels by_hand_{0};
};

}  // namespace shoal::bench
