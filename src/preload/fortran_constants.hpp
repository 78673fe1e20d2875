// Fortran's MPI_IN_PLACE and MPI_BOTTOM, which are addresses of common blocks. Every library that is built with Open
// MPI's mpif.h has such blocks of its own. In a program all blocks of the same name become one block. But a library
// that is loaded for itself alone (RTLD_LOCAL), as modules of Python are, keeps its own blocks.
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

  // A buffer's address as C names it: C's constant for a constant of Fortran, else the address itself.
  void* in_c(void* address) {
    const library_loads now = library_loads::so_far();
    if (!has_seen(now)) see(now, find());
    const std::scoped_lock alone(lock_);
    const auto it = constants_.find(address);
    return it == constants_.end() ? address : it->second;
  }

 private:
  // The names of the program and of all loaded libraries. The program's name is empty.
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

  using constants = std::map<const void*, void*>;

  bool has_seen(const library_loads& now) {
    const std::scoped_lock alone(lock_);
    return now == seen_;
  }
  void see(const library_loads& now, constants found) {
    const std::scoped_lock alone(lock_);
    seen_ = now;
    constants_ = std::move(found);
  }

  // Not under the lock: a library that is being loaded may call Shoal.
  static constants find() {
    constants found;
    for (const std::string& name : libraries()) {
      void* const library = dlopen(name.empty() ? nullptr : name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
      if (!library) continue;
      find_in(library, found);
      dlclose(library);
    }
    return found;
  }

  // Finds the constants under all names that compilers may give them.
  static void find_in(void* library, constants& found) {
    const auto are = [&](std::initializer_list<const char*> names, void* constant) {
      for (const char* name : names)
        if (const void* const block = dlsym(library, name)) found[block] = constant;
    };
    are({"mpi_fortran_in_place", "mpi_fortran_in_place_", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"},
        MPI_IN_PLACE);
    are({"mpi_fortran_bottom", "mpi_fortran_bottom_", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"}, MPI_BOTTOM);
  }

  std::mutex lock_;
  library_loads seen_;
  constants constants_;
};

}  // namespace shoal
