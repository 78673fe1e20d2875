#pragma once

#include <nanobind/nanobind.h>

void bind_choices(nanobind::module_& m);
