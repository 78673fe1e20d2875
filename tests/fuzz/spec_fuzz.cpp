// Specs such as tuna:radix=3 on some ranks. One that is accepted means the same when it is written and read again, and
// its schedules pass the checker. The first byte gives the number of ranks, the second how many of them send.
#include "algorithms/algorithm.hpp"
#include "fuzz.hpp"
#include "schedule/checker.hpp"

using namespace shoal;
using fuzz::require;

namespace {

// Messages in many segments are made and checked in the same way as those in few, but that takes minutes.
bool takes_minutes(const arguments& with) {
  return with.values().contains("segments") && with.number("segments", 1) > 500;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  problem at;
  at.ranks = 1 + data[0] % 24;
  const int senders = data[1] % at.ranks;
  at.senders = senders;
  const collective what = senders ? collective::allgather : collective::alltoall;
  const auto spec = fuzz::parsed([&] { return parse_selection(fuzz::text(data + 2, size - 2), what); });
  if (!spec) return 0;
  require(parse_selection(to_string(*spec), what) == *spec);
  if (!spec->which->generate || takes_minutes(spec->with)) return 0;
  const auto programs = fuzz::parsed([&] { return generate_all(*spec, at); });
  if (!programs) return 0;
  const int parts = (*programs)[0].parts;
  const meaning means =
      senders ? allgather_meaning(senders, at.ranks - senders, parts) : alltoall_meaning(at.ranks, parts);
  require(!check(*programs, means));
  return 0;
}
