#include "team/served_groups.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "team/boundary.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

class scoped_group {
 public:
  explicit scoped_group(MPI_Comm comm, int (*group_of)(MPI_Comm, MPI_Group*) = PMPI_Comm_group) {
    require(group_of(comm, &group_), "MPI_Comm_group");
  }
  ~scoped_group() {
    if (group_ != MPI_GROUP_NULL) PMPI_Group_free(&group_);
  }
  scoped_group(const scoped_group&) = delete;
  scoped_group& operator=(const scoped_group&) = delete;

  MPI_Group get() const { return group_; }
  MPI_Group release() { return std::exchange(group_, MPI_GROUP_NULL); }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

int size_of(MPI_Group group) {
  int ranks = 0;
  require(PMPI_Group_size(group, &ranks), "MPI_Group_size");
  return ranks;
}

bool contains(MPI_Group group, MPI_Group other) {
  if (size_of(other) > size_of(group)) return false;
  std::vector<int> ranks(static_cast<std::size_t>(size_of(other))), there(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  require(PMPI_Group_translate_ranks(other, static_cast<int>(ranks.size()), ranks.data(), group, there.data()),
          "MPI_Group_translate_ranks");
  return std::find(there.begin(), there.end(), MPI_UNDEFINED) == there.end();
}

}  // namespace

bool is_of_one_world(MPI_Comm comm) {
  const scoped_group world(MPI_COMM_WORLD), own(comm);
  if (!contains(world.get(), own.get())) return false;
  return !between_groups(comm) || contains(world.get(), scoped_group(comm, PMPI_Comm_remote_group).get());
}

bool served_groups::is_full() const {
  const std::scoped_lock guard(lock_);
  return groups_.size() >= most || counted_.size() >= most;
}

void served_groups::add(MPI_Comm comm) {
  if (contain(comm)) return;
  const std::scoped_lock guard(lock_);
  groups_.push_back(scoped_group(comm).release());
}

bool served_groups::contain(MPI_Comm comm) const {
  const std::scoped_lock guard(lock_);
  if (groups_.empty()) return false;
  const scoped_group asked(comm);
  return std::any_of(groups_.begin(), groups_.end(), [&](MPI_Group group) { return contains(group, asked.get()); });
}

std::vector<served_groups::of_same_ranks>::const_iterator served_groups::find(MPI_Comm comm) const {
  if (counted_.empty()) return counted_.end();
  const scoped_group asked(comm);
  return std::find_if(counted_.begin(), counted_.end(), [&](const of_same_ranks& of) {
    int result = MPI_UNEQUAL;
    require(PMPI_Group_compare(of.ranks, asked.get(), &result), "MPI_Group_compare");
    return result == MPI_IDENT;
  });
}

int served_groups::fruitless(MPI_Comm comm) const {
  const std::scoped_lock guard(lock_);
  const auto found = find(comm);
  return found == counted_.end() ? 0 : found->fruitless;
}

void served_groups::note(MPI_Comm comm, bool is_set_up) {
  const std::scoped_lock guard(lock_);
  const auto found = find(comm);
  if (found == counted_.end()) return counted_.push_back({scoped_group(comm).release(), !is_set_up});
  of_same_ranks& of = counted_[static_cast<std::size_t>(found - counted_.begin())];
  of.fruitless = is_set_up ? 0 : of.fruitless + 1;
}

void served_groups::clear() {
  const std::scoped_lock guard(lock_);
  for (of_same_ranks& of : counted_) PMPI_Group_free(&of.ranks);
  counted_.clear();
  for (MPI_Group& group : groups_) PMPI_Group_free(&group);
  groups_.clear();
}

}  // namespace shoal
