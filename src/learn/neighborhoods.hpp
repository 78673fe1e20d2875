// The neighbourhoods that serve the exchanges among neighbours on one of the user's communicators: one for each form,
// because an MPI may match several edges between two ranks differently in different forms.
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
  // `set` must outlive this.
  neighborhoods(MPI_Comm users, const settings& set) : users_(users), set_(set) {}

  // The neighbourhood of a form, if Shoal serves some exchanges of that form; else null.
  const std::shared_ptr<neighborhood>& of(call_form form) const { return made_[form]; }
  // The same, made on first use; collective. Returns null, on every rank, if the ranks can make no graph of their
  // neighbours. The call that tried to make one sets `why`.
  const std::shared_ptr<neighborhood>& make(communicator& over, call_form form, std::string& why);

 private:
  MPI_Comm users_;
  const settings& set_;
  by_form<std::shared_ptr<neighborhood>> made_;
  by_form<bool> has_no_graph_{};
};

}  // namespace shoal
