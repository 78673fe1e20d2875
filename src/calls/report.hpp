// What was exchanged, how, and how long it took: the answer to "which algorithm ran?".
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "select/ledger.hpp"
#include "team/usage.hpp"

namespace shoal {

class usage_report {
 public:
  void add(const std::string& collective, int ranks, const std::string& algorithm, const usage& what);
  // What is added from now on belongs to another communicator.
  void begin_communicator() { ++communicators_; }
  // What was tried for blocks of about `block_bytes` bytes on a communicator, and why it was kept or dropped.
  void add_finding(const std::string& collective, int ranks, double block_bytes, const std::string& text);
  // Calls that were not Shoal's to serve, and why.
  void add_left(const std::string& call, const std::string& reason, std::int64_t calls, double seconds);
  // `bytes`: exchanges whose bytes were all compared. `sums`: those of requests, whose blocks' checksums were compared.
  void add_verified(const usage& bytes, const usage& sums) {
    verified_.add(bytes);
    verified_by_sums_.add(sums);
  }
  bool empty() const { return rows_.empty() && left_.empty(); }
  // A table with the longest times first, what was tried, and what learning cost and gained. `rank`: this one, in the
  // world.
  void print(std::ostream& out, int rank, const ledger& books) const;
  // The same for programs: one object, with times in seconds.
  void write_json(std::ostream& out, int rank, const ledger& books) const;

 private:
  using row = std::map<std::tuple<std::string, int, std::string>, usage>::const_iterator;

  double in_calls() const;  // seconds
  std::vector<row> by_time() const;
  void print_usage(std::ostream& text, int rank) const;
  void print_left(std::ostream& text, int rank) const;
  void print_verified(std::ostream& text) const;
  void print_findings(std::ostream& text) const;

  std::map<std::tuple<std::string, int, std::string>, usage> rows_;
  // How many communicators of a shape there were, and what the last one told.
  struct finding {
    int communicators = 0, last = 0;
    std::string text;
  };

  int communicators_ = 0;
  std::map<std::string, finding> findings_;                    // by shape
  std::map<std::pair<std::string, std::string>, usage> left_;  // by call and reason
  usage verified_, verified_by_sums_;
};

}  // namespace shoal
