// Traffic matrices in files: what each rank sends each other, in bytes.
#pragma once

#include <string>
#include <vector>

namespace shoal::bench {

struct traffic_matrix {
  int ranks = 0;
  std::vector<double> bytes;  // row by row: a row is what one rank sends
  double at(int origin, int destination) const { return bytes[static_cast<std::size_t>(origin) * ranks + destination]; }
};

// Matrix Market (coordinate or array), or CSV: a line of numbers for each rank. Lines of CSV that start with # are
// comments. Throws std::invalid_argument with file, line, what is wrong and what was expected.
traffic_matrix read_traffic(const std::string& path);

}  // namespace shoal::bench
