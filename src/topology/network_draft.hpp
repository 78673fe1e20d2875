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

// The words of one statement; none if it is empty.
std::vector<std::string_view> split_words(std::string_view text);

class network_draft {
 public:
  explicit network_draft(std::string file) : file_(std::move(file)) {}

  void at_line(int line) { line_ = line; }  // the line of the following statements
  [[noreturn]] void fail(const std::string& text) const { fail(line_, text); }

  // The names in a host list; none if it is empty. Fails at the current line if the list is malformed.
  std::vector<std::string> names(std::string_view list) const;

  // The number of the node with this name, which is made if it is new.
  int node(std::string_view name);
  // States whether a node is a machine or a switch. Fails if it was declared as the other kind, or if a machine has
  // several links.
  void declare(int node, bool machine);
  void link(int a, int b, double bits_per_second);
  bool is_linked(int node) const { return !nodes_[node].links.empty(); }

  // An undeclared node is a machine if it has one link or none, else a switch.
  switch_network finish();

 private:
  struct draft_node {
    std::string name;
    std::optional<bool> machine;
    int line;          // where the name first occurs
    int declared = 0;  // the line where the node was declared
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
