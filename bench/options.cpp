#include "options.hpp"

#include <sstream>
#include <stdexcept>

namespace shoal::bench {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

void read_options(int argc, char** argv, const option_table& table) {
  for (int i = 1; i < argc; i += 2) {
    const auto option = table.find(argv[i]);
    if (option == table.end()) {
      std::string known;
      for (const auto& [name, action] : table) known += (known.empty() ? "" : ", ") + name;
      throw std::invalid_argument("there is no option " + std::string(argv[i]) + "; there are " + known);
    }
    if (i + 1 == argc) throw std::invalid_argument(option->first + " needs a value");
    option->second(argv[i + 1]);
  }
}

}  // namespace shoal::bench
