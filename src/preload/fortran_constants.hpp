// Fortran's MPI_IN_PLACE and MPI_BOTTOM, which are addresses of common blocks. Every library that is built with Open MPI's
// mpif.h has such blocks of its own. In a program all of a name are one; a library that is loaded for itself alone (RTLD_LOCAL),
// as modules of Python are, keeps its own.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "team/loaded_libraries.hpp"

namespace shoal {

class fortran_constants {
 public:
  // Never destroyed: also used at exit.
  static fortran_constants& get() {
    static auto* const all = new fortran_constants;
    return *all;
  }

  // A buffer as C names it.
  void* in_c(void* address) {
    const std::scoped_lock alone(lock_);
    if (const auto now = library_loads::so_far(); now != seen_) find(now);
    const auto it = constants_.find(address);
    return it == constants_.end() ? address : it->second;
  }

 private:
  // The program has no name.
  static std::vector<std::string> libraries() {
    std::vector<std::string> all;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* to) {
          static_cast<std::vector<std::string>*>(to)->emplace_back(object->dlpi_name);
          return 0;
        },
        &all);
    return all;
  }

  void find(const library_loads& now) {
    constants_.clear();
    for (const std::string& name : libraries()) {
      void* const library = dlopen(name.empty() ? nullptr : name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
      if (!library) continue;
      find_in(library);
      dlclose(library);
    }
    seen_ = now;
  }

  // Under all names that compilers may give them.
  void find_in(void* library) {
    const auto are = [&](std::initializer_list<const char*> names, void* constant) {
      for (const char* name : names)
        if (const void* const block = dlsym(library, name)) constants_[block] = constant;
    };
    are({"mpi_fortran_in_place", "mpi_fortran_in_place_", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"},
        MPI_IN_PLACE);
    are({"mpi_fortran_bottom", "mpi_fortran_bottom_", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"}, MPI_BOTTOM);
  }

  std::mutex lock_;
  library_loads seen_;
  std::map<const void*, void*> constants_;
};

}  // namespace shoal
