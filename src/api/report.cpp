#include "api/report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <vector>

namespace shoal {

namespace {

std::string readable_bytes(double bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; bytes /= 1024) ++unit;
  std::ostringstream text;
  text << std::fixed << std::setprecision(unit == 0 ? 0 : 1) << bytes << " " << units[unit];
  return text.str();
}

std::string per_call(double seconds, std::int64_t calls) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << seconds * 1e6 / static_cast<double>(calls) << " us";
  return text.str();
}

std::string described(const block_mix& blocks) {
  if (blocks.bytes == 0) return "blocks of any size";
  const std::string size = "about " + readable_bytes(blocks.bytes) + " a block";
  const auto empty = std::lround(100 * (1 - blocks.full_share));
  return empty > 0 ? size + ", " + std::to_string(empty) + " % of blocks empty" : size;
}

// One line; nothing where no clock ran.
std::string where_it_went(const usage& u) {
  std::string text;
  double known = 0;
  for (std::size_t p = 0; p < u.phases.size(); ++p) {
    known += u.phases[p];
    text += std::string(p ? ", " : "shoal:   of that ") + phase_names[p] + " " + per_call(u.phases[p], u.calls);
  }
  return known > 0 ? text + "\n" : "";
}

}  // namespace

void usage_report::add(const std::string& collective, int ranks, const std::string& algorithm, const usage& what) {
  if (what.calls > 0) rows_[{collective, ranks, algorithm}].add(what);
}

// Communicators that chose alike are told of together.
void usage_report::add_choice(const reported_choice& choice, const usage& what) {
  if (what.calls == 0) return;
  const auto alike = [&](const auto& known) {
    const reported_choice& c = known.first;
    return std::tie(c.collective, c.ranks, c.algorithm, c.blocks) ==
           std::tie(choice.collective, choice.ranks, choice.algorithm, choice.blocks);
  };
  auto it = std::find_if(choices_.begin(), choices_.end(), alike);
  if (it == choices_.end()) it = choices_.insert(it, {choice, {}});
  it->second.add(what);
}

void usage_report::print(std::ostream& out) const {
  std::ostringstream text;  // written at once, so that lines of other ranks do not mix in
  print_usage(text);
  print_choices(text);
  if (verified_.calls > 0)
    text << "shoal: verified " << verified_.calls << " exchanges, " << verified_.bytes
         << " bytes received: every byte equal to the MPI's own result\n";
  out << text.str() << std::flush;
}

void usage_report::print_usage(std::ostream& text) const {
  std::vector<decltype(rows_)::const_iterator> order;
  for (auto it = rows_.begin(); it != rows_.end(); ++it) order.push_back(it);
  std::sort(order.begin(), order.end(), [](auto a, auto b) { return a->second.seconds > b->second.seconds; });

  text << "shoal: exchanges as rank 0 saw them\n"
       << "shoal: " << std::left << std::setw(12) << "call" << std::right << std::setw(7) << "ranks" << std::setw(9)
       << "calls" << std::setw(12) << "sent" << std::setw(12) << "time" << std::setw(14) << "per call"
       << "  algorithm\n";
  for (const auto& it : order) {
    const auto& [collective, ranks, algorithm] = it->first;
    const usage& u = it->second;
    text << "shoal: " << std::left << std::setw(12) << collective << std::right << std::setw(7) << ranks << std::setw(9)
         << u.calls << std::setw(12) << readable_bytes(static_cast<double>(u.bytes)) << std::setw(10) << std::fixed
         << std::setprecision(4) << u.seconds << " s" << std::setw(14) << per_call(u.seconds, u.calls) << "  "
         << algorithm << "\n"
         << where_it_went(u);
  }
}

void usage_report::print_choices(std::ostream& text) const {
  for (const auto& [c, use] : choices_) {
    text << "shoal: chosen for " << c.collective << " of " << c.ranks << " ranks, " << use.calls << " calls, "
         << described(c.blocks) << ": " << c.algorithm << ", expected " << per_call(c.seconds, 1) << ", took "
         << per_call(use.seconds, use.calls);
    if (!c.next.empty()) text << "; next " << c.next << " " << per_call(c.next_seconds, 1);
    text << c.remark << "\n";
  }
}

}  // namespace shoal
