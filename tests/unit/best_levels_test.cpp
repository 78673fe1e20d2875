#include "model/best_levels.hpp"

#include <gtest/gtest.h>

namespace shoal {
namespace {

machine_prices prices(level_price memory, level_price node, level_price network, level_price groups, double copy) {
  return {{memory, node, network, groups}, copy};
}

const machine_prices& common = common_machine;

double seconds_of(const selection& how, const problem& at, double bytes, const machine_prices& machine) {
  const exchange_load load = load_of(how, at);
  double sum = static_cast<double>(load.copied_blocks) * bytes * machine.per_copied_byte;
  for (std::size_t l = 0; l < levels; ++l)
    sum += machine.at[l].latency * static_cast<double>(load.at[l].waits) +
           machine.at[l].per_message * static_cast<double>(load.at[l].messages) +
           machine.at[l].per_byte * bytes * static_cast<double>(load.at[l].blocks);
  return sum;
}

// If only startups cost, the exchange is logarithmic, at every level or over all. If only bytes between groups cost,
// each block crosses between groups once.
TEST(best_levels, follow_the_prices) {
  const auto layout = layout_tree::parse("group:4 node:4 core:4");
  const level_price startups{0, 1, 0}, bytes{0, 0, 1}, nothing{};
  const auto few = best_levels(layout, 1, prices(startups, startups, startups, startups, 0));
  EXPECT_EQ(sent_by(generate(parse_selection(few.spec), placed(layout), 0)).messages, 6) << few.spec;
  EXPECT_EQ(few.seconds, 6) << few.spec;
  const auto once = best_levels(layout, 1, prices(nothing, nothing, nothing, bytes, 0));
  EXPECT_EQ(load_of(parse_selection(once.spec), placed(layout)).of(level::groups).blocks, 48 * 4) << once.spec;
  const auto straight = best_levels(layout, 1e6, common);
  EXPECT_EQ(straight.spec, "hierarchical:local=none");  // large blocks go straight to their destination
}

// The closed forms are close to what is counted in the schedules.
TEST(best_levels, price_what_the_schedules_do) {
  for (const char* text : {"group:3 node:4 socket:2 core:4", "8x8", "plane:3 row:3 node:3", "node:4 socket:2 core:6"})
    for (const double bytes : {8.0, 64.0, 512.0, 4096.0, 65536.0}) {
      const auto layout = layout_tree::parse(text);
      const auto best = best_levels(layout, bytes, common);
      const double counted = seconds_of(parse_selection(best.spec), placed(layout), bytes, common);
      EXPECT_NEAR(best.seconds, counted, .25 * counted) << best.spec << " on " << text << ", " << bytes << " bytes";
    }
}

// No exchange that uses all levels in the same way is cheaper, counted in its schedule, by more than the model is off.
TEST(best_levels, are_not_beaten_by_uniform_ones) {
  for (const char* text : {"group:3 node:4 socket:2 core:4", "8x8", "node:4 socket:2 core:6"})
    for (const double bytes : {8.0, 512.0, 65536.0}) {
      const problem at = placed(layout_tree::parse(text));
      const double best = seconds_of(parse_selection(best_levels(*at.levels, bytes, common).spec), at, bytes, common);
      for (const char* spec : {"hierarchical", "hierarchical:local=linear", "hierarchical:local=shared", "spread_out",
                               "hierarchical:global=radix,radix=2,global_radix=2"})
        EXPECT_LE(best, 1.25 * seconds_of(parse_selection(spec), at, bytes, common)) << spec << " on " << text;
    }
}

}  // namespace
}  // namespace shoal
