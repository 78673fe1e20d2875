#include "team/served_groups.hpp"

#include <algorithm>
#include <numeric>

#include "team/boundary.hpp"
#include "team/scoped_group.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

int size_of(MPI_Group group) {
  int ranks = 0;
  require(PMPI_Group_size(group, &ranks), "MPI_Group_size");
  return ranks;
}

// Which rank in `group` each rank of `other` is; MPI_UNDEFINED for those that are not in `group`.
std::vector<int> ranks_in(MPI_Group group, MPI_Group other) {
  std::vector<int> ranks(static_cast<std::size_t>(size_of(other))), there(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  require(PMPI_Group_translate_ranks(other, static_cast<int>(ranks.size()), ranks.data(), group, there.data()),
          "MPI_Group_translate_ranks");
  return there;
}

bool contains(MPI_Group group, MPI_Group other) {
  if (size_of(other) > size_of(group)) return false;
  const std::vector<int> there = ranks_in(group, other);
  return std::find(there.begin(), there.end(), MPI_UNDEFINED) == there.end();
}

bool are_same(MPI_Group one, MPI_Group other) {
  int result = MPI_UNEQUAL;
  require(PMPI_Group_compare(one, other, &result), "MPI_Group_compare");
  return result == MPI_IDENT;
}

}  // namespace

// MPICH 4.0 takes spawned ranks for ranks of the world, and several of them for the same one: none may be there twice.
bool is_of_one_world(MPI_Comm comm) {
  const scoped_group world(MPI_COMM_WORLD);
  std::vector<int> all = ranks_in(world.get(), scoped_group(comm).get());
  if (between_groups(comm)) {
    const std::vector<int> others = ranks_in(world.get(), scoped_group(comm, PMPI_Comm_remote_group).get());
    all.insert(all.end(), others.begin(), others.end());
  }
  std::sort(all.begin(), all.end());
  const bool are_unlike = std::adjacent_find(all.begin(), all.end()) == all.end();
  return are_unlike && !std::binary_search(all.begin(), all.end(), MPI_UNDEFINED);
}

bool served_groups::is_full() const {
  const std::scoped_lock guard(lock_);
  return groups_.size() >= most;
}

void served_groups::add(MPI_Comm comm) {
  if (contain(comm)) return;
  const std::scoped_lock guard(lock_);
  groups_.push_back(scoped_group(comm).release());
}

bool served_groups::contain(MPI_Comm comm) const {
  const std::scoped_lock guard(lock_);
  if (groups_.empty()) return false;
  const scoped_group members(comm);
  return std::any_of(groups_.begin(), groups_.end(), [&](MPI_Group group) { return contains(group, members.get()); });
}

std::vector<served_groups::noted>::const_iterator served_groups::find(MPI_Comm comm) const {
  if (notes_.empty()) return notes_.end();
  const scoped_group members(comm);
  return std::find_if(notes_.begin(), notes_.end(), [&](const noted& of) { return are_same(of.ranks, members.get()); });
}

int served_groups::fruitless_agreements(MPI_Comm comm) const {
  const std::scoped_lock guard(lock_);
  const auto found = find(comm);
  return found == notes_.end() ? 0 : found->fruitless_agreements;
}

void served_groups::note(MPI_Comm comm, bool is_set_up, bool may_begin) {
  const std::scoped_lock guard(lock_);
  const auto found = find(comm);
  if (found != notes_.end()) {
    noted& of = notes_[static_cast<std::size_t>(found - notes_.cbegin())];
    of.fruitless_agreements = is_set_up ? 0 : of.fruitless_agreements + 1;
  } else if (may_begin && !is_set_up) {
    notes_.push_back({scoped_group(comm).release(), 1});
  }
}

bool served_groups::notes_are_full() const {
  const std::scoped_lock guard(lock_);
  return notes_.size() >= most;
}

served_groups::voting::voting(served_groups& among, MPI_Comm comm) : among_(among) {
  scoped_group ranks(comm);
  const std::scoped_lock guard(among_.lock_);
  among_.voting_.push_back(ranks.get());
  ranks_ = ranks.release();
}

served_groups::voting::~voting() {
  const std::scoped_lock guard(among_.lock_);
  // Removes this vote only: MPIs may give equal groups the same handle, and count its users.
  among_.voting_.erase(std::find(among_.voting_.begin(), among_.voting_.end(), ranks_));
  PMPI_Group_free(&ranks_);
}

bool served_groups::are_voting(MPI_Comm comm) const {
  const std::scoped_lock guard(lock_);
  if (voting_.empty()) return false;
  const scoped_group members(comm);
  return std::any_of(voting_.begin(), voting_.end(), [&](MPI_Group ranks) { return are_same(ranks, members.get()); });
}

void served_groups::clear() {
  const std::scoped_lock guard(lock_);
  for (noted& of : notes_) PMPI_Group_free(&of.ranks);
  notes_.clear();
  for (MPI_Group& group : groups_) PMPI_Group_free(&group);
  groups_.clear();
}

}  // namespace shoal
