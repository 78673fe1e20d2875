#include "select/choose.hpp"

#include <algorithm>
#include <cstdio>

namespace shoal {

namespace {

// The MPI's own collective has to be this much faster: a prediction is not more exact.
constexpr double native_margin = 0.95;

std::string compared(const std::string& winner, double seconds, const std::string& other, double others_seconds, double block) {
  char text[160];
  std::snprintf(text, sizeof text, "; predicted %.1f us, %s %.1f us, for %.0f bytes a block on average", seconds * 1e6,
                other.c_str(), others_seconds * 1e6, block);
  return winner + text;
}

}  // namespace

choice choose_unmeasured(bool crowded) {
  const std::string why = "the first exchanges on a communicator, before any is measured";
  if (crowded) return {parse_selection("spread_out"), why + "; ranks outnumber cores"};
  return {parse_selection("native"), why};
}

choice choose(const measured_exchanges& measured, const features& sizes) {
  const auto ranks = static_cast<int>(sizes.ranks);
  const double block = sizes.mean_block();
  const prediction flat = best_flat(ranks, block, fit(ranks, measured));
  const double native = native_seconds(measured, block);
  if (native < native_margin * flat.seconds)
    return {parse_selection("native"), compared("the MPI's own is ahead", native, flat.spec, flat.seconds, block)};
  return {parse_selection(flat.spec), compared(flat.reason, flat.seconds, "native", native, block)};
}

std::optional<choice> choose_unasked(int ranks, const measured_exchanges& measured) {
  const hockney machine = fit(ranks, measured);
  const double asking = agreement::rounds(ranks) * (machine.latency + machine.per_message);
  const double native = native_seconds(measured, 0), straight = std::min(native, measured.linear_small);
  if (best_flat(ranks, 0, machine).seconds + asking < straight) return std::nullopt;
  const std::string why = "whatever the sizes: a radix saves the smallest blocks less than agreeing on sizes costs";
  return choice{parse_selection(native < native_margin * measured.linear_small ? "native" : "spread_out"),
                compared(why, straight, "agreeing", asking, 0)};
}

}  // namespace shoal
