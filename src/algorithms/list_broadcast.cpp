#include "algorithms/list_broadcast.hpp"

#include <algorithm>

namespace shoal {

void list_broadcast::binomial(int first_step) {
  const std::vector<int> everything = shares({0, members_});
  for (int distance = 1, step = first_step; distance < members_; distance *= 2, ++step) {
    if (self_ < distance && self_ + distance < members_) out_.send(step, rank_of_(self_ + distance), everything);
    if (self_ >= distance && self_ < 2 * distance) out_.receive(step, rank_of_(self_ - distance), everything);
  }
}

void list_broadcast::split(int first_step, int half) {
  scatter(first_step + half - ceil_log2(members_));
  gather(first_step + half);
}

// Halving: a member passes on the upper half of what it has, again and again, until its own share is left.
void list_broadcast::scatter(int first_step) {
  const int rounds = ceil_log2(members_);
  for (int round = 0; round < rounds; ++round) {
    const int distance = 1 << (rounds - 1 - round), place = self_ % (2 * distance), step = first_step + round;
    if (place == 0 && self_ + distance < members_)
      out_.send(step, rank_of_(self_ + distance), shares(scattered_to(self_ + distance)));
    if (place == distance) out_.receive(step, rank_of_(self_ - distance), shares(scattered_to(self_)));
  }
}

// A member does not get again what it holds after the scatter.
void list_broadcast::gather(int first_step) {
  const allgather_pattern pattern(allgather_pattern::standard(members_), members_);
  for (int round = 0; round < pattern.rounds(); ++round) {
    const auto turn = pattern.at(round, self_);
    out_.send(first_step + round, rank_of_(turn.to), shares_missing_at(turn.to, turn.first_out, turn.count));
    out_.receive(first_step + round, rank_of_(turn.from), shares_missing_at(self_, turn.first_in, turn.count));
  }
}

// The lowest bit of a member's number is the distance over which the scatter reaches it.
list_broadcast::range list_broadcast::scattered_to(int member) const {
  return {member, member == 0 ? members_ : std::min(members_, member + (member & -member))};
}

void list_broadcast::append_shares(range of, std::vector<int>& pieces) const {
  const auto begin_of = [&](int member) {
    return first_ + static_cast<int>((std::int64_t{member} * count_ + members_ - 1) / members_);
  };
  for (int piece = begin_of(of.begin); piece < begin_of(of.end); ++piece) pieces.push_back(piece);
}

std::vector<int> list_broadcast::shares(range of) const {
  std::vector<int> pieces;
  append_shares(of, pieces);
  return pieces;
}

std::vector<int> list_broadcast::shares_missing_at(int member, int first, int count) const {
  const range there = scattered_to(member);
  std::vector<int> pieces;
  for (int i = 0; i < count; ++i) {
    const int owner = (first + i) % members_;
    if (!there.has(owner)) append_shares({owner, owner + 1}, pieces);
  }
  return pieces;
}

}  // namespace shoal
