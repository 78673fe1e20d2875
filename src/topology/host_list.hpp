// Names of machines: their natural order, and lists such as n[0-7,12] in the notation of Slurm.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shoal {

// Digits compare as numbers: n2 before n10.
bool natural_less(std::string_view a, std::string_view b);

// n[0-2,5],m1 gives n0 n1 n2 n5 m1. Zero padding is kept; a name may have several brackets.
// Throws std::invalid_argument that says what is wrong and what was expected.
std::vector<std::string> expand_host_list(std::string_view list);

// The inverse: runs of names that differ only in a number at the end are folded. Keeps the order.
std::string fold_host_list(const std::vector<std::string>& names);

}  // namespace shoal
