// Options of the benchmark drivers: `--name value`, in any order.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace shoal::bench {

std::vector<std::string> split(const std::string& text, char separator);

// Calls the table's function of each option with the option's value. Throws std::invalid_argument for an option that
// the table lacks, and for one without a value.
using option_table = std::map<std::string, std::function<void(const std::string& value)>>;
void read_options(int argc, char** argv, const option_table& table);

}  // namespace shoal::bench
