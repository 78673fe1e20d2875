#include "select/choose_between_groups.hpp"

#include <algorithm>
#include <vector>

#include "select/plain_text.hpp"

namespace shoal {

namespace {

struct candidate {
  std::string spec;
  double seconds;  // for all flows
};

// Fastest first; equally fast ones in the order of the model.
std::vector<candidate> candidates(std::span<const group_flow> flows, std::string_view network) {
  std::vector<candidate> all;
  for (const group_flow& flow : flows)
    for (const auto& p : predict_intergroup(flow.groups, network, flow.bytes, common_link))
      if (std::none_of(all.begin(), all.end(), [&](const candidate& c) { return c.spec == p.spec; }))
        all.push_back({p.spec, 0});
  for (candidate& c : all)
    for (const group_flow& flow : flows)
      c.seconds += seconds_of(parse_selection(c.spec, collective::allgather), flow.groups, flow.bytes, common_link);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return all;
}

std::string described(const std::vector<candidate>& all, std::span<const group_flow> flows) {
  constexpr std::size_t most_named = 3;
  double bytes = 0;
  for (const group_flow& flow : flows) bytes = std::max(bytes, flow.bytes);
  std::string line = "by the model, before anything is measured: ";
  for (std::size_t i = 0; i < std::min(most_named, all.size()); ++i)
    line += (i == 0 ? "" : all[i].spec + " ") + with_decimals(all[i].seconds * 1e6, 1) + " us, ";
  return line + "for messages of " + with_decimals(bytes, 0) + " bytes";
}

}  // namespace

choice choose_between_groups(std::span<const group_flow> flows, std::string_view network) {
  const std::vector<candidate> all = candidates(flows, network);
  return {parse_selection(all[0].spec, collective::allgather), described(all, flows)};
}

}  // namespace shoal
