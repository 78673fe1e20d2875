// How many bytes each rank sends to each other: pure functions, so every rank knows what it must receive.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace shoal::bench {

// The bytes of the block from `origin` to `destination`.
using size_rule = std::function<std::int64_t(int origin, int destination)>;

// The sizes of one distribution, for this number of ranks. The largest block has `size` bytes unless noted otherwise:
// * uniform: all blocks have `size` bytes.
// * random: evenly distributed from 0 to `size` (as in the TuNA paper).
// * normal: from 0 to `size`, normally distributed around the middle with a deviation of 0.12 size (as in the paper).
// * power: Pareto distributed with a mean of about size / 4, and at most 16 times `size`.
// * sparse: nine of ten blocks, drawn at random, are empty. The others have `size` bytes.
// * pairs: nine of ten blocks are empty, in a regular pattern: each rank has one in ten ranks as partners, and
//   exchanges blocks of `size` bytes with them. `shoal tune` measures this one.
// * hot: rank 0 sends blocks of `size` bytes, all other ranks send 8 bytes.
// * fft1: the first 5/8 of the ranks send `size` bytes to each of the first 25/32. All else is empty (the paper's N1).
// * fft2: the last rank sends a quarter of `size`, all others send `size` (the paper's N2).
// * experts: as in routing to a mixture of experts, the k-th most popular rank gets about size / k from every rank.
// * matrix:FILE: as in a file (traffic_file.hpp), scaled so that the largest block has `size` bytes. 0: not scaled.
// Throws std::invalid_argument if there is no such distribution, or if its file is wrong.
size_rule sizes_of(const std::string& distribution, std::int64_t size, int ranks);

const std::vector<std::string>& distributions();  // their names

}  // namespace shoal::bench
