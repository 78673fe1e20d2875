#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "emit/c_template.hpp"
#include "emit/emit.hpp"

namespace shoal {

namespace {

constexpr std::size_t line_width = 116;
constexpr std::size_t most_named_operations = 20000;  // if there are more operations, tables have only numbers
constexpr std::uint32_t after_follows = 15;

// The kinds of operations, as the C file names and numbers them. From send_list on, a list of slots follows.
enum class code { copy_own, send_block, recv_block, send_token, recv_token, send_list, recv_list, copy };
constexpr const char* code_names[] = {"COPY_OWN",   "SEND_BLOCK", "RECV_BLOCK", "SEND_TOKEN",
                                      "RECV_TOKEN", "SEND_LIST",  "RECV_LIST",  "COPY"};
constexpr const char* part_names[] = {"COPY_PART", "SEND_PART", "RECV_PART"};

code code_of(const schedule& program, const operation& op) {
  const auto is_block = [&](slot s, place where, int rank) {  // or a part of it
    return s.at() == where && !s.passing && static_cast<int>(s.index) / program.parts == rank;
  };
  const auto slots = program.slots_of(op);
  switch (op.kind) {
    case op_kind::copy:
      if (slots.empty()) return code::copy;
      return is_block(slots[0], place::send, program.rank) && is_block(slots[1], place::recv, program.rank)
                 ? code::copy_own
                 : code::copy;
    case op_kind::send:
      if (slots.empty()) return code::send_token;
      return slots.size() == 1 && is_block(slots[0], place::send, op.peer) ? code::send_block : code::send_list;
    default:
      if (slots.empty()) return code::recv_token;
      return slots.size() == 1 && is_block(slots[0], place::recv, op.peer) ? code::recv_block : code::recv_list;
  }
}

bool has_list(code c) { return c >= code::send_list; }
bool has_peer(code c) { return c != code::copy_own && c != code::copy; }

// Puts words into lines of limited width.
class line_filler {
 public:
  void add(const std::string& word) {
    if (column_ > 0 && column_ + word.size() + 2 > line_width) new_line();
    text_ += column_ == 0 ? "    " : " ";
    text_ += word + ",";
    column_ += word.size() + (column_ == 0 ? 5 : 2);
  }
  void new_line() {
    if (column_ > 0) text_ += '\n';
    column_ = 0;
  }
  void add_comment(const std::string& words) {
    new_line();
    text_ += "    /* " + words + " */";
    column_ = words.size() + 10;
  }
  std::string finish() {
    new_line();
    return std::move(text_);
  }

 private:
  std::string text_;
  std::size_t column_ = 0;
};

struct totals {
  std::size_t operations = 0;
  int scratch = 0, longest_list = 1, largest_word = 0;
  bool lists = false;
};

// Writes the tables of all programs, and adds up what the rest of the file must know.
class table_writer {
 public:
  explicit table_writer(std::span<const schedule> programs) : programs_(programs) {
    for (const schedule& program : programs) sums_.operations += program.operations.size();
  }

  std::string run() {
    std::string text;
    for (const schedule& program : programs_) text += table_of(program);
    text += "static const word *const program[RANKS] = {\n" +
            per_rank([](const schedule& p) { return "program_" + std::to_string(p.rank); }) + "};\n";
    text += "static const int operations_of[RANKS] = {\n" +
            per_rank([](const schedule& p) { return std::to_string(p.operations.size()); }) + "};\n";
    text += "static const int afters_of[RANKS] = {  /* numbers of operations before operations */\n" +
            per_rank([](const schedule& p) { return std::to_string(p.after.size()); }) + "};\n";
    return text;
  }
  const totals& sums() const { return sums_; }

 private:
  template <typename Entry>
  std::string per_rank(Entry entry) const {
    line_filler lines;
    for (const schedule& program : programs_) lines.add(entry(program));
    return lines.finish();
  }

  bool named() const { return sums_.operations <= most_named_operations; }

  std::string table_of(const schedule& program) {
    line_filler lines;
    int step = -1;
    for (op_id id = 0; id < static_cast<op_id>(program.operations.size()); ++id) {
      const operation& op = program.operations[id];
      if (named() && op.step != step) lines.add_comment(std::to_string(op.step));
      step = op.step;
      add_operation(program, id, lines);
    }
    sums_.scratch = std::max(sums_.scratch, program.temp_slots);
    return "static const word program_" + std::to_string(program.rank) + "[] = {\n" + lines.finish() + "};\n\n";
  }

  void add_operation(const schedule& program, op_id id, line_filler& lines) {
    const operation& op = program.operations[id];
    const code c = code_of(program, op);
    lines.add(head_of(program, op, c));
    if (has_list(c)) {
      if (program.parts > 1)
        throw std::invalid_argument("C cannot be written for messages with several parts of blocks");
      sums_.lists = true;
      sums_.longest_list = std::max(sums_.longest_list, static_cast<int>(op.slot_count));
      lines.add(number(static_cast<int>(op.slot_count)));
      for (slot s : program.slots_of(op)) lines.add(number(static_cast<int>(s.where + 3 * s.index)));
    }
    if (op.after_count >= after_follows) lines.add(number(static_cast<int>(op.after_count)));
    for (op_id earlier : program.after_of(op)) lines.add(number(id - earlier));
  }

  std::string head_of(const schedule& program, const operation& op, code c) {
    const int after = static_cast<int>(std::min(op.after_count, after_follows));
    const bool cut = c <= code::recv_block && program.parts > 1;
    const int part = cut ? static_cast<int>(program.slots_of(op)[0].index) % program.parts : 0;
    const int peer = has_peer(c) ? program.parts * op.peer : 0;
    std::string value = number(static_cast<int>(c) + 8 * after + 128 * (peer + part));
    if (!named()) return value;
    return std::string((cut ? part_names : code_names)[static_cast<int>(c)]) + "(" +
           (has_peer(c) ? std::to_string(op.peer) + ", " : "") + (cut ? std::to_string(part) + ", " : "") +
           std::to_string(after) + ")";
  }

  std::string number(int value) {
    sums_.largest_word = std::max(sums_.largest_word, value);
    return std::to_string(value);
  }

  std::span<const schedule> programs_;
  totals sums_;
};

std::string comment(const std::string& title) {
  std::istringstream lines(title);
  std::string text = "/*\n";
  for (std::string line; std::getline(lines, line);) {
    for (std::size_t at = 0; (at = line.find("*/", at)) != std::string::npos;) line.replace(at, 2, "* /");
    text += (line.empty() ? " *" : " * ") + line + "\n";
  }
  return text + " */\n\n";
}

std::string sizes_of(const totals& sums, std::span<const schedule> programs) {
  const schedule& any = programs[0];
  std::string text = "#define RANKS " + std::to_string(programs.size()) + "\n" +  //
                     "#define PARTS " + std::to_string(any.parts) + "  /* of a block */\n";
  if (any.parts > 1)
    text += "#ifndef LAST_PART\n#define LAST_PART " + std::to_string(any.last_part) +
            "  /* bytes of the last at most; the same on all ranks */\n#endif\n";
  if (sums.lists)
    text += "#define SCRATCH " + std::to_string(sums.scratch) + "  /* slots for blocks on their way */\n" +
            "#define LONGEST_LIST " + std::to_string(sums.longest_list) + "\n";
  return text + "typedef " + (sums.largest_word <= 32767 ? "short" : "int") + " word;\n\n";
}

std::string hosts_of(const std::vector<std::string>& hosts) {
  line_filler lines;
  for (const std::string& host : hosts) lines.add("\"" + host + "\"");
  return "static const char *const host[RANKS] = {\n" + lines.finish() + "};\n";
}

// Fills in the lines of the template that begin with @.
std::string fill_in(const std::map<std::string, std::string>& tables, const std::set<std::string>& holds) {
  std::istringstream lines{std::string(c_template)};
  std::string text;
  bool keep = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("@if ")) keep = holds.count(line.substr(4)) > 0;
    else if (line == "@else") keep = !keep;
    else if (line == "@end") keep = true;
    else if (keep) text += line.starts_with('@') ? tables.at(line.substr(1)) : line + "\n";
  }
  return text;
}

void require_alltoall(const emission& what) {
  const std::size_t ranks = what.programs.size();
  if (ranks == 0) throw std::invalid_argument("there are no schedules to write");
  if (!what.hosts.empty() && what.hosts.size() != ranks)
    throw std::invalid_argument(std::to_string(what.hosts.size()) + " hosts are given for " + std::to_string(ranks) +
                                " ranks");
  for (const schedule& program : what.programs)
    if (program.parts != what.programs[0].parts || program.last_part != what.programs[0].last_part)
      throw std::invalid_argument("rank " + std::to_string(program.rank) + " cuts blocks differently from rank 0");
}

}  // namespace

std::string emit_c(const emission& what) {
  require_alltoall(what);
  table_writer writer(what.programs);
  std::map<std::string, std::string> tables{{"title", comment(what.title)}, {"programs", writer.run()}};
  tables["sizes"] = sizes_of(writer.sums(), what.programs);
  tables["hosts"] = hosts_of(what.hosts);
  std::set<std::string> holds;
  if (writer.sums().lists) holds.insert("lists");
  if (what.programs[0].parts > 1) holds.insert("parts");
  if (!what.hosts.empty()) holds.insert("hosts");
  return fill_in(tables, holds);
}

}  // namespace shoal
