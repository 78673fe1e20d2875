// What it costs to make what Shoal needs on a communicator, what may be gained by that, and whether it pays.
#pragma once

#include <cstdint>
#include <optional>

#include "execute/offered_memory.hpp"
#include "learn/agreements.hpp"
#include "learn/exchange_fields.hpp"
#include "learn/job_state.hpp"
#include "learn/rank_terms.hpp"
#include "select/knowledge.hpp"
#include "select/profile.hpp"

namespace shoal {

// Of what all ranks have agreed on it says the same on every rank.
class investment {
 public:
  // All that it refers to outlives it.
  investment(job_state& job, collective what, int ranks, const agreements& among, const offered_memory& memory)
      : job_(job), what_(what), ranks_(ranks), among_(among), memory_(memory) {}

  // Seconds.
  double cost(const agreed_terms& all) const;
  // Of the first trials behind that, of one candidate in a node, of several between nodes.
  double trials(const agreed_terms& all) const;
  // Seconds, as far as this rank knows, if as many calls come as there were of a field, and of others on its communicator.
  double hope_of(const exchange_field& f, const exchange_fields& all) const;
  bool pays(const agreed_terms& all) const;
  // Whether it does already in the second round of a vote.
  bool pays_at_once(const agreed_terms& all) const;
  // As far as the first rank knows, which then makes memory for all.
  bool may_offer_memory(const agreed_terms& all) const;
  // Calls behind so many after which it may pay, where more hope is all that is missing; else none.
  std::optional<int> calls_until_hope(const agreed_terms& all, std::int64_t calls) const;
  // What is known of such exchanges by a profile, or else by earlier jobs, where that is worth its cost.
  std::optional<knowledge::of_shape> expected(const exchange_field& f, const profile* from,
                                              const agreed_terms& all) const;

 private:
  bool is_limited() const;
  bool is_on_one_node(const agreed_terms& all) const;

  job_state& job_;
  collective what_;
  int ranks_;
  const agreements& among_;
  const offered_memory& memory_;
};

}  // namespace shoal
