// The kinds and sizes of exchange on one communicator: each is a field with a contest of its own.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "learn/decision.hpp"
#include "select/call_form.hpp"
#include "select/contest.hpp"
#include "select/knowledge.hpp"
#include "select/size_pattern.hpp"

namespace shoal {

// What is known of a call before it is served: of MPI_Alltoall the bytes of a block, which are the same on every rank; of
// others all that this rank sends.
struct call_size {
  call_form form;
  std::int64_t bytes;
  bool meets_all;           // this rank cannot be ahead of any other
  std::int64_t copied = 0;  // bytes that Shoal needs more memory for, which the program may not have: those in place
};

struct exchange_field {
  contest of;
  bool is_open = false;     // to candidates
  bool is_loose = false;    // in its last call this rank might be ahead of others
  std::int64_t copied = 0;  // in that, as of call_size
  exchange_shape shape;
  double load = 0;         // bytes that this rank sends in an exchange
  double loads = 0;        // in all that are counted in `calls`
  std::int64_t young = 0;  // calls before it, of which only counts were kept: told with those of the first field
  std::int64_t guess = 0;  // the hash of what was best for such exchanges elsewhere in the job, as it is said
  std::array<decision, contest::most_candidates> decisions;
  std::array<double, contest::most_candidates> seconds{};  // and calls, on this rank, for the report
  std::array<std::int64_t, contest::most_candidates> calls{};
  std::int64_t bytes = 0;  // sent by the MPI's own

  // Counts an exchange that has ended, and reviews nothing.
  void add(int candidate, double took);
  // For the report alone.
  void note(int candidate, double took);
  // Bytes that this rank sends in a counted exchange, on average.
  double mean_load() const;
  // What was tried among these candidates, in one line.
  std::string told(std::span<const std::string> specs) const;
};

class exchange_fields {
 public:
  exchange_fields(collective what, int ranks) : what_(what), ranks_(ranks) {}

  // Whether all ranks know how large such exchanges are. Neighbours may be of a rank that others know nothing of.
  bool are_known_sizes(call_form form) const { return what_ == collective::alltoall && form == call_form::equal; }

  // Bytes that this rank sends.
  double load_of(const call_size& call) const;
  // The shape of such exchanges. `load`: bytes that a rank sends in one; `nodes`: that the ranks are on.
  exchange_shape shape_of(call_form form, double load, int nodes) const {
    return {what_, form, ranks_, nodes, size_class(what_, load, ranks_)};
  }
  // The field of the next call, which is counted. `is_new`: it was made for this call, and its shape is not known yet.
  exchange_field& of_next(const call_size& call, bool& is_new);
  // The field of the next call, where it is known from what all ranks know of the call alone; else null. Counts nothing.
  // `bytes`: of a block, of MPI_Alltoall.
  [[gnu::hot]] exchange_field* known(call_form form, std::int64_t bytes);
  // The last of of_next() is counted no more.
  void take_back(call_form form) {
    if (!are_known_sizes(form)) sizes_.take_back();
  }
  // The field is no more.
  void forget(const exchange_field& f);
  // Whether such an exchange would be of the same field as the last one. `bytes`: of a block, of MPI_Alltoall.
  bool is_as_last(std::int64_t bytes) const;
  // Whether the sizes of the forms that ranks do not know of each other follow a pattern: of this rank, and of all.
  void write_pattern(std::span<std::int64_t> no) const { sizes_.write(no); }
  bool agree_on_pattern(std::span<const std::int64_t> no) { return sizes_.agreed(no); }

  // The same order on every rank, and in the report: those of MPI_Alltoall by size, then the others.
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }
  // Bytes that this rank sends in exchanges that are not rare: in the largest of them.
  double largest_usual_load() const;

 private:
  std::uint64_t key_of_next(const call_size& call);
  static std::uint64_t key_of(call_form form, std::uint64_t place);

  exchange_field* last_ = nullptr;
  std::uint64_t last_key_ = 0;
  collective what_;
  int ranks_;
  std::map<std::uint64_t, exchange_field> all_;
  size_pattern sizes_;  // of the others, as this rank knows them
};

}  // namespace shoal
