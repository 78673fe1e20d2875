// What it costs to make what Shoal needs on a communicator, how much that may gain, and whether it pays.
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

// Its answers are the same on every rank if they depend only on what all ranks have agreed on.
class investment {
 public:
  // All that this refers to must outlive it.
  investment(job_state& job, collective what, int ranks, const agreements& among, const offered_memory& memory)
      : job_(job), what_(what), ranks_(ranks), among_(among), memory_(memory) {}

  // Seconds that it takes to make what Shoal needs.
  double cost(const agreed_terms& all) const;
  // Seconds that the first seconds_of_trials after that take: of one candidate inside a node, of several between nodes.
  double seconds_of_trials(const agreed_terms& all) const;
  // Seconds that may be gained, as far as this rank knows, if as many calls follow as there were of field `f`; or as
  // there were of all fields, if the job knows no times of such exchanges.
  double hope_of(const exchange_field& f, const exchange_fields& all) const;
  bool pays(const agreed_terms& all) const;
  // Whether it pays already in the second round of a vote.
  bool pays_at_once(const agreed_terms& all) const;
  // On the first rank, which makes memory for all: whether it may offer memory in that round, as far as it knows.
  bool may_offer_memory(const agreed_terms& all) const;
  // After `calls` calls: how many more have to follow until it may pay. Empty unless more hope is all that is missing.
  std::optional<int> calls_until_hope(const agreed_terms& all, std::int64_t calls) const;
  // What a profile knows of such exchanges; or else what earlier jobs know, if they promise to gain more than the cost.
  // Empty if there is nothing to go by.
  std::optional<knowledge::shape_times> expected(const exchange_field& f, const profile* from,
                                                 const agreed_terms& all) const;

 private:
  int met_by(const exchange_field& f, int here) const;
  bool is_on_one_node(const agreed_terms& all) const;

  job_state& job_;
  collective what_;
  int ranks_;
  const agreements& among_;
  const offered_memory& memory_;
};

}  // namespace shoal
