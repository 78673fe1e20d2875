#include "algorithms/tree_phases.hpp"

#include <numeric>
#include <utility>

#include "algorithms/digits.hpp"

namespace shoal {

namespace {

// The x with a * x = 1 (mod n), for a and n without common divisor; 0 when n is 1.
int inverse_modulo(int a, int n) {
  int r = n, next_r = a % n, t = 0, next_t = 1;
  while (next_r != 0) {
    const int quotient = r / next_r;
    r = std::exchange(next_r, r - quotient * next_r);
    t = std::exchange(next_t, t - quotient * next_t);
  }
  return modulo(t, n);
}

std::vector<int> sizes_of(const std::vector<std::vector<int>>& groups) {
  std::vector<int> sizes;
  for (const auto& group : groups) sizes.push_back(static_cast<int>(group.size()));
  return sizes;
}

}  // namespace

phase_table::phase_table(std::vector<int> sizes) : sizes_(std::move(sizes)), before_(1, 0) {
  for (int size : sizes_) before_.push_back(before_.back() + size);
  if (sizes_.empty()) return;
  const int largest = sizes_[0];
  phases_ = largest * (before_.back() - largest);
  for (int size : sizes_) {
    common_.push_back(std::gcd(largest, size));
    inverse_.push_back(inverse_modulo(size / common_.back(), largest / common_.back()));
  }
  for (int j = 1; j < groups(); ++j)  // block (0,j) is m_j rounds and rotates after every lcm(m_0, m_j) phases
    for (int round = 0; round < sizes_[j]; ++round) turn_.push_back(round / (sizes_[j] / common_[j]));
}

std::int64_t phase_table::phase(int i, int x, int j, int y) const {
  if (i == j) return i == 0 ? inside_largest(x, y) : inside(i, x, y);
  if (i == 0) return from_largest(x, j, y);
  if (j == 0) return to_largest(i, x, y);
  return start(i, j) + std::int64_t{x} * sizes_[j] + y;  // steps 4 and 6
}

// Where the phases begin that are reserved for messages from group i to group j.
std::int64_t phase_table::start(int i, int j) const {
  if (i < j) return sizes_[i] * (before_[j] - before_[i + 1]);
  return phases_ - sizes_[j] * (before_[i + 1] - before_[j + 1]);
}

// Step 1: the offset q in the block has q + floor(q / L) = x (mod m_0) and p - P = y (mod m_j), L = lcm(m_0, m_j).
// With q = turn * L + r that is r = x - turn (mod m_0) and r = receiver (mod m_j), which has a solution for one turn.
std::int64_t phase_table::from_largest(int x, int j, int y) const {
  const int a = sizes_[0], b = sizes_[j], g = common_[j];
  const int receiver = modulo(y + phases_ - start(0, j), b);
  const int turn = modulo(x - receiver, g);
  const std::int64_t steps = modulo(std::int64_t{(x - turn - receiver) / g} * inverse_[j], a / g);
  return start(0, j) + std::int64_t{a / g} * b * turn + receiver + b * steps;
}

// In every round of m_0 phases each member of group 0 sends once (step 1).
std::int64_t phase_table::when_largest_sends(std::int64_t round, std::int64_t sender) const {
  return round * sizes_[0] + modulo(sender - turn_[round], sizes_[0]);
}

// Step 2: t_i,x has the round start / m_0 + x to itself. In each phase the receiver is the sender of group 0 plus round
// plus 1.
std::int64_t phase_table::to_largest(int i, int x, int y) const {
  const std::int64_t round = start(i, 0) / sizes_[0] + x;
  return when_largest_sends(round, modulo(y - round - 1, sizes_[0]));
}

// Step 3: in each phase the member of group 0 that receives sends to the member that sends.
std::int64_t phase_table::inside_largest(int x, int y) const {
  return when_largest_sends(modulo(x - y - 1, sizes_[0]), y);
}

// Step 5: the first phase of the block (i,i-1) in which y sends and x is the designated receiver p - P (mod m_i).
std::int64_t phase_table::inside(int i, int x, int y) const {
  const std::int64_t begin = start(i, i - 1) + std::int64_t{y} * sizes_[i - 1];
  return begin + modulo(x + phases_ - begin, sizes_[i]);
}

rank_phases::rank_phases(const rank_tree& tree)
    : table_(sizes_of(tree.groups())), group_(tree.ranks()), member_(tree.ranks()) {
  for (int i = 0; i < table_.groups(); ++i)
    for (int x = 0; x < static_cast<int>(tree.groups()[i].size()); ++x) {
      group_[tree.groups()[i][x]] = i;
      member_[tree.groups()[i][x]] = x;
    }
}

}  // namespace shoal
