// Collects a topology statement by statement, with the line of each, and finds what is wrong with it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/switch_network.hpp"

namespace shoal {

// The words of one statement; empty statements are not passed on.
std::vector<std::string_view> split_words(std::string_view text);

class network_draft {
 public:
  explicit network_draft(std::string file) : file_(std::move(file)) {}

  void at_line(int line) { line_ = line; }  // of the following statements
  [[noreturn]] void fail(const std::string& text) const { fail(line_, text); }

  // Names of a host list; none of an empty one. Fails at this line when the list is malformed.
  std::vector<std::string> names(std::string_view list) const;

  // The node of this name, made if need be.
  int node(std::string_view name);
  // Says what a node is; fails when it was said to be the other kind.
  void declare(int node, bool machine);
  void link(int a, int b, double bits_per_second);
  bool is_linked(int node) const { return !nodes_[node].links.empty(); }

  // Undeclared nodes are machines when they have one link or none, else switches.
  switch_network finish();

 private:
  struct draft_node {
    std::string name;
    std::optional<bool> machine;
    int line;          // where it first occurs
    int declared = 0;  // where it was declared
    std::vector<int> links;
  };
  [[noreturn]] void fail(int line, const std::string& text) const;
  void refuse_cycle(int a, int b) const;
  std::vector<int> route(int from, int to) const;
  void require_connected() const;
  int top(int node);

  std::string file_;
  int line_ = 0;
  std::vector<draft_node> nodes_;
  std::vector<network_link> links_;
  std::vector<int> link_lines_;
  std::map<std::string, int, std::less<>> by_name_;
  std::vector<int> part_;  // union-find over nodes
};

}  // namespace shoal
