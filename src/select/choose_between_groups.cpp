#include "select/choose_between_groups.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace shoal {

namespace {

// The MPI's own collective has to be this much faster: a prediction is not more exact.
constexpr double native_margin = 0.95;
constexpr link_cost common_link{20e-6, 1e-9};
constexpr double least_startup = 1e-9;

// The plain schedule runs at this pace; more for large messages than for small ones even if measured otherwise.
double per_byte(double small_seconds, double large_seconds, const measured_direction& m) {
  return std::max(0.0, large_seconds - small_seconds) / static_cast<double>(m.large - m.small);
}

double native_seconds(const group_flow& flow) {
  const measured_direction& m = *flow.measured;
  const double more = std::max(0.0, flow.bytes - static_cast<double>(m.small));
  return m.native_small + per_byte(m.native_small, m.native_large, m) * more;
}

struct candidate {
  std::string spec;
  double seconds;  // for all flows
};

// Fastest first; of equals as the model has them.
std::vector<candidate> candidates(std::span<const group_flow> flows, std::string_view network) {
  std::vector<candidate> all;
  for (const group_flow& flow : flows)
    for (const auto& p : predict_intergroup(flow.groups(), network, flow.bytes, link_of(flow, network)))
      if (std::none_of(all.begin(), all.end(), [&](const candidate& c) { return c.spec == p.spec; }))
        all.push_back({p.spec, 0});
  for (candidate& c : all)
    for (const group_flow& flow : flows)
      c.seconds +=
          seconds_of(parse_selection(c.spec, collective::allgather), flow.groups(), flow.bytes, link_of(flow, network));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return all;
}

candidate native_candidate(std::span<const group_flow> flows) {
  double sum = 0;
  for (const group_flow& flow : flows) sum += native_seconds(flow);
  return {"native", sum};
}

std::string described(const std::vector<candidate>& all, std::span<const group_flow> flows) {
  constexpr std::size_t most_named = 3;
  double bytes = 0;
  for (const group_flow& flow : flows) bytes = std::max(bytes, flow.bytes);
  std::string line = flows[0].measured ? "predicted " : "by the model, before anything is measured: ";
  char text[96];
  for (std::size_t i = 0; i < std::min(most_named, all.size()); ++i) {
    std::snprintf(text, sizeof text, "%.1f us, ", all[i].seconds * 1e6);
    line += (i == 0 ? "" : all[i].spec + " ") + text;
  }
  std::snprintf(text, sizeof text, "for messages of %.0f bytes", bytes);
  return line + text;
}

}  // namespace

problem group_flow::groups() const {
  problem at;
  at.ranks = senders + receivers;
  at.senders = senders;
  return at;
}

link_cost link_of(const group_flow& flow, std::string_view network) {
  if (!flow.measured) return common_link;
  const measured_direction& m = *flow.measured;
  const auto plain = parse_selection(plain_schedule(network), collective::allgather);
  const intergroup_cost cost = cost_of(plain, flow.groups());
  const double byte = per_byte(m.plain_small, m.plain_large, m) / cost.volume;
  const double startup = m.plain_small / static_cast<double>(cost.steps);
  const double small = static_cast<double>(m.small) * byte;
  return {std::max(least_startup, startup - cost.volume * small / static_cast<double>(cost.steps)), byte};
}

choice choose_between_groups(std::span<const group_flow> flows, std::string_view network) {
  std::vector<candidate> all = candidates(flows, network);
  if (flows[0].measured) {
    const candidate native = native_candidate(flows);
    const bool ahead = native.seconds < native_margin * all[0].seconds;
    all.insert(all.begin() + !ahead, native);
  }
  return {parse_selection(all[0].spec, collective::allgather), described(all, flows)};
}

}  // namespace shoal
