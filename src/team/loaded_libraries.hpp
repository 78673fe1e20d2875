// Whether libraries have been loaded into this process, or unloaded, since somebody looked for one.
#pragma once

#include <link.h>

#include <cstddef>

namespace shoal {

struct library_loads {
  unsigned long long added = 0, removed = 0;

  bool operator==(const library_loads&) const = default;

  // Takes some ten nanoseconds.
  static library_loads so_far() {
    library_loads all;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* to) {
          *static_cast<library_loads*>(to) = {object->dlpi_adds, object->dlpi_subs};
          return 1;  // the first one tells
        },
        &all);
    return all;
  }
};

}  // namespace shoal
