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

// What is known of a call before it is served. `bytes` is the size of one block in MPI_Alltoall, which is the same on
// every rank; in other calls it is all that this rank sends.
struct call_size {
  call_form form;
  std::int64_t bytes;
  bool receives_from_all;   // this rank needs data from all others, so it cannot be ahead of them
  std::int64_t copied = 0;  // bytes sent in place: Shoal copies them, and there may be no memory for that
};

struct exchange_field {
  contest trials;
  bool is_open = false;       // its contest may try candidates
  bool may_be_ahead = false;  // in the field's last call this rank might be ahead of others
  std::int64_t copied = 0;    // in that call, as in call_size
  exchange_shape shape;
  double load = 0;         // bytes that this rank sends in an exchange
  double loads = 0;        // bytes that it sent in all exchanges counted in `calls`
  std::int64_t young = 0;  // of the first field: calls before it, of which only counts were kept
  std::int64_t guess = 0;  // guess_of() what was best for such exchanges elsewhere in the job; 0: not known
  std::array<decision, contest::most_candidates> decisions;
  std::array<double, contest::most_candidates> seconds{};  // and calls, by candidate, on this rank, for the report
  std::array<std::int64_t, contest::most_candidates> calls{};
  std::int64_t bytes = 0;  // sent in calls that the MPI's own served

  // Counts an exchange that has ended, also in the contest. Begins no review. `now`: a time in seconds.
  void add(int candidate, double took, double now);
  // The same, but without the contest.
  void note(int candidate, double took);
  // Bytes that this rank sends on average in a counted exchange.
  double mean_load() const;
  // One line about which of these candidates were tried, what they took, and which was kept.
  std::string summary(std::span<const std::string> specs) const;
};

class exchange_fields {
 public:
  exchange_fields(collective what, int ranks) : what_(what), ranks_(ranks) {}

  // Whether all ranks know how large exchanges of this form are. In exchanges among neighbours they never do, because
  // some ranks may have no neighbours.
  bool are_known_sizes(call_form form) const { return what_ == collective::alltoall && form == call_form::equal; }

  // Bytes that this rank sends in the call.
  double load_of(const call_size& call) const;
  // The shape of exchanges of this form. `load`: bytes that a rank sends in one exchange; `nodes`: the number of nodes
  // that the ranks are on; 0: it is not known.
  exchange_shape shape_of(call_form form, double load, int nodes) const {
    return {what_, form, ranks_, nodes, size_class(what_, load, ranks_)};
  }
  // The field of the next call, which is counted. `is_new` becomes true if the field was made for this call; its shape
  // is not set then.
  exchange_field& of_next(const call_size& call, bool& is_new);
  // The field of the next call, if what all ranks know of the call tells which field that is; else null. Counts
  // nothing. `bytes`: the size of a block in MPI_Alltoall.
  [[gnu::hot]] exchange_field* known(call_form form, std::int64_t bytes);
  // Takes the last call of of_next() out of the count.
  void take_back(call_form form) {
    if (!are_known_sizes(form)) sizes_.take_back();
  }
  // Removes the field.
  void forget(const exchange_field& f);
  // Whether an exchange of MPI_Alltoall with blocks of `bytes` bytes would belong to the same field as the last
  // exchange.
  bool is_as_last(std::int64_t bytes) const;
  // Whether sizes follow a pattern, for the forms whose sizes ranks do not know of each other. write_pattern() says
  // which patterns this rank sees; agree_on_pattern() hears the same of all ranks, and returns false if there is none
  // that all of them see.
  void write_pattern(std::span<std::int64_t> no) const { sizes_.write(no); }
  bool agree_on_pattern(std::span<const std::int64_t> no) { return sizes_.agreed(no); }

  // In the same order on every rank and in the report: first the fields of MPI_Alltoall by size, then the others.
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }
  // Bytes that this rank sends in the largest exchanges that are not rare.
  double largest_usual_load() const;

 private:
  std::uint64_t key_of_next(const call_size& call);
  static std::uint64_t key_of(call_form form, std::uint64_t place);

  exchange_field* last_ = nullptr;
  std::uint64_t last_key_ = 0;
  collective what_;
  int ranks_;
  std::map<std::uint64_t, exchange_field> all_;
  size_pattern sizes_;  // of the forms whose sizes ranks do not know of each other
};

}  // namespace shoal
