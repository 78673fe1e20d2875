// Which allgather between two groups the model chooses, and how it explains the choice.
#include <gtest/gtest.h>

#include "intergroup_fixture.hpp"
#include "select/choose_between_groups.hpp"

namespace shoal {
namespace {

using testing::parse_intergroup;
using testing::two_groups;

constexpr link_cost link{10e-6, 1e-9};

std::string best(int p, int q, const char* network, double bytes) {
  return predict_intergroup(two_groups(p, q), network, bytes, link).at(0).spec;
}

TEST(IntergroupModel, TakesFewRoundsForShortMessagesAndLittleVolumeForLong) {
  EXPECT_EQ(best(6, 2, "full", 8), "circulant");
  EXPECT_EQ(best(100, 10, "full", 8), "circulant");
  EXPECT_EQ(best(100, 10, "full", 1 << 13), "full");
  EXPECT_EQ(best(100, 10, "full", 1 << 20), "full:paced=yes");
  EXPECT_EQ(best(10, 100, "full", 1 << 20), "full:spread=split,paced=yes");
  EXPECT_EQ(best(2, 6, "full", 1 << 20).rfind("ring:segments=", 0), 0u);
}

TEST(IntergroupModel, CutsLongMessagesOnARing) {
  EXPECT_EQ(best(4, 12, "ring", 8), "ring");
  const auto found = predict_intergroup(two_groups(4, 12), "ring", 1 << 20, link);
  EXPECT_EQ(found[0].spec.substr(0, 14), "ring:segments=");
  for (int segments = 1; segments < 60; ++segments) {
    const selection other = parse_intergroup("ring:segments=" + std::to_string(segments));
    EXPECT_GE(seconds_of(other, two_groups(4, 12), 1 << 20, link), found[0].seconds * (1 - 1e-12));
  }
}

TEST(IntergroupModel, OrdersAllCandidatesByTime) {
  for (const char* network : {"full", "ring"})
    for (double bytes : {0.0, 1.0, 1e3, 1e6}) {
      const auto found = predict_intergroup(two_groups(5, 9), network, bytes, link);
      for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LE(found[i - 1].seconds, found[i].seconds);
    }
}

TEST(IntergroupModel, NeverTakesABaseline) {
  for (int p = 1; p <= 20; ++p)
    for (int q = 1; q <= 20; ++q)
      for (double bytes : {8.0, 4096.0, 1e6}) {
        EXPECT_EQ(best(p, q, "full", bytes).find("root"), std::string::npos) << p << " " << q;
        EXPECT_EQ(best(p, q, "ring", bytes).rfind("ring", 0), 0u) << p << " " << q;
      }
}

TEST(IntergroupModel, TakesTheStatedTorus) { EXPECT_EQ(best(8, 24, "torus:4x8", 1000), "torus:shape=4x8"); }

TEST(IntergroupModel, ExplainsInOneLine) {
  const group_flow flows[] = {{two_groups(6, 2), 1000}};
  const choice best = choose_between_groups(flows, "full");
  EXPECT_EQ(to_string(best.algorithm), "circulant");
  EXPECT_EQ(
      best.reason,
      "by the model, before anything is measured: 66.3 us, full 86.3 us, full:spread=split 86.3 us, for messages of "
      "1000 bytes");
}

std::string refusal(int p, int q, const char* network) {
  try {
    predict_intergroup(two_groups(p, q), network, 8, link);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(IntergroupModel, RefusesWhatDoesNotFit) {
  EXPECT_NE(refusal(4, 4, "mesh").find("'mesh' is not a network"), std::string::npos);
  EXPECT_NE(refusal(4, 4, "torus:3x3").find("a torus of 3x3 has 9 ranks"), std::string::npos);
  EXPECT_NE(refusal(3, 5, "torus:4x2").find("not whole rows"), std::string::npos);
  EXPECT_NE(refusal(4, 4, "torus:").find("out of range"), std::string::npos);
  EXPECT_NE(refusal(0, 4, "full").find("at least one sender"), std::string::npos);
}

}  // namespace
}  // namespace shoal
