// Compares the closed form with the table that it inverts, for all size vectors, and shows what a misread one would do.
#include "algorithms/tree_phases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace shoal {
namespace {

using sizes_list = std::vector<int>;

// In phase p, t_i,x sends to t_j,y.
struct table_entry {
  int p, i, x, j, y;
  auto key() const { return std::tie(p, i, x, j, y); }
  bool operator==(const table_entry& other) const { return key() == other.key(); }
  bool operator<(const table_entry& other) const { return key() < other.key(); }
};

enum class misreading {
  none,
  last_phase_included,
  every_round,
  every_fitting_phase,
  c_remainder,
  plain_phase,
  aligned_to_block,
  index_map,
  rotate_before_step_5,
  no_rotation,
  swapped_local,
  swapped_local_largest,
  wrong_start,
};
constexpr int misreadings = 12;

// The table of section 5 of the tree specification, made as it is printed there: phase by phase, with the same names
// and steps.
class printed_table {
 public:
  printed_table(const sizes_list& m, misreading how) : m_(m), how_(how), k_(static_cast<int>(m.size())), before_(1, 0) {
    for (int size : m) before_.push_back(before_.back() + size);
    phases_ = m[0] * (before_.back() - m[0]);
  }

  std::vector<table_entry> entries() {
    for (int j = 1; j < k_; ++j) step_1(j);
    for (int i = 1; i < k_; ++i) step_2(i);
    step_3();
    for (int i = 1; i < k_; ++i)
      for (int j = 1; j < k_; ++j)
        if (i != j) steps_4_and_6(i, j);
    for (int i = 1; i < k_; ++i) step_5(i);
    std::sort(entries_.begin(), entries_.end());
    return entries_;
  }
  int phases() const { return phases_; }

 private:
  int mod(int a, int n) const {
    if (how_ == misreading::c_remainder) return std::abs(a % n);
    return ((a % n) + n) % n;
  }
  int designated(int p, int n) const { return how_ == misreading::plain_phase ? p % n : mod(p - phases_, n); }
  int start(int i, int j) const {
    if (i < j) return m_[i] * (before_[j] - before_[i + 1]);
    const int shift = how_ == misreading::wrong_start && j > 0 ? 1 : 0;
    return phases_ - m_[j] * (before_[i + 1] - before_[j + 1]) - shift;
  }
  void add(int p, int i, int x, int j, int y) { entries_.push_back({p, i, x, j, y}); }

  void step_1(int j) {
    const int lcm = std::lcm(m_[0], m_[j]);
    for (int q = 0; q < m_[0] * m_[j]; ++q) {
      const int p = start(0, j) + q, turn = how_ == misreading::no_rotation ? 0 : q / lcm;
      const int receiver = how_ == misreading::aligned_to_block ? q % m_[j] : designated(p, m_[j]);
      add(p, 0, (q + turn) % m_[0], j, receiver);
      a_[p] = (q + turn) % m_[0];
    }
  }
  void step_2(int i) {
    for (int q = 0; q < m_[i] * m_[0]; ++q) {
      const int p = start(i, 0) + q, round = p / m_[0];
      b_[p] = how_ == misreading::index_map ? (p % m_[0] + round + 1) % m_[0] : (a_[p] + round + 1) % m_[0];
      add(p, i, q / m_[0], 0, b_[p]);
    }
  }
  void step_3() {
    int last = m_[0] * (m_[0] - 1);
    if (how_ == misreading::last_phase_included) last = std::min(last + 1, phases_);
    if (how_ == misreading::every_round) last = phases_;
    for (int p = 0; p < last; ++p) {
      if (how_ == misreading::every_round && a_[p] == b_[p]) continue;
      if (how_ == misreading::swapped_local_largest) add(p, 0, a_[p], 0, b_[p]);
      else add(p, 0, b_[p], 0, a_[p]);
    }
  }
  void steps_4_and_6(int i, int j) {
    for (int q = 0; q < m_[i] * m_[j]; ++q) {
      const bool rotate = how_ == misreading::rotate_before_step_5 && j == i - 1;
      const int turn = q / std::lcm(m_[i], m_[j]);
      add(start(i, j) + q, i, rotate ? (q + turn) % m_[i] : q / m_[j], j, q % m_[j]);
    }
  }
  void step_5(int i) {
    for (int q = 0; q < m_[i] * m_[i - 1]; ++q) {
      const int p = start(i, i - 1) + q, d = designated(p, m_[i]), s = q / m_[i - 1];
      const bool first = q % m_[i - 1] < m_[i] || how_ == misreading::every_fitting_phase;
      if (!first || d == s) continue;
      if (how_ == misreading::swapped_local) add(p, i, s, i, d);
      else add(p, i, d, i, s);
    }
  }

  const sizes_list& m_;
  misreading how_;
  int k_;
  std::vector<int> before_;
  int phases_;
  std::map<int, int> a_, b_;
  std::vector<table_entry> entries_;
};

// Section 8 of the tree specification: what makes a table valid whatever the groups look like inside. Returns null if
// nothing is wrong.
const char* find_fault(const sizes_list& m, const std::vector<table_entry>& entries, int phases) {
  const int k = static_cast<int>(m.size()), total = std::accumulate(m.begin(), m.end(), 0);
  struct use {
    int out = -1, in = -1, from = -1, to = -1;
  };
  std::vector<std::vector<use>> uses(phases, std::vector<use>(k));
  std::set<std::tuple<int, int, int, int>> seen;
  for (const table_entry& e : entries) {
    if (e.p < 0 || e.p >= phases) return "a phase outside the table";
    if (e.i == e.j && e.x == e.y) return "a message to itself";
    if (!seen.emplace(e.i, e.x, e.j, e.y).second) return "a message twice";
    use &source = uses[e.p][e.i], &target = uses[e.p][e.j];
    if (e.i == e.j) {
      if (source.from >= 0) return "two messages inside a group";
      source.from = e.x, source.to = e.y;
    } else {
      if (source.out >= 0) return "two messages out of a group";
      if (target.in >= 0) return "two messages into a group";
      source.out = e.x, target.in = e.y;
    }
  }
  for (const auto& phase : uses)
    for (const use& u : phase)
      if (u.from >= 0 && ((u.in >= 0 && u.in != u.from) || (u.out >= 0 && u.out != u.to)))
        return "a message inside a group crosses one that enters or leaves it";
  if (static_cast<int>(entries.size()) != total * (total - 1)) return "a message is missing";
  return nullptr;
}

std::vector<table_entry> closed_form(const sizes_list& m) {
  const phase_table table(m);
  std::vector<table_entry> entries;
  for (int i = 0; i < table.groups(); ++i)
    for (int j = 0; j < table.groups(); ++j)
      for (int x = 0; x < m[i]; ++x)
        for (int y = 0; y < m[j]; ++y)
          if (i != j || x != y) entries.push_back({static_cast<int>(table.phase(i, x, j, y)), i, x, j, y});
  std::sort(entries.begin(), entries.end());
  return entries;
}

// All m_0 >= m_1 >= ... with m_0 <= total / 2.
void for_each_vector(int total, const std::function<void(const sizes_list&)>& visit) {
  sizes_list sizes;
  std::function<void(int, int)> extend = [&](int rest, int largest) {
    if (rest == 0) visit(sizes);
    for (int size = std::min(rest, largest); size > 0; --size) {
      sizes.push_back(size);
      extend(rest - size, size);
      sizes.pop_back();
    }
  };
  extend(total, total / 2);
}

TEST(TreePhases, AreContentionFreeCompleteAndOptimalForAllSizes) {
  const int most = std::getenv("SHOAL_EXHAUSTIVE") ? 32 : 24;
  int vectors = 0;
  for (int total = 2; total <= most; ++total)
    for_each_vector(total, [&](const sizes_list& m) {
      ++vectors;
      const phase_table table(m);
      ASSERT_EQ(table.phases(), m[0] * (total - m[0]));
      const auto entries = closed_form(m);
      const char* fault = find_fault(m, entries, static_cast<int>(table.phases()));
      ASSERT_EQ(fault, nullptr) << fault << ", " << testing::PrintToString(m);
      ASSERT_EQ(entries, printed_table(m, misreading::none).entries()) << testing::PrintToString(m);
    });
  EXPECT_EQ(vectors, most == 24 ? 6101 : 38909);
}

TEST(TreePhases, AMisreadTableIsFound) {
  std::vector<int> faults(misreadings + 1, 0);
  for (int total = 3; total <= 12; ++total)
    for_each_vector(total, [&](const sizes_list& m) {
      for (int how = 1; how <= misreadings; ++how) {
        printed_table table(m, static_cast<misreading>(how));
        faults[how] += find_fault(m, table.entries(), table.phases()) != nullptr;
      }
    });
  for (int how = 1; how <= misreadings; ++how) EXPECT_GT(faults[how], 0) << "misreading " << how;
}

TEST(TreePhases, OfNoAndOneRank) {
  EXPECT_EQ(phase_table({}).phases(), 0);
  EXPECT_EQ(phase_table({1}).phases(), 0);
}

TEST(TreePhases, OfOneSwitchAreARing) {
  const phase_table table(sizes_list(7, 1));
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 7; ++j)
      if (i != j) {
        EXPECT_EQ(table.phase(i, 0, j, 0), (j - i - 1 + 7) % 7);
      }
}

}  // namespace
}  // namespace shoal
