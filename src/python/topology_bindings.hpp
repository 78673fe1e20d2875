#pragma once

#include <nanobind/nanobind.h>

void bind_topology(nanobind::module_& m);
