#include "model/hockney.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "algorithms/radix.hpp"
#include "model/best_radices.hpp"

namespace shoal {

namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Blocks of several digits are packed to leave and unpacked where they arrive; the linear exchange moves its
// messages straight from buffer to buffer.
flat_load radix_load(const digit_system& system, std::int64_t inflight) {
  flat_load load;
  for (int x = 0; x < system.digits(); ++x) load.waves += divide_up(system.steps_of_digit(x), inflight);
  load.messages = system.steps();
  load.metadata_messages = system.passing_steps();
  load.blocks = system.blocks();
  load.copied_blocks = system.digits() > 1 ? load.blocks + system.ranks() - 1 : 0;
  return load;
}

// The rotated copy of the send buffer, which is put back in order at the end unless it was permuted so as to be final.
flat_load bruck_load(const digit_system& system, bool modified) {
  flat_load load = radix_load(system, 1);
  load.metadata_messages = 0;
  load.copied_blocks = load.blocks + system.ranks() - 1 + std::int64_t{system.ranks()} * (modified ? 1 : 2);
  return load;
}

flat_load two_phase_load(const digit_system& system) {
  flat_load load = radix_load(system, 1);
  load.metadata_messages = load.messages;
  return load;
}

flat_load linear_load(std::int64_t ranks, std::int64_t block_count) {
  return {divide_up(ranks - 1, block_count), ranks - 1, 0, ranks - 1, 0};
}

std::string join(const std::vector<int>& radices) {
  std::string text;
  for (int r : radices) text += (text.empty() ? "" : "x") + std::to_string(r);
  return text;
}

// The top radix does not matter as long as it is large enough.
std::string tuna_spec(const std::vector<int>& radices) {
  const auto top = radices.end() - 1;
  const bool single = std::all_of(radices.begin(), top, [&](int r) { return r == radices[0]; }) && *top <= radices[0];
  return single ? "tuna:radix=" + std::to_string(radices[0]) : "tuna:radices=" + join(radices);
}

prediction predicted(const std::string& spec, const flat_load& load, double block_bytes, const hockney& machine) {
  const double time = seconds(load, block_bytes, machine);
  char text[100];
  std::snprintf(text, sizeof text, ": %lld messages, %lld blocks of %.4g bytes, %.4g us",
                static_cast<long long>(load.messages), static_cast<long long>(load.blocks), block_bytes, time * 1e6);
  return {spec, time, spec + text};
}

}  // namespace

std::optional<flat_load> flat_load_of(const selection& chosen, int ranks) {
  const std::string& name = chosen.which->name;
  if (name == "tuna") return radix_load(chosen_system(ranks, chosen.with), chosen.with.number("inflight", ranks));
  if (name == "bruck") return bruck_load(chosen_system(ranks, chosen.with), chosen.with.word("variant") == "modified");
  if (name == "two_phase") return two_phase_load({ranks, 2});
  if (name == "scattered") return linear_load(ranks, chosen.with.number("block_count", ranks));
  if (name == "spread_out" || name == "linear") return linear_load(ranks, ranks);
  if (name == "pairwise" || name == "exclusive_or") return linear_load(ranks, 1);
  return std::nullopt;
}

double seconds(const flat_load& load, double block_bytes, const hockney& machine) {
  return machine.latency * static_cast<double>(load.waves) + machine.per_message * static_cast<double>(load.messages) +
         machine.per_metadata * static_cast<double>(load.metadata_messages) +
         block_bytes * (machine.per_byte * static_cast<double>(load.blocks) +
                        machine.per_copied_byte * static_cast<double>(load.copied_blocks));
}

prediction best_flat(int ranks, double mean_block_bytes, const hockney& machine) {
  const digit_cost cost{machine.latency, machine.per_message,
                        mean_block_bytes * (machine.per_byte + machine.per_copied_byte), machine.per_metadata};
  const std::vector<int> radices = best_radices(ranks, cost).radices;
  prediction best = predicted("spread_out", linear_load(ranks, ranks), mean_block_bytes, machine);
  if (radices.size() < 2) return best;
  prediction other = predicted(tuna_spec(radices), radix_load({ranks, radices}, ranks), mean_block_bytes, machine);
  if (other.seconds < best.seconds) std::swap(best, other);
  best.reason += "; " + other.reason;
  return best;
}

}  // namespace shoal
