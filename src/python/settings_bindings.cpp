// The settings, and what the core finds out about this process; part of shoal._core.
#include "python/settings_bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "select/settings.hpp"
#include "transport/core_quota.hpp"

namespace nb = nanobind;
using namespace shoal;

namespace {

std::optional<int> quota_of(const std::string& root) {
  const int cores = quota_cores(0, root);
  return cores > 0 ? std::optional(cores) : std::nullopt;
}

nb::list list_of_settings() {
  nb::list all;
  for (const setting& one : all_settings()) all.append(nb::cast(&one, nb::rv_policy::reference));
  return all;
}

void require_value(const setting& one, const std::string& value) {
  settings scratch;
  one.set(scratch, value);
}

}  // namespace

void bind_settings(nb::module_& m) {
  nb::class_<setting>(m, "Setting")
      .def_ro("name", &setting::name)
      .def_prop_ro("variable", &setting::variable)
      .def_ro("takes", &setting::takes)
      .def_ro("help", &setting::help)
      .def_ro("is_key", &setting::is_key)
      .def("require", require_value, nb::arg("value"));
  m.def("settings", list_of_settings);
  m.def("quota_cores", quota_of, nb::arg("root") = "/");
}
