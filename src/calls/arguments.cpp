#include "calls/arguments.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

bool is_of_nobody(std::span<const int> peers, int block) { return !peers.empty() && peers[block] == MPI_PROC_NULL; }

bool are_counts(const number_array& counts, int blocks, std::span<const int> peers, bool& empty) {
  empty = true;
  for (int i = 0; i < blocks; ++i) {
    if (is_of_nobody(peers, i)) continue;
    if (counts[i] < 0) return false;
    empty = empty && counts[i] == 0;
  }
  return true;
}

// A number, because compilers assume that a pointer plus an offset is never null.
std::uintptr_t address_of(const user_buffer& buffer, int block) {
  return reinterpret_cast<std::uintptr_t>(buffer.base) + static_cast<std::uintptr_t>(buffer.displacements[block]);
}

// MPICH and its kin refuse a null buffer. Open MPI adds the displacements to it, which may be absolute addresses.
bool has_addresses(const user_buffer& buffer, [[maybe_unused]] int blocks) {
  if (buffer.base) return true;
#ifdef OPEN_MPI
  for (int i = 0; i < blocks; ++i)
    if (buffer.counts[i] > 0 && buffer.displacements[i] == 0) return false;
  return true;
#else
  return false;
#endif
}

// Whether the MPI accepts MPI_IN_PLACE as a receive buffer of empty blocks. With elements, no MPI does.
#ifdef OPEN_MPI
constexpr bool takes_empty_in_place = false;
#else
constexpr bool takes_empty_in_place = true;
#endif

bool takes_type(MPI_Datatype type, bool empty, bool has_address, MPI_Comm own) {
  if (type == MPI_DATATYPE_NULL) return empty;
  const datatype& is = known(type);
  return is.is_committed(own) && (empty || has_address || is.size() == 0 || !is.begins_at_its_address());
}

}  // namespace

bool is_of_arguments(int code) {
  constexpr int classes[] = {MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_ARG};
  return std::any_of(std::begin(classes), std::end(classes), [=](int one) { return is_of_class(code, one); });
}

// If each block has a type of its own, nobody looks at the type of a block without elements.
bool is_valid(const user_buffer& buffer, const type_list& types, int blocks, MPI_Comm own, std::span<const int> peers) {
  if (blocks > 0 && (buffer.counts.is_missing() || buffer.displacements.is_missing() || types.is_missing()))
    return false;
  bool empty = true;
  if (!are_counts(buffer.counts, blocks, peers, empty)) return false;
  if (buffer.base == static_cast<std::byte*>(MPI_IN_PLACE))
    return takes_empty_in_place && empty && (types.differ() || takes_type(types[0], empty, true, own));
  if (!types.differ()) return takes_type(types[0], empty, has_addresses(buffer, blocks), own);
  for (int i = 0; i < blocks; ++i)
    if (!is_of_nobody(peers, i) && buffer.counts[i] > 0 &&
        !takes_type(types[i], false, address_of(buffer, i) != 0, own))
      return false;
  return true;
}

}  // namespace shoal
