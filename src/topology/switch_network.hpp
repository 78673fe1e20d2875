// A cluster as its cables show it: switches and machines joined by links, which form a tree.
#pragma once

#include <any>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

struct network_node {
  std::string name;
  bool machine = false;  // else a switch
  bool operator==(const network_node&) const = default;
};

// A link carries its full bandwidth in both directions at once.
struct network_link {
  int a = 0, b = 0;  // nodes
  double bits_per_second = 0;
  bool operator==(const network_link&) const = default;
};

constexpr double standard_link_speed = 1e9;  // if a topology states none

class switch_network {
 public:
  // Throws std::invalid_argument unless the links make one tree in which every machine has at most one link.
  // Rank r is on the r-th machine in the natural order of names until place_ranks says otherwise.
  switch_network(std::vector<network_node> nodes, std::vector<network_link> links);

  const std::vector<network_node>& nodes() const { return nodes_; }
  const std::vector<network_link>& links() const { return links_; }
  int find(std::string_view name) const;  // -1: no such node
  std::vector<int> machines() const;      // nodes, in the natural order of their names
  std::vector<std::string> names_of(const std::vector<int>& nodes) const;

  // Rank r runs on the machine named hosts[r]; names repeat if a machine has several ranks. If the full name is
  // unknown, the domain behind the first dot is ignored. Throws std::invalid_argument for an unknown host.
  void place_ranks(const std::vector<std::string>& hosts);
  int ranks() const { return static_cast<int>(machine_of_rank_.size()); }
  int machine_of(int rank) const { return machine_of_rank_[rank]; }
  // For each rank the switch to which its machine is linked, as the number of a node; the machine itself if it has no
  // link.
  std::vector<int> switch_of_ranks() const;
  std::vector<std::string> hosts() const { return names_of(machine_of_rank_); }  // of the ranks

  // Schedules use this root instead of the canonical one. Throws std::invalid_argument for an unknown name.
  void choose_root(std::string_view name);
  int chosen_root() const { return chosen_root_; }  // -1: none chosen

  // Makes what is expensive to derive from this network once, and keeps it under a key: the schedules of all ranks
  // share it.
  template <typename T, typename Make>
  std::shared_ptr<const T> remember(const std::string& key, Make make) const;

 private:
  struct memory {
    std::mutex guard;
    std::map<std::string, std::any> values;
  };
  void forget() { memory_ = std::make_shared<memory>(); }

  std::vector<network_node> nodes_;
  std::vector<network_link> links_;
  std::map<std::string, int, std::less<>> by_name_;
  std::vector<int> machine_of_rank_;
  int chosen_root_ = -1;
  std::shared_ptr<memory> memory_;
};

template <typename T, typename Make>
std::shared_ptr<const T> switch_network::remember(const std::string& key, Make make) const {
  using value = std::shared_ptr<const T>;
  {
    const std::lock_guard lock(memory_->guard);
    if (const auto found = memory_->values.find(key); found != memory_->values.end())
      return std::any_cast<value>(found->second);
  }
  value made = std::make_shared<const T>(make());  // unlocked, because make() may itself call remember()
  const std::lock_guard lock(memory_->guard);
  return std::any_cast<value>(memory_->values.emplace(key, made).first->second);
}

}  // namespace shoal
