// The published test vectors of the intergroup specification, section 9: whole step lists, and checksums of the steps
// for all p, q <= 40.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "algorithms/ring_routes.hpp"
#include "intergroup_fixture.hpp"

namespace shoal {
namespace {

using testing::intergroup_run;
using testing::run_intergroup;

const nlohmann::json& vectors() {
  static const nlohmann::json all = nlohmann::json::parse(std::ifstream(SHOAL_VECTORS "/vectors-intergroup.json"));
  return all;
}

std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = table[i] % 2 ? table[i] >> 1 ^ 0xEDB88320u : table[i] >> 1;
  }
  return table;
}

std::uint32_t crc32(std::string_view text) {
  static const auto table = crc_table();
  std::uint32_t crc = 0xFFFFFFFFu;
  for (char c : text) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(c)) & 255];
  return ~crc;
}

std::vector<int> messages_of(const step_transfer& t) {
  std::vector<int> messages;
  for (block_name block : t.blocks) messages.push_back(block.origin);
  std::sort(messages.begin(), messages.end());
  return messages;
}

std::uint32_t checksum(const step_report& report) {
  std::string text;
  for (const step_transfer& t : report.transfers) {
    text += std::to_string(t.step) + " " + std::to_string(t.from) + " " + std::to_string(t.to);
    char separator = ' ';
    for (int message : messages_of(t)) {
      text += separator + std::to_string(message);
      separator = ',';
    }
    text += "\n";
  }
  return crc32(text);
}

TEST(IntergroupVectors, ChecksumIsThatOfZlib) { EXPECT_EQ(crc32("123456789"), 0xCBF43926u); }

// The steps as the vectors list them. With `lists` a transfer may hold several messages, and has a list of them.
nlohmann::json steps_of(const step_report& report, bool lists) {
  nlohmann::json steps = nlohmann::json::array();
  for (int s = 0; s < report.steps; ++s) steps.push_back(nlohmann::json::array());
  for (const step_transfer& t : report.transfers) {
    const auto messages = messages_of(t);
    steps[t.step - 1].push_back({t.from, t.to, lists ? nlohmann::json(messages) : nlohmann::json(messages.at(0))});
  }
  return steps;
}

TEST(IntergroupVectors, RingStepsAreThose) {
  for (const auto& v : vectors()["ring"]) {
    const int p = v["p"], q = v["q"];
    const intergroup_run run = run_intergroup("ring", p, q, ring_neighbours(p + q));
    EXPECT_EQ(run.report.steps, v["T"].get<int>());
    EXPECT_EQ(checksum(run.report), v["crc"].get<std::uint32_t>());
    EXPECT_EQ(steps_of(run.report, false), v["steps"]) << p << " " << q;
    for (int j = 0; j < p; ++j) {
      const int upwards = std::max(0, j + optimal_ring(p, q).route(j).up.hops - (p - 1));
      EXPECT_EQ(upwards, v["split"][j].get<int>()) << p << " " << q << " message " << j;
    }
  }
}

TEST(IntergroupVectors, TwoPhaseStepsAreThose) {
  for (const auto& v : vectors()["fc_two_phase"]) {
    const int p = v["p"], q = v["q"];
    const intergroup_run run = run_intergroup("full:prune=no", p, q);
    EXPECT_EQ(run.report.steps, v["rounds"].get<int>());
    EXPECT_EQ(run.report.volume, v["volume"].get<int>());
    EXPECT_EQ(checksum(run.report), v["crc"].get<std::uint32_t>());
    EXPECT_EQ(steps_of(run.report, true), v["steps"]) << p << " " << q;
  }
}

TEST(IntergroupVectors, RingGridsAreThose) {
  for (int p = 1; p <= 40; ++p)
    for (int q = 1; q <= 40; ++q) {
      const auto programs = generate_all(testing::parse_intergroup("ring"), testing::two_groups(p, q));
      const step_report report = follow_steps(programs, allgather_meaning(p, q), ring_neighbours(p + q));
      ASSERT_FALSE(report.fault) << report.fault->text;
      EXPECT_EQ(report.steps, vectors()["ring_grid_T"][p - 1][q - 1].get<int>()) << p << " " << q;
      EXPECT_EQ(report.traffic, vectors()["ring_grid_traffic"][p - 1][q - 1].get<int>()) << p << " " << q;
      EXPECT_EQ(checksum(report), vectors()["ring_grid_crc"][p - 1][q - 1].get<std::uint32_t>()) << p << " " << q;
    }
}

TEST(IntergroupVectors, TwoPhaseGridsAreThose) {
  for (int p = 1; p <= 40; ++p)
    for (int q = 1; q <= 40; ++q) {
      const auto programs = generate_all(testing::parse_intergroup("full:prune=no"), testing::two_groups(p, q));
      const step_report report = follow_steps(programs, allgather_meaning(p, q));
      ASSERT_FALSE(report.fault) << report.fault->text;
      EXPECT_EQ(report.steps, vectors()["fc_grid_rounds"][p - 1][q - 1].get<int>()) << p << " " << q;
      EXPECT_EQ(checksum(report), vectors()["fc_grid_crc"][p - 1][q - 1].get<std::uint32_t>()) << p << " " << q;
    }
}

}  // namespace
}  // namespace shoal
