#include "select/knowledge.hpp"

#include <algorithm>
#include <bit>

namespace shoal {

int size_class(collective what, double load, int ranks) {
  const int blocks = what == collective::alltoall ? std::max(1, ranks) : 1;
  return std::bit_width(static_cast<std::uint64_t>(std::max(0.0, load) / blocks));
}

const std::pair<const std::string, knowledge::entry>* knowledge::shape_times::best() const {
  const auto faster = [](const auto& a, const auto& b) { return a.second.seconds < b.second.seconds; };
  const auto it = std::min_element(specs.begin(), specs.end(), faster);
  return it == specs.end() ? nullptr : &*it;
}

void knowledge::add(const exchange_shape& shape, const std::string& spec, double seconds, double calls) {
  const std::scoped_lock guard(lock_);
  shapes_[shape].specs[spec] = {seconds, calls};
}

void knowledge::add_communicators(const exchange_shape& shape, double number, double calls) {
  const std::scoped_lock guard(lock_);
  shapes_[shape].communicators += number;
  shapes_[shape].calls += calls;
}

std::optional<knowledge::shape_times> knowledge::find(exchange_shape shape, int far) const {
  const std::scoped_lock guard(lock_);
  const int size = shape.size;
  for (int distance = 0; distance <= far; ++distance)
    for (const int side : {-distance, distance}) {
      shape.size = size + side;
      if (const auto it = shapes_.find(shape); it != shapes_.end() && !it->second.specs.empty()) return it->second;
    }
  return std::nullopt;
}

bool knowledge::may_gain(collective what, call_form form, int ranks) const {
  const std::scoped_lock guard(lock_);
  const auto is_of = [&](const exchange_shape& shape) {
    return shape.what == what && shape.form == form && shape.ranks == ranks;
  };
  for (auto it = shapes_.lower_bound({what, form, ranks, 0, 0}); it != shapes_.end() && is_of(it->first); ++it)
    if (const auto* best = it->second.best(); best && best->first != "native") return true;
  return false;
}

std::map<exchange_shape, knowledge::shape_times> knowledge::all() const {
  const std::scoped_lock guard(lock_);
  return shapes_;
}

void knowledge::merge(const knowledge& other) {
  const auto theirs = other.all();
  const std::scoped_lock guard(lock_);
  for (const auto& [shape, more] : theirs) {
    shape_times& mine = shapes_[shape];
    if (more.calls > mine.calls) {
      mine.calls = more.calls;
      mine.communicators = more.communicators;
    }
    for (const auto& [spec, e] : more.specs)
      if (e.calls >= mine.specs[spec].calls) mine.specs[spec] = e;
  }
}

}  // namespace shoal
