// Who may serve the calls on one of the user's communicators, and why Shoal may not. Whatever decides by the standing
// changes it in the same calls on every rank.
#pragma once

#include <mpi.h>

#include <string>

#include "learn/rank_terms.hpp"
#include "team/errors.hpp"

namespace shoal {

struct standing {
  // cold: the MPI's own serves. voting: the ranks find out whether Shoal serves all of them, with the same settings.
  // known: it does. served: candidates may be tried. never: Shoal may not serve.
  enum class stage { cold, voting, known, served, never };

  stage now = stage::cold;
  std::string why;        // why the MPI's own serves, or why Shoal serves only some calls
  bool is_wrong = false;  // the settings cannot be followed, which the user should know
  agreed_terms agreed;    // what the ranks said when the stage became known, or when what Shoal needs was made
  bool knows = false;     // what earlier jobs learnt is the same on every rank
  double load = 0;        // bytes that a rank sends in the first call, as all ranks have agreed; 0: they have not

  // From now on Shoal never serves. If nothing is wrong with the settings, the user is told at once, since no later
  // call will tell.
  void refuse(MPI_Comm comm, const std::string& reason, bool wrong) {
    now = stage::never;
    why = reason;
    is_wrong = wrong;
    if (!wrong) warn_once(comm, why);
  }
};

}  // namespace shoal
