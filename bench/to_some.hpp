// Exchanges whose receivers do not know who sends, nor how much: shoal_exchange(), and what programs do by hand.
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

// Every rank sends a block to so many others ("partners:8"), at distances that all ranks draw alike. Variants: auto is
// shoal_exchange(), native the MPI's own alltoall of counts with its alltoallv, nbx and crystal are by hand.
class to_some final : public measured {
 public:
  to_some(int partners, std::int64_t bytes, int rank, int ranks, wait_mode mode);
  ~to_some() override { shoal_arrivals_free(&arrivals_); }
  to_some(const to_some&) = delete;
  to_some& operator=(const to_some&) = delete;

  // Of a distribution; at most all others. Throws std::invalid_argument.
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
  std::vector<char> data_, expected_;  // the latter by rank of its senders
  std::optional<nbx> probing_;
  std::optional<crystal_router> crystal_;
  std::string last_;  // the variant that ran
  shoal_arrivals* arrivals_ = nullptr;
  std::vector<char> by_counts_;
  parcels by_hand_{0};
};

}  // namespace shoal::bench
