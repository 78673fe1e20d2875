// All schedules of an allgather between two groups, followed step by step.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "schedule/steps.hpp"

namespace shoal::testing {

// SHOAL_EXHAUSTIVE=1 runs the large sweeps too.
inline bool exhaustive() { return std::getenv("SHOAL_EXHAUSTIVE") != nullptr; }

inline problem two_groups(int p, int q) {
  problem at;
  at.ranks = p + q;
  at.senders = p;
  return at;
}

inline selection parse_intergroup(const std::string& spec) { return parse_selection(spec, collective::allgather); }

struct intergroup_run {
  std::vector<schedule> programs;
  int parts;
  step_report report;

  double volume() const { return static_cast<double>(report.volume) / parts; }
};

// Checks the schedules as all others are checked, and also step by step.
inline intergroup_run run_intergroup(const std::string& spec, int p, int q, const neighbour_test& linked = {}) {
  intergroup_run run{generate_all(parse_intergroup(spec), two_groups(p, q)), 1, {}};
  run.parts = run.programs[0].parts;
  const meaning collective = allgather_meaning(p, q, run.parts);
  run.report = follow_steps(run.programs, collective, linked);
  const std::string name = spec + ", p=" + std::to_string(p) + ", q=" + std::to_string(q) + ": ";
  const auto wrong = check(run.programs, collective);
  EXPECT_FALSE(wrong) << name << wrong->text;
  EXPECT_FALSE(run.report.fault) << name << run.report.fault->text;
  return run;
}

}  // namespace shoal::testing
