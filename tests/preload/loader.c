/* Loads a library with RTLD_LOCAL, as Python loads its modules, and runs its main_of_library(): loader LIBRARY
 * [argument]. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  void *const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
  int (*const run)(int, char **) = (int (*)(int, char **))dlsym(library, "main_of_library");
  return run(argc - 1, argv + 1);
}
