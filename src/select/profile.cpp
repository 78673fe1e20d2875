#include "select/profile.hpp"

#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <stdexcept>

#include "algorithms/algorithm.hpp"
#include "select/plain_text.hpp"
#include "select/read_beginning.hpp"
#include "select/sparse_pattern.hpp"

namespace shoal {

namespace {

constexpr std::int64_t format = 1;
constexpr const char* kind_names[] = {"alltoallv", "alltoall"};
constexpr std::int64_t largest_block = std::int64_t{1} << 40;
constexpr double most_microseconds = 1e12;
constexpr std::size_t most_bytes = 1 << 20;

// ---- reading ---------------------------------------------------------------------------------------------------

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

class reader {
 public:
  reader(std::string_view text, const std::string& file) : file_(file), root_(parse(text)) {}

  profile all() {
    only_keys(root_, "the profile", {"format", "shoal", "mpi", "machine", "layout", "ranks", "alltoall", "alltoallv"});
    if (whole_number(root_, "format", 1, 1 << 20) != format)
      fail(line_of(*root_.get("format")), "format is unknown; this version of Shoal reads format = 1");
    profile found;
    found.file = file_;
    found.shoal = text(root_, "shoal");
    found.mpi = text(root_, "mpi");
    found.machine = text(root_, "machine");
    found.layout = text(root_, "layout");
    found.ranks = static_cast<int>(whole_number(root_, "ranks", 1, std::numeric_limits<int>::max()));
    found.ranks_line = line_of(*root_.get("ranks"));
    check_layout(found);
    for (int uniform : {0, 1})
      if (const toml::node* node = root_.get(kind_names[uniform])) found.kinds[uniform] = table_of(*node, uniform);
    if (!found.kinds[0] && !found.kinds[1]) fail(1, "there is no [alltoall] and no [alltoallv]");
    return found;
  }

 private:
  [[noreturn]] void fail(int line, const std::string& what) const {
    throw std::invalid_argument(file_ + ":" + std::to_string(line) + ": " + what);
  }

  toml::table parse(std::string_view text) const {
    if (text.size() > most_bytes) fail(1, "the file is longer than 1 MiB");
    // ASCII alone: the behaviour of the TOML parser is undefined for some other characters outside quotes.
    const auto odd = std::find_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) > 127; });
    if (odd != text.end())
      fail(1 + static_cast<int>(std::count(text.begin(), odd, '\n')), "this character is not ASCII; remove it");
    try {
      return toml::parse(text, file_);
    } catch (const toml::parse_error& error) {
      fail(static_cast<int>(error.source().begin.line), std::string(error.description()));
    }
  }

  void only_keys(const toml::table& in, const std::string& where, const std::set<std::string_view>& known) const {
    for (const auto& [key, node] : in) {
      if (known.count(key.str())) continue;
      std::string all;
      for (std::string_view name : known) all += (all.empty() ? "" : ", ") + std::string(name);
      fail(line_of(node), "'" + std::string(key.str()) + "' is unknown; " + where + " may have " + all);
    }
  }

  profile::entry text(const toml::table& in, const char* key) const {
    const toml::node* node = in.get(key);
    if (!node) return {};
    if (!node->is_string()) fail(line_of(*node), std::string(key) + " must be a text in quotes");
    return {node->as_string()->get(), line_of(*node)};
  }

  std::int64_t whole_number(const toml::table& in, const char* key, std::int64_t least, std::int64_t most) const {
    const toml::node* node = in.get(key);
    if (!node)
      fail(std::max(1, line_of(in)),
           std::string(key) + " is missing; write, for example, " + key + " = " + std::to_string(least));
    const auto* value = node->as_integer();
    if (!value || value->get() < least || value->get() > most)
      fail(line_of(*node),
           std::string(key) + " must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return value->get();
  }

  double seconds(const toml::node& node, const std::string& name) const {
    const auto value = node.value<double>();  // none for a whole number that no double is
    if (!value || !node.is_number() || !std::isfinite(*value) || *value <= 0 || *value > most_microseconds)
      fail(line_of(node), name + " must be a time in microseconds above 0");
    return *value * 1e-6;
  }

  void check_layout(const profile& found) const {
    if (found.layout.text.empty()) return;
    try {
      if (node_layout::parse(found.layout.text).ranks() == found.ranks) return;
    } catch (const std::invalid_argument& error) {
      fail(found.layout.line, error.what());
    }
    fail(found.layout.line,
         "layout = \"" + found.layout.text + "\" is not for " + std::to_string(found.ranks) + " ranks");
  }

  profile::table table_of(const toml::node& node, bool uniform) const {
    const std::string name = kind_names[uniform];
    const toml::table* in = node.as_table();
    if (!in) fail(line_of(node), name + " must be a table: [" + name + "]");
    only_keys(*in, name, {"asking", "microseconds", "sparse"});
    profile::table found;
    if (const toml::node* asking = in->get("asking")) found.asking = seconds(*asking, "asking");
    found.rows = rows_of(node, *in, "microseconds", uniform);
    if (!in->get("sparse")) return found;
    found.sparse = rows_of(node, *in, "sparse", uniform);
    check_sparse(found, uniform, line_of(*in->get("sparse")));
    return found;
  }

  std::vector<profile::row> rows_of(const toml::node& table, const toml::table& in, const std::string& key,
                                    bool uniform) const {
    const toml::node* list = in.get(key);
    const toml::array* all = list ? list->as_array() : nullptr;
    if (!all || all->size() < 2)
      fail(line_of(list ? *list : table), std::string(kind_names[uniform]) + " needs " + key +
                                              " = [{ block = 8, native = 1.5 }, ...], two rows or more");
    std::vector<profile::row> rows;
    for (const toml::node& row : *all) rows.push_back(row_of(row, uniform));
    check_rows(rows);
    return rows;
  }

  profile::row row_of(const toml::node& node, bool uniform) const {
    const toml::table* in = node.as_table();
    if (!in) fail(line_of(node), "a row is written as { block = 8, native = 1.5 }");
    profile::row found{whole_number(*in, "block", 0, largest_block), {}, line_of(node)};
    for (const auto& [key, value] : *in)
      if (key.str() != "block")
        found.seconds[spec_of(key.str(), value, uniform)] = seconds(value, std::string(key.str()));
    if (found.seconds.empty())
      fail(found.line, "the row names no algorithm; write one as in { block = 8, native = 1.5 }");
    return found;
  }

  std::string spec_of(std::string_view key, const toml::node& node, bool uniform) const {
    try {
      const selection chosen = parse_selection(key);
      if (uniform || !chosen.which->uniform_only) return to_string(chosen);
    } catch (const std::invalid_argument& error) {
      fail(line_of(node), error.what());
    }
    fail(line_of(node), std::string(key) + " needs equal blocks; it belongs in [alltoall]");
  }

  void check_rows(const std::vector<profile::row>& rows) const {
    for (std::size_t i = 1; i < rows.size(); ++i)
      if (rows[i].block <= rows[i - 1].block) fail(rows[i].line, "blocks must ascend from row to row");
    for (const profile::row& row : rows)
      for (const auto& [spec, time] : row.seconds)
        if (!rows.front().seconds.count(spec) || !rows.back().seconds.count(spec))
          fail(row.line, spec + " must have a time in the first and the last row too");
  }

  void check_sparse(const profile::table& found, bool uniform, int line) const {
    if (uniform) fail(line, "sparse belongs in [alltoallv]");
    const auto& equal = found.rows.front().seconds;
    const auto& sparse = found.sparse.front().seconds;
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    if (!std::equal(equal.begin(), equal.end(), sparse.begin(), sparse.end(), same))
      fail(line, "sparse must have times of the same algorithms as microseconds");
  }

  std::string file_;
  toml::table root_;
};

// ---- writing ---------------------------------------------------------------------------------------------------

std::string quoted(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += static_cast<unsigned char>(c) < ' ' ? ' ' : static_cast<unsigned char>(c) < 127 ? c : '?';
  }
  return all + "\"";
}

bool is_bare_key(std::string_view key) {
  return std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

std::string microseconds(double seconds) { return with_digits(seconds * 1e6, 4); }

void write_row(std::ostream& out, const profile::row& row) {
  std::vector<std::pair<double, std::string>> fastest_first;
  for (const auto& [spec, seconds] : row.seconds) fastest_first.emplace_back(seconds, spec);
  std::sort(fastest_first.begin(), fastest_first.end());
  out << "  { block = " << row.block;
  for (const auto& [seconds, spec] : fastest_first)
    out << ", " << (is_bare_key(spec) ? spec : quoted(spec)) << " = " << microseconds(seconds);
  out << " },\n";
}

void write_table(std::ostream& out, const char* name, const profile::table& from) {
  out << "\n[" << name << "]\n";
  if (from.asking > 0) out << "asking = " << microseconds(from.asking) << "\n";
  for (const auto& [key, rows] : {std::pair{"microseconds", &from.rows}, {"sparse", &from.sparse}}) {
    if (rows->empty()) continue;
    out << key << " = [\n";
    for (const profile::row& row : *rows) write_row(out, row);
    out << "]\n";
  }
}

// ---- meaning ---------------------------------------------------------------------------------------------------

// The times of a spec, by row. If a row leaves the spec out, its time lies on the straight line between its neighbours.
std::vector<double> seconds_of(const std::vector<profile::row>& rows, const std::string& spec) {
  std::vector<double> all;
  std::size_t known = 0;  // rows up to this one are filled
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto it = rows[i].seconds.find(spec);
    if (it == rows[i].seconds.end()) continue;
    const double from = rows[known].seconds.at(spec), blocks = static_cast<double>(rows[i].block - rows[known].block);
    const double slope = i == known ? 0 : (it->second - from) / blocks;
    while (all.size() <= i)
      all.push_back(from + slope * static_cast<double>(rows[all.size()].block - rows[known].block));
    known = i;
  }
  return all;
}

std::vector<measured_exchanges::point> points_of(const std::vector<profile::row>& rows,
                                                 const std::vector<std::string>& specs) {
  std::vector<measured_exchanges::point> points;
  for (const profile::row& r : rows) points.push_back({r.block, {}});
  for (const std::string& spec : specs) {
    const std::vector<double> seconds = seconds_of(rows, spec);
    for (std::size_t i = 0; i < rows.size(); ++i) points[i].seconds.push_back(seconds[i]);
  }
  return points;
}

}  // namespace

measured_exchanges profile::table::measured(const std::string& source, int ranks) const {
  measured_exchanges all;
  all.source = source;
  all.asking = asking;
  for (const auto& [spec, first] : rows.front().seconds) all.specs.push_back(spec);
  all.points = points_of(rows, all.specs);
  if (sparse.empty() || sparse_share(ranks) == 0) return all;
  all.nonempty_share = sparse_share(ranks);
  all.sparse = points_of(sparse, all.specs);
  return all;
}

knowledge::shape_times profile::table::expected(const block_mix& blocks, int ranks) const {
  const measured_exchanges all = measured("", ranks);
  knowledge::shape_times found;
  for (std::size_t spec = 0; spec < all.specs.size(); ++spec)
    found.specs[all.specs[spec]] = {all.seconds(spec, blocks), 1};
  return found;
}

profile::table profile::table::of(const measured_exchanges& all) {
  table made;
  made.asking = all.asking;
  for (const auto& [points, rows] : {std::pair{&all.points, &made.rows}, {&all.sparse, &made.sparse}})
    for (const measured_exchanges::point& p : *points) {
      row one{p.block, {}};
      for (std::size_t spec = 0; spec < all.specs.size(); ++spec) one.seconds[all.specs[spec]] = p.seconds[spec];
      rows->push_back(one);
    }
  return made;
}

profile parse_profile(std::string_view text, const std::string& file) { return reader(text, file).all(); }

profile read_profile(const std::string& path) {
  std::ifstream file(path);
  file.peek();  // a directory can be opened, and fails here
  if (file.bad() || !file.is_open())
    throw std::invalid_argument(path + " cannot be read; name a readable profile, or make one with shoal tune");
  return parse_profile(read_beginning(file, most_bytes + 1), path);
}

std::string to_toml(const profile& from) {
  plain_text out;
  out << "# A profile of Shoal: what exchanges took here. A job whose SHOAL_PROFILE names this file begins with the\n"
         "# fastest algorithm for each size. native is the MPI library's own exchange, kept unless another is 5 % "
         "faster.\n"
         "# block: bytes between two ranks, on average. sparse: exchanges in which one in ten pairs has such a block.\n"
         "# Times are in microseconds, fastest first; between two rows they lie on straight lines. Change a time, or "
         "take\n"
         "# an algorithm out of all rows, to change what is chosen. A profile that is not for this MPI, machine, "
         "layout\n"
         "# and number of ranks is not used; a line left out is not compared.\n"
      << "format = " << format << "\n";
  for (const auto& [key, said] :
       {std::pair{"shoal", from.shoal}, {"mpi", from.mpi}, {"machine", from.machine}, {"layout", from.layout}})
    if (!said.text.empty()) out << key << " = " << quoted(said.text) << "\n";
  out << "ranks = " << from.ranks << "\n";
  for (int uniform : {1, 0})
    if (from.kinds[uniform]) write_table(out, kind_names[uniform], *from.kinds[uniform]);
  return out.str();
}

std::optional<std::string> misfit(const profile& from, const job_description& job) {
  const auto differs = [&](const profile::entry& said, const char* key, const std::string& is) -> std::string {
    return from.file + ":" + std::to_string(said.line) + ": " + key + " = \"" + said.text + "\", but here it is \"" +
           is + "\"; run shoal tune here, or take the line out to use the profile all the same";
  };
  if (from.ranks != job.layout.ranks())
    return from.file + ":" + std::to_string(from.ranks_line) + ": for " + std::to_string(from.ranks) +
           " ranks, but here are " + std::to_string(job.layout.ranks()) + "; run shoal tune -n " +
           std::to_string(job.layout.ranks());
  if (!from.mpi.text.empty() && from.mpi.text != job.mpi) return differs(from.mpi, "mpi", job.mpi);
  if (!from.machine.text.empty() && from.machine.text != job.machine)
    return differs(from.machine, "machine", job.machine);
  if (!from.layout.text.empty() && node_layout::parse(from.layout.text) != job.layout)
    return differs(from.layout, "layout", to_string(job.layout));
  return std::nullopt;
}

}  // namespace shoal
