// Profiles. One that is accepted can be written, is the same when it is read again, and can be made into measurements.
#include "fuzz.hpp"
#include "select/profile.hpp"

using namespace shoal;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto found = fuzz::parsed([&] { return parse_profile(fuzz::text(data, size), "profile.toml"); });
  if (!found) return 0;
  const std::string written = to_toml(*found);
  require(to_toml(parse_profile(written, "again.toml")) == written);
  for (const auto& table : found->kinds)
    if (table) table->measured("profile.toml", found->ranks);
  return 0;
}
