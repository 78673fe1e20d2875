// How settings are read and refused. These tests need no communication: every rank tests for itself.
#include "team/boundary.hpp"
#include "team/job_facts.hpp"
#include "select/settings.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "info.hpp"

namespace shoal {
namespace {

// Sets an environment variable for the time of a test. MPI and Shoal have already read theirs.
class variable {
 public:
  variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~variable() { unsetenv(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
};

class file {
 public:
  explicit file(const std::string& text) {
    static int number = 0;
    path_ = testing::TempDir() + "shoal_settings_" + std::to_string(getpid()) + "_" + std::to_string(number++);
    std::ofstream(path_) << text;
  }
  ~file() { unlink(path_.c_str()); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string refused(const std::function<void()>& reads) {
  try {
    reads();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

const std::optional<selection>& asked(const settings& of, call_form form) {
  return of.named(collective::alltoall, form);
}

std::string refused_value(const std::string& name, const std::string& value) {
  return refused([&] { settings().set(name, value); });
}

std::string refused_file(const std::string& text) {
  const file f(text);
  const variable v("SHOAL_CONFIG", f.path());
  return refused(read_settings);
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}

TEST(Settings, AreAutomaticWhenNothingIsSet) {
  const settings none = read_settings();
  EXPECT_FALSE(asked(none, call_form::equal) || asked(none, call_form::any_sizes) || none.wait || none.verify);
  EXPECT_EQ(none.report, reporting::none);
}

TEST(Settings, TakeEveryAllowedValue) {
  settings s;
  s.set("alltoall", "bruck:radix=4");
  s.set("alltoallv", "tuna:radix=8");
  s.set("wait", "sleep");
  s.set("report", "1");
  s.set("verify", "on");
  EXPECT_EQ(to_string(*asked(s, call_form::equal)), "bruck:radix=4");
  EXPECT_EQ(to_string(*asked(s, call_form::any_sizes)), "tuna:radix=8");
  EXPECT_EQ(*s.wait, wait_mode::sleep);
  EXPECT_EQ(s.report, reporting::usage);
  EXPECT_TRUE(s.verify);
  s.set("report", "phases");
  EXPECT_EQ(s.report, reporting::phases);
  for (const char* name : {"alltoall", "alltoallv", "wait"}) s.set(name, "auto");
  s.set("report", "0");
  s.set("verify", "off");
  EXPECT_FALSE(asked(s, call_form::equal) || asked(s, call_form::any_sizes) || s.wait || s.verify);
  EXPECT_EQ(s.report, reporting::none);
}

TEST(Settings, RefuseOthersNamingTheValueAndWhatIsAllowed) {
  expect_parts(refused_value("alltoallv", "bogus"), {"alltoallv", "bogus", "tuna", "native"});
  expect_parts(refused_value("alltoall", "tuna:radix=0"), {"alltoall", "radix=0", "from 2"});
  expect_parts(refused_value("alltoallv", "bruck"), {"bruck", "equal blocks"});
  expect_parts(refused_value("wait", "never"), {"never", "auto", "spin", "yield", "sleep"});
  expect_parts(refused_value("report", "perhaps"),
               {"report", "perhaps", "unknown value; use 0, 1, phases or FILE.json"});
  for (const char* wrong : {"", "much", "-1", "3T", "1.5G", "4KM", "9999999999G", "99999999999999999999"})
    expect_parts(refused_value("max_temp", wrong), {"max_temp", wrong, "not a number of bytes", "512K"});
  expect_parts(refused_value("speed", "fast"), {"speed", "fast", "alltoallv", "wait"});
  expect_parts(refused_value("altoallv", "tuna"), {"unknown setting (did you mean alltoallv?); there are alltoall,"});
}

TEST(Settings, BytesHaveUnits) {
  settings s;
  for (const auto& [text, bytes] : std::map<std::string, std::int64_t>{
           {"0", 0}, {"4096", 4096}, {"3K", 3 << 10}, {"64M", 64 << 20}, {"2G", std::int64_t{2} << 30}}) {
    s.set("max_temp", text);
    EXPECT_EQ(s.max_temp, bytes) << text;
    EXPECT_NE(s.canonical(), settings().canonical());
  }
}

TEST(Settings, TopologyIsReadAndMustBeTheSame) {
  const file one("s0 n[0-3]\n"), broken("s0 n[0-3\n");
  settings s;
  s.set("topology", one.path());
  EXPECT_EQ(s.topology->machines().size(), 4u);
  EXPECT_NE(s.canonical(), settings().canonical());
  expect_parts(refused_value("topology", "/nowhere"), {"topology", "/nowhere", "cannot be read"});
  const variable wrong("SHOAL_TOPOLOGY", broken.path());
  expect_parts(refused(read_settings), {"SHOAL_TOPOLOGY", ":1: ", "bracket"});
}

TEST(Settings, LayoutsHaveLevels) {
  settings s;
  s.set("layout", "group:2 node:2 socket:2 core:1");
  EXPECT_EQ(s.layout->levels(), 4);
  EXPECT_NE(s.canonical().find("layout=group:2 node:2 socket:2 core:1 "), std::string::npos);
  s.set("layout", "levels");
  EXPECT_TRUE(!s.layout && s.finds_levels);
  EXPECT_NE(s.canonical(), settings().canonical());
  s.set("layout", "cache");
  EXPECT_TRUE(!s.layout && !s.finds_levels && s.nodes_share == node_level::cache);
  expect_parts(refused_value("layout", "node:2 core"),
               {"node:2 core", "level:members", "socket, numa, cache", "levels"});
}

TEST(Settings, CanonicalTextLeavesOutWhatMayDiffer) {
  settings one, other;
  one.set("wait", "spin");
  other.set("report", "1");
  other.set("alltoallv", "auto");
  EXPECT_EQ(one.canonical(), other.canonical());
  other.set("alltoallv", "tuna");
  EXPECT_NE(one.canonical(), other.canonical());
}

TEST(Settings, EnvironmentWinsOverTheFile) {
  const file f("# a comment\n\nalltoallv = \"tuna:radix=4\"  # another\n wait=yield\n");
  const variable config("SHOAL_CONFIG", f.path()), choice("SHOAL_ALLTOALLV", "pairwise");
  const settings read = read_settings();
  EXPECT_EQ(to_string(*asked(read, call_form::any_sizes)), "pairwise");
  EXPECT_EQ(*read.wait, wait_mode::yield);
}

TEST(Settings, EmptyVariablesAreUnset) {
  const variable a("SHOAL_ALLTOALLV", ""), b("SHOAL_CONFIG", ""), c("SHOAL_VERIFY", "");
  EXPECT_EQ(read_settings().canonical(), settings().canonical());
}

TEST(Settings, WrongVariableIsNamed) {
  const variable wrong("SHOAL_ALLTOALL", "bogus");
  expect_parts(refused(read_settings), {"SHOAL_ALLTOALL", "bogus", "tuna"});
}

TEST(Settings, UnknownNamesAreToldWithTheNearest) {
  EXPECT_EQ(unknown_variables(), "");
  setenv("SHOAL_ALLTOALV", "tuna", 1);
  setenv("SHOAL_ROOT", "/opt/shoal", 1);  // as modules do
  EXPECT_EQ(unknown_variables(), "unknown setting SHOAL_ALLTOALV (did you mean SHOAL_ALLTOALL?)");
  setenv("SHOAL_MAXTEMP", "1M", 1);
  EXPECT_NE(unknown_variables().find("unknown setting SHOAL_MAXTEMP (did you mean SHOAL_MAX_TEMP?)"),
            std::string::npos);
  for (const char* name : {"SHOAL_ALLTOALV", "SHOAL_ROOT", "SHOAL_MAXTEMP"}) unsetenv(name);
  EXPECT_EQ(unknown_key(info{{"shoal_alltoall", "tuna"}, {"striping_unit", "1"}}), "");
  EXPECT_EQ(unknown_key(info{{"shoal_algather", "ring"}}),
            "unknown key shoal_algather (did you mean shoal_allgather?)");
}

TEST(Settings, WrongFileIsNamedWithTheLine) {
  expect_parts(refused_file("wait = spin\nalltoallv = bogus\n"), {"line 2", "bogus", "tuna"});
  expect_parts(refused_file("alltoallv\n"), {"line 1", "name = \"value\""});
  expect_parts(refused_file("speed = 3\n"), {"line 1", "speed"});
  const variable none("SHOAL_CONFIG", "/nowhere/at/all");
  expect_parts(refused(read_settings), {"SHOAL_CONFIG", "/nowhere/at/all"});
}

// A communicator of many nodes has more ranks than a node has cores.
TEST(Settings, OnlyRanksOfThisNodeShareItsCores) {
  job_facts here;
  here.cores = 4;
  EXPECT_EQ(standard_wait_mode(here, 4), wait_mode::spin);
  EXPECT_EQ(standard_wait_mode(here, 8), wait_mode::yield) << "the launcher does not tell how many are here";
  here.ranks_here = 4;
  EXPECT_EQ(standard_wait_mode(here, 64), wait_mode::spin);
  here.ranks_here = 8;
  EXPECT_EQ(standard_wait_mode(here, 2), wait_mode::yield);
}

TEST(Settings, EqualTextsHaveEqualHashes) {
  EXPECT_EQ(hash_of("a"), 12638187200555641996u);  // FNV-1a
  EXPECT_NE(hash_of("ab"), hash_of("ba"));
}

}  // namespace
}  // namespace shoal
