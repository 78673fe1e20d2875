#include <map>

#include "emit/emit.hpp"

namespace shoal {

namespace {

// Bytes of a message; a token has one.
std::int64_t bytes_of(const schedule& program, const operation& op, std::int64_t block_bytes) {
  std::int64_t bytes = op.slot_count > 0 ? 0 : 1;
  for (slot s : program.slots_of(op)) {
    const std::int64_t part = s.index % program.parts;
    bytes += begin_of_part(program, part + 1, block_bytes) - begin_of_part(program, part, block_bytes);
  }
  return bytes;
}

std::string to_goal(const operation& op, int tag, std::int64_t bytes) {
  if (op.kind == op_kind::copy) return "calc 0";
  return std::string(to_string(op.kind)) + " " + std::to_string(bytes) + "b " +
         (op.kind == op_kind::send ? "to " : "from ") + std::to_string(op.peer) + " tag " + std::to_string(tag);
}

void append_program(std::string& text, const schedule& program, std::int64_t block_bytes) {
  const std::vector<int> tags = transfer_numbers(program);
  text += "\nrank " + std::to_string(program.rank) + " {\n";
  for (std::size_t id = 0; id < program.operations.size(); ++id) {
    const operation& op = program.operations[id];
    const std::string label = "l" + std::to_string(id + 1);
    text += label + ": " + to_goal(op, tags[id], bytes_of(program, op, block_bytes)) + "\n";
    for (op_id earlier : program.after_of(op)) text += label + " requires l" + std::to_string(earlier + 1) + "\n";
  }
  text += "}\n";
}

}  // namespace

std::vector<int> transfer_numbers(const schedule& program) {
  std::map<std::pair<op_kind, int>, int> seen;
  std::vector<int> numbers;
  numbers.reserve(program.operations.size());
  for (const operation& op : program.operations)
    numbers.push_back(op.kind == op_kind::copy ? 0 : seen[{op.kind, op.peer}]++);
  return numbers;
}

std::string emit_goal(const emission& what, std::int64_t block_bytes) {
  std::string text = "num_ranks " + std::to_string(what.programs.size()) + "\n";
  for (const schedule& program : what.programs) append_program(text, program, block_bytes);
  return text;
}

}  // namespace shoal
