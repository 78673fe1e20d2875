#include "model/intergroup.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "algorithms/ring_routes.hpp"

namespace shoal {

int least_rounds(int p, int q) { return std::max(ceil_log2(p + 1), ceil_log2(q + 1)); }

// The middle receiver is ceil(q/2) hops from the nearest sender. With one sender at most two ranks get the message in
// a step.
int least_ring_steps(int p, int q) { return p == 1 && q % 2 == 0 ? q / 2 + 1 : p + ceil_div(q, 2) - 1; }

std::int64_t ring_traffic(int p, int q) {
  std::int64_t sum = std::int64_t{p} * q;
  for (int j = 0; j < p; ++j) {
    const int served_upwards = std::clamp(2 * j + 1 - p + ceil_div(q, 2), 0, q);
    sum += (served_upwards > 0 ? p - 1 - j : 0) + (served_upwards < q ? j : 0);
  }
  return sum;
}

// ---- costs -----------------------------------------------------------------------------------------------------

namespace {

struct groups {
  int p, q;
};

intergroup_cost full_cost(groups g, const arguments& with) {
  const int n = ceil_div(g.q, g.p) + 1;
  const int gather = with.word("allgather") == "ring" ? g.p - 1 : ceil_log2(g.p);
  if (with.word("spread") == "binomial" || g.q <= g.p) return {ceil_log2(n) + gather, ceil_log2(n) + g.p - 1.0};
  // Where p does not divide q some lists are one shorter, and their root has two of the n parts to give away.
  const int uneven = g.q % g.p == 0 ? 0 : std::bit_width(static_cast<unsigned>(n - 1)) - 1;
  return {2 * ceil_log2(n) + gather, (2.0 * (n - 1) + uneven) / n + g.p - 1};
}

// A window of w positions on the circle has at most ceil(w p / (p+q)) senders.
intergroup_cost circulant_cost(groups g, const arguments&) {
  const std::int64_t n = g.p + g.q;
  intergroup_cost sum;
  for (std::int64_t distance = 1; distance < n; distance *= 2) {
    ++sum.steps;
    sum.volume += static_cast<double>((std::min(distance, n - distance) * g.p + n - 1) / n);
  }
  return sum;
}

intergroup_cost ring_cost(groups g, const arguments& with) {
  const int segments = with.number("segments", 1);
  const int steps = optimal_ring(g.p, g.q, segments).steps();
  return {steps, static_cast<double>(steps) / segments};
}

intergroup_cost ring_paper_cost(groups g, const arguments&) {
  const int steps = paper_ring(g.p, g.q).steps();
  return {steps, static_cast<double>(steps)};
}

intergroup_cost union_ring_cost(groups g, const arguments&) { return {g.p + g.q - 1, g.p + g.q - 1.0}; }

intergroup_cost torus_cost(groups g, const arguments& with) {
  const std::vector<int> shape = with.list("shape");
  const int row = (g.p + g.q) / shape[0], sender_rows = g.p / row;
  const int down = optimal_ring(sender_rows, shape[0] - sender_rows).steps();
  intergroup_cost cost{down, static_cast<double>(down + (row - 1) * sender_rows)};
  for (std::size_t d = 1; d < shape.size(); ++d) cost.steps += shape[d] - 1;
  return cost;
}

intergroup_cost root_gathering_cost(groups g, const arguments& with) {
  const int until_broadcast = ceil_log2(g.p) + 1, rounds = ceil_log2(g.q);
  const double p = g.p;
  if (with.word("broadcast") == "binomial") return {until_broadcast + rounds, 2 * p - 1 + p * rounds};
  return {until_broadcast + 2 * rounds, 2 * p - 1 + 2 * p * (g.q - 1) / g.q};
}

constexpr struct {
  std::string_view name;
  intergroup_cost (*cost)(groups, const arguments&);
} formulas[] = {{"full", full_cost},
                {"circulant", circulant_cost},
                {"ring", ring_cost},
                {"ring_paper", ring_paper_cost},
                {"union_ring", union_ring_cost},
                {"torus", torus_cost},
                {"root_gathering", root_gathering_cost}};

}  // namespace

intergroup_cost cost_of(const selection& chosen, const problem& at) {
  for (const auto& [name, cost] : formulas)
    if (name == chosen.which->name) return cost({at.senders, at.ranks - at.senders}, chosen.with);
  throw std::invalid_argument("no cost formula for " + chosen.which->name + " between two groups");
}

// ---- choice ----------------------------------------------------------------------------------------------------

namespace {

double seconds_of(intergroup_cost cost, bool paced, double bytes, const link_cost& link) {
  constexpr double unpaced = 1.05;
  if (paced) cost.steps *= 2;
  else if (cost.steps > 1) cost.volume *= unpaced;
  return static_cast<double>(cost.steps) * link.startup + cost.volume * bytes * link.per_byte;
}

}  // namespace

double seconds_of(const selection& chosen, const problem& at, double bytes, const link_cost& link) {
  const auto& given = chosen.with.values();
  const bool paced = given.contains("paced") && given.at("paced") == "yes";
  return seconds_of(cost_of(chosen, at), paced, bytes, link);
}

std::string plain_schedule(std::string_view network) {
  if (network == "full" || network == "ring") return std::string(network);
  constexpr std::string_view torus = "torus:";
  if (network.substr(0, torus.size()) == torus) return "torus:shape=" + std::string(network.substr(torus.size()));
  throw std::invalid_argument("'" + std::string(network) + "' is not a network; there are full, ring and " +
                              "torus:ROWSxCOLUMNS, as in torus:4x8");
}

void check_network(std::string_view network) { parse_selection(plain_schedule(network), collective::allgather); }

namespace {

constexpr int most_segments_tried = 4096;

// Of all layouts the one-way ring gains most from segments, until p s startups outweigh the q segments under way.
int best_segments(groups g, bool paced, double bytes, const link_cost& link) {
  const double balance = std::sqrt(g.q * bytes * link.per_byte / (g.p * link.startup));
  const double most = std::min({bytes, balance + 2, double{most_segments_tried}});
  int best = 1;
  double least = HUGE_VAL;
  for (int segments = 1; segments == 1 || segments <= most; ++segments) {
    const int steps = optimal_ring(g.p, g.q, segments).steps();
    const double seconds = seconds_of({steps, static_cast<double>(steps) / segments}, paced, bytes, link);
    if (seconds < least) best = segments;
    least = std::min(least, seconds);
  }
  return best;
}

// On a fully connected network the ring serves many receivers of long messages: its volume is p and a few segments.
std::vector<std::string> candidates(groups g, std::string_view network, double bytes, const link_cost& link) {
  const auto ring = [&](bool paced) {
    const int segments = best_segments(g, paced, bytes, link);
    return "ring:segments=" + std::to_string(segments) + (paced ? ",paced=yes" : "");
  };
  if (network == "full")
    return {"full",      "full:paced=yes", "full:spread=split", "full:spread=split,paced=yes",   "circulant",
            ring(false), ring(true),       "root_gathering",    "root_gathering:broadcast=split"};
  if (network == "ring") return {ring(false), ring(true), "ring_paper", "union_ring"};
  return {plain_schedule(network)};
}

std::string time_text(double seconds) {
  const bool micro = seconds < 1e-3, milli = seconds < 1;
  char text[32];
  const char* unit = micro ? "us" : milli ? "ms" : "s";
  std::snprintf(text, sizeof text, "%.3g %s", seconds * (micro ? 1e6 : milli ? 1e3 : 1), unit);
  return text;
}

std::string describe(const intergroup_prediction& p) {
  char volume[32];
  std::snprintf(volume, sizeof volume, "%.4g", p.cost.volume);
  const std::string steps = std::to_string(p.cost.steps);
  return p.spec + " " + time_text(p.seconds) + " (" + steps + " steps, " + volume + " messages deep)";
}

}  // namespace

std::vector<intergroup_prediction> predict_intergroup(const problem& at, std::string_view network, double bytes,
                                                      const link_cost& link) {
  if (const auto reason = refuses_groups(at, {})) throw std::invalid_argument(*reason);
  std::vector<intergroup_prediction> found;
  for (const std::string& spec : candidates({at.senders, at.ranks - at.senders}, network, bytes, link)) {
    const selection chosen = parse_selection(spec, collective::allgather);
    const auto reason = chosen.which->refuses(at, chosen.with);
    if (reason) throw std::invalid_argument("network " + std::string(network) + ": " + *reason);
    found.push_back({to_string(chosen), cost_of(chosen, at), seconds_of(chosen, at, bytes, link)});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return found;
}

std::string explain(const std::vector<intergroup_prediction>& predictions) {
  std::string text = describe(predictions.at(0));
  if (predictions.size() > 1) text += "; next " + describe(predictions[1]);
  return text;
}

}  // namespace shoal
