// How many bytes each rank has for each other: pure functions, so every rank knows what it must receive.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace shoal::bench {

// Bytes of the block from a rank to another.
using size_rule = std::function<std::int64_t(int origin, int destination)>;

// The rules for a number of ranks. The largest block has `size` bytes unless a rule says otherwise:
// * uniform: all of `size`.
// * random: between 0 and `size` (the TuNA paper's).
// * normal: about size / 2 with a deviation of 0.24 of it (the paper's), between 0 and `size`.
// * power: Pareto, mean about size / 4, never above 16 sizes.
// * sparse: nine of ten empty, the others of `size`.
// * pairs: nine of ten empty, the others of `size`, and alike for all: one in ten ranks is a partner (what is tuned on).
// * hot: 8 bytes, but one rank sends blocks of `size`.
// * fft1: five of eight ranks send to 25 of 32, `size` each; the others nothing (the paper's N1).
// * fft2: `size`, but from the last rank a quarter (the paper's N2).
// * experts: routing to a mixture of experts, the k-th most wanted rank gets about size / k from everyone.
// * matrix:FILE: as in a file (see traffic_file.hpp), so that the largest block has `size` bytes; 0: as they are there.
// Throws std::invalid_argument where there is no such distribution, or its file is wrong.
size_rule sizes_of(const std::string& distribution, std::int64_t size, int ranks);

const std::vector<std::string>& distributions();  // their names

}  // namespace shoal::bench
