#include "select/trial.hpp"

#include <algorithm>

#include "select/median.hpp"

namespace shoal {

std::vector<double> trial::medians() const {
  std::vector<double> all;
  for (const std::vector<double>& of_way : seconds_) all.push_back(median(of_way));
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
