#include "schedule/step_table.hpp"

namespace shoal {

namespace {

std::string name(block_name block, int parts) {
  const std::string message = "m" + std::to_string(block.origin);
  return parts == 1 ? message : message + "." + std::to_string(block.destination);
}

}  // namespace

std::string step_table(const step_report& report, int parts) {
  std::string text;
  int step = -1;
  for (const step_transfer& t : report.transfers) {
    if (t.step != step) text += (text.empty() ? "" : "\n") + std::to_string(t.step) + ":";
    step = t.step;
    text += " " + std::to_string(t.from) + "->" + std::to_string(t.to);
    char separator = ':';
    for (block_name block : t.blocks) {
      text += separator + name(block, parts);
      separator = ',';
    }
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace shoal
