#include "select/trial.hpp"

#include <algorithm>

namespace shoal {

std::vector<double> trial::medians() const {
  std::vector<double> all;
  for (std::vector<double> of_way : seconds_) {
    std::sort(of_way.begin(), of_way.end());
    all.push_back(of_way.empty() ? 0 : of_way[of_way.size() / 2]);
  }
  return all;
}

double trial::cost() const {
  const std::vector<double> each = medians();
  const double least = *std::min_element(each.begin(), each.end());
  double sum = 0;
  for (const auto& of_way : seconds_)
    for (const double seconds : of_way) sum += std::max(0.0, seconds - least);
  return sum;
}

}  // namespace shoal
