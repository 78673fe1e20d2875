// What serves the exchanges among the neighbours on one of the user's communicators: a neighbourhood for each form, since an
// MPI may match several edges between two ranks in another way in another form.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "learn/neighborhood.hpp"
#include "select/call_form.hpp"
#include "select/settings.hpp"

namespace shoal {

class neighborhoods {
 public:
  // `set` outlives them.
  neighborhoods(MPI_Comm users, const settings& set) : users_(users), set_(set) {}

  // That of a form of which some exchanges are served; else null.
  const std::shared_ptr<neighborhood>& of(call_form form) const { return made_[form]; }
  // The same, made on first use; collective. Null, on every rank, where the ranks can make no graph of their neighbours:
  // `why` is set when they have tried.
  const std::shared_ptr<neighborhood>& make(communicator& over, call_form form, std::string& why);

 private:
  MPI_Comm users_;
  const settings& set_;
  by_form<std::shared_ptr<neighborhood>> made_;
  by_form<bool> has_no_graph_{};
};

}  // namespace shoal
