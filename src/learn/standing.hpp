// Who may serve the calls on one of the user's communicators, and why Shoal may not. All that decides by it changes it in the
// same calls on every rank.
#pragma once

#include <mpi.h>

#include <string>

#include "learn/rank_terms.hpp"
#include "team/errors.hpp"

namespace shoal {

struct standing {
  // cold: the MPI's own serves. voting: the ranks find out whether all of them are served by Shoal, and alike. known: they
  // are. served: candidates are open. never: not to be served.
  enum class stage { cold, voting, known, served, never };

  stage now = stage::cold;
  std::string why;        // the MPI's own serves, or all that Shoal could
  bool is_wrong = false;  // what is set cannot be done, which the user should know
  agreed_terms agreed;    // what the ranks said when they became known, or when what Shoal needs was made
  bool knows = false;     // what earlier jobs learnt is the same on every rank
  double load = 0;        // bytes that a rank sends in the first call, as all have agreed; 0: they have not

  // For good. Where nothing is wrong with the settings that is said at once, since no call will tell.
  void refuse(MPI_Comm comm, const std::string& reason, bool wrong) {
    now = stage::never;
    why = reason;
    is_wrong = wrong;
    if (!wrong) warn_once(comm, why);
  }
};

}  // namespace shoal
