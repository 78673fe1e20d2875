// Traffic matrices in files: how many bytes each rank sends to each other rank.
#pragma once

#include <string>
#include <vector>

namespace shoal::bench {

struct traffic_matrix {
  int ranks = 0;
  std::vector<double> bytes;  // row by row: a row is what one rank sends
  double at(int origin, int destination) const { return bytes[static_cast<std::size_t>(origin) * ranks + destination]; }
};

// Reads Matrix Market (coordinate or array), or CSV with a line of numbers for each rank, in which lines that start
// with # are comments. Throws std::invalid_argument with the file, the line, what is wrong and what was expected.
traffic_matrix read_traffic(const std::string& path);

}  // namespace shoal::bench
