#include "learn/neighborhoods.hpp"

#include <stdexcept>

namespace shoal {

const std::shared_ptr<neighborhood>& neighborhoods::make(communicator& over, call_form form, std::string& why) {
  if (made_[form] || has_no_graph_[form]) return made_[form];
  try {
    made_[form] = std::make_shared<neighborhood>(over, users_, form, set_);
  } catch (const std::invalid_argument& error) {
    has_no_graph_[form] = true;
    why = error.what();
  }
  return made_[form];
}

}  // namespace shoal
