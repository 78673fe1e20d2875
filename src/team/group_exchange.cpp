#include "team/group_exchange.hpp"

namespace shoal {

void group_exchange::set_tags(tag_range tags) {
  const int half = tags.count / 2;
  for (int d = 0; d < 2; ++d) lines_[d].moves.set_tags({tags.first + d * half, half});
}

void group_exchange::start(const both_ways& steps, const std::array<payload, 2>& what) {
  if (clock_) clock_->begin();
  for (int d = 0; d < 2; ++d) {
    lines_[d].used = steps[d];
    if (steps[d]) lines_[d].moves.start(*steps[d], what[d]);
  }
}

bool group_exchange::progress(bool& moved) {
  bool other_moved = false;
  const bool first = lines_[0].moves.progress(moved), second = lines_[1].moves.progress(other_moved);
  moved = moved || other_moved;
  return first && second;
}

void group_exchange::run_to_end(waiting& wait) {
  for (bool moved = false; !progress(moved);) moved ? wait.progressed() : wait.idle();
}

}  // namespace shoal
