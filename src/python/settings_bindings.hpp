#pragma once

#include <nanobind/nanobind.h>

void bind_settings(nanobind::module_& m);
