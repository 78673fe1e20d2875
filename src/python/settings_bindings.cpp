// What people set, and what the core finds out about this process.
#include "python/settings_bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "transport/core_quota.hpp"

namespace nb = nanobind;
using namespace shoal;

namespace {

std::optional<int> quota_of(const std::string& root) {
  const int cores = quota_cores(0, root);
  return cores > 0 ? std::optional(cores) : std::nullopt;
}

}  // namespace

void bind_settings(nb::module_& m) { m.def("quota_cores", quota_of, nb::arg("root") = "/"); }
