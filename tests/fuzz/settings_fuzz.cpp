// Settings as the environment and SHOAL_CONFIG give them, each in a line "name value". They are accepted, or refused
// with a reason. Settings that name files are left out, because the contents of files have targets of their own.
#include <string>

#include "fuzz.hpp"
#include "select/settings.hpp"

using namespace shoal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text(data, size);
  settings all;
  while (!rest.empty()) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t space = line.find(' ');
    const std::string name = line.substr(0, space), value = space == line.npos ? "" : line.substr(space + 1);
    if (name == "topology" || name == "profile") continue;
    fuzz::parsed([&] { return all.set(name, value), true; });
  }
  fuzz::require(!all.canonical().empty() && hash_of(all.canonical()) == hash_of(all.canonical()));
  return 0;
}
