#include "traffic_file.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace shoal::bench {

namespace {

// Reads a file line by line, and skips comments and empty lines.
class lines {
 public:
  lines(const std::string& path, char comment) : path_(path), comment_(comment), file_(path) {
    if (!file_) throw std::invalid_argument(path + " cannot be read; give a traffic matrix, Matrix Market or CSV");
  }
  bool next(std::string& line) {
    while (std::getline(file_, line)) {
      ++number_;
      if (line.find_first_not_of(" \t\r") != std::string::npos && line[0] != comment_) return true;
    }
    return false;
  }
  [[noreturn]] void wrong(const std::string& what) const {
    throw std::invalid_argument(path_ + ", line " + std::to_string(number_) + ": " + what);
  }

 private:
  std::string path_;
  char comment_;
  std::ifstream file_;
  int number_ = 0;
};

std::vector<double> numbers(const lines& from, const std::string& line) {
  std::string spaced = line;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  std::istringstream in(spaced);
  std::vector<double> all;
  for (double value; in >> value;) all.push_back(value);
  if (!in.eof()) from.wrong("numbers were expected: " + line);
  for (double value : all)
    if (!(value >= 0) || value > 1e15) from.wrong("bytes between 0 and 1e15 were expected: " + line);
  return all;
}

traffic_matrix read_csv(const std::string& path) {
  lines file(path, '#');
  traffic_matrix all;
  int rows = 0;
  for (std::string line; file.next(line); ++rows) {
    const std::vector<double> row = numbers(file, line);
    if (rows == 0) all.ranks = static_cast<int>(row.size());
    if (static_cast<int>(row.size()) != all.ranks || rows == all.ranks)
      file.wrong(std::to_string(all.ranks) + " lines of " + std::to_string(all.ranks) +
                 " numbers were expected, as the first line has");
    all.bytes.insert(all.bytes.end(), row.begin(), row.end());
  }
  if (rows == 0 || rows != all.ranks)
    file.wrong("there are " + std::to_string(rows) + " of " + std::to_string(all.ranks) + " rows");
  return all;
}

// Returns the numbers of rows, of columns and, in coordinate form, of entries.
std::vector<double> read_size(lines& file, bool coordinates) {
  std::string line;
  const std::vector<double> size = file.next(line) ? numbers(file, line) : std::vector<double>();
  if (size.size() != (coordinates ? 3 : 2) || size[0] != size[1] || size[0] < 1 || size[0] > 1e5)
    file.wrong("the size of a square matrix was expected: " + line);
  return size;
}

// The array form lists the matrix column by column. In coordinate form, places that are not named are 0.
traffic_matrix read_matrix_market(const std::string& path, bool coordinates) {
  lines file(path, '%');
  std::string line;
  const std::vector<double> size = read_size(file, coordinates);
  traffic_matrix all{static_cast<int>(size[0]), std::vector<double>(static_cast<std::size_t>(size[0] * size[1]))};
  std::size_t entries = 0;
  const std::size_t expected = coordinates ? static_cast<std::size_t>(size[2]) : all.bytes.size();
  for (; file.next(line); ++entries) {
    const std::vector<double> entry = numbers(file, line);
    if (entry.size() != (coordinates ? 3u : 1u) || entries == expected)
      file.wrong("this entry is not expected: " + line);
    const std::size_t row = coordinates ? static_cast<std::size_t>(entry[0]) - 1 : entries % all.ranks;
    const std::size_t column = coordinates ? static_cast<std::size_t>(entry[1]) - 1 : entries / all.ranks;
    if (std::max(row, column) >= static_cast<std::size_t>(all.ranks)) file.wrong("there is no such place: " + line);
    all.bytes[row * all.ranks + column] = entry.back();
  }
  if (entries != expected)
    file.wrong(std::to_string(expected) + " entries were expected, not " + std::to_string(entries));
  return all;
}

}  // namespace

traffic_matrix read_traffic(const std::string& path) {
  std::string first;
  std::ifstream file(path);
  std::getline(file, first);
  if (first.rfind("%%MatrixMarket", 0) != 0) return read_csv(path);
  const auto says = [&](const char* word) { return first.find(word) != std::string::npos; };
  if ((says("coordinate") || says("array")) && says("general") && !says("complex"))
    return read_matrix_market(path, says("coordinate"));
  throw std::invalid_argument(path +
                              ", line 1: a general matrix of numbers was expected, coordinate or array: " + first);
}

}  // namespace shoal::bench
