#include "calls/report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <vector>

#include "select/plain_text.hpp"

namespace shoal {

namespace {

std::string readable_bytes(double bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; bytes /= 1024) ++unit;
  plain_text text;
  text << std::fixed << std::setprecision(unit == 0 ? 0 : 1) << bytes << " " << units[unit];
  return text.str();
}

std::string per_call(double seconds, std::int64_t calls) {
  plain_text text;
  text << std::fixed << std::setprecision(1) << seconds * 1e6 / static_cast<double>(calls) << " us";
  return text.str();
}

// With three significant digits, however short the time.
std::string readable_seconds(double seconds) {
  const char* unit = seconds >= 1 ? "s" : seconds >= 1e-3 ? "ms" : "us";
  const double value = seconds >= 1 ? seconds : seconds >= 1e-3 ? seconds * 1e3 : seconds * 1e6;
  plain_text text;
  text << std::fixed << std::setprecision(value >= 100 ? 0 : value >= 10 ? 1 : 2) << value << " " << unit;
  return text.str();
}

std::string quoted(const std::string& text) {
  plain_text out;
  out << std::quoted(text);
  return out.str();
}

// The ledger knows the times of calls only from which Shoal learns. `in_calls`: the seconds of all calls.
std::string described(const ledger& books, double in_calls) {
  const double all = std::max(1e-9, in_calls + books.gained());
  plain_text text;
  text << std::fixed << std::setprecision(1) << "shoal: learning cost " << readable_seconds(books.spent())
       << " and gained " << readable_seconds(books.gained()) << ": " << 100 * books.spent() / all << " % and "
       << 100 * books.gained() / all << " % of the " << readable_seconds(all)
       << " that these calls would have taken without Shoal\n";
  return text.str();
}

// One line, or nothing if no clock ran.
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

// Of all communicators of one shape, only the last one's text is kept.
void usage_report::add_finding(const std::string& collective, int ranks, double block_bytes, const std::string& text) {
  const std::string shape = collective + " of " + std::to_string(ranks) + " ranks, about " +
                            readable_bytes(std::exp2(std::ceil(std::log2(std::max(1.0, block_bytes))))) + " a block";
  finding& shape_times = findings_[shape];
  if (std::exchange(shape_times.last, communicators_) != communicators_) ++shape_times.communicators;
  shape_times.text = text;
}

void usage_report::add_left(const std::string& call, const std::string& reason, std::int64_t calls, double seconds) {
  if (calls > 0) left_[{call, reason}].add({calls, 0, seconds});
}

void usage_report::print(std::ostream& out, int rank, const ledger& books) const {
  plain_text text;  // written at once, so that lines of other ranks do not mix in
  if (empty())
    text << "shoal: rank 0 made no all-to-all call of any kind that Shoal could see; a communicator without rank 0 is "
            "reported if at least half of all ranks are in it\n";
  if (!rows_.empty()) print_usage(text, rank);
  print_left(text, rank);
  print_findings(text);
  print_verified(text);
  if (books.in_calls() > 0) text << described(books, in_calls());
  out << text.str() << std::flush;
}

double usage_report::in_calls() const {
  double seconds = 0;
  for (const auto& [what, u] : rows_) seconds += u.seconds;
  for (const auto& [what, u] : left_) seconds += u.seconds;
  return seconds;
}

// What requests receive is compared only by checksums, which travel in messages of the MPI's own.
void usage_report::print_verified(std::ostream& text) const {
  if (verified_.calls > 0)
    text << "shoal: verified " << verified_.calls << " exchanges, " << verified_.bytes
         << " bytes received: every byte equal to the MPI's own result\n";
  if (verified_by_sums_.calls > 0)
    text << "shoal: verified " << verified_by_sums_.calls << " runs of requests, " << verified_by_sums_.bytes
         << " bytes sent: the 64-bit checksum of every block that arrived equal to its sender's\n";
}

std::vector<usage_report::row> usage_report::by_time() const {
  std::vector<row> order;
  for (auto it = rows_.begin(); it != rows_.end(); ++it) order.push_back(it);
  std::sort(order.begin(), order.end(), [](auto a, auto b) { return a->second.seconds > b->second.seconds; });
  return order;
}

void usage_report::print_usage(std::ostream& text, int rank) const {
  text << "shoal: exchanges as rank " << rank << " saw them" << (rank == 0 ? "" : ", some of them without rank 0")
       << "\n"
       << "shoal: " << std::left << std::setw(12) << "call" << std::right << std::setw(7) << "ranks" << std::setw(9)
       << "calls" << std::setw(12) << "sent" << std::setw(12) << "time" << std::setw(14) << "per call"
       << "  algorithm\n";
  for (const row& it : by_time()) {
    const auto& [collective, ranks, algorithm] = it->first;
    const usage& u = it->second;
    text << "shoal: " << std::left << std::setw(12) << collective << std::right << std::setw(7) << ranks << std::setw(9)
         << u.calls << std::setw(12) << readable_bytes(static_cast<double>(u.bytes)) << std::setw(12)
         << readable_seconds(u.seconds) << std::setw(14) << per_call(u.seconds, u.calls) << "  " << algorithm << "\n"
         << where_it_went(u);
  }
}

void usage_report::print_left(std::ostream& text, int rank) const {
  for (const auto& [what, u] : left_)
    text << "shoal: left to the MPI: " << what.first << " (" << what.second << "), " << u.calls
         << (u.calls == 1 ? " call" : " calls") << " of rank " << rank << ", " << readable_seconds(u.seconds)
         << " in them\n";
}

void usage_report::print_findings(std::ostream& text) const {
  for (const auto& [shape, shape_times] : findings_) {
    text << "shoal: tried for " << shape;
    if (shape_times.communicators > 1) text << " (" << shape_times.communicators << " communicators)";
    text << ": " << shape_times.text << "\n";
  }
}

void usage_report::write_json(std::ostream& out, int rank, const ledger& books) const {
  plain_text text;
  text << "{\n  \"rank\": " << rank << ",\n  \"calls\": [";
  const char* before = "\n    ";
  for (const row& it : by_time()) {
    const auto& [collective, ranks, algorithm] = it->first;
    text << std::exchange(before, ",\n    ") << "{\"call\": " << quoted(collective) << ", \"ranks\": " << ranks
         << ", \"algorithm\": " << quoted(algorithm) << ", \"calls\": " << it->second.calls
         << ", \"bytes\": " << it->second.bytes << ", \"seconds\": " << it->second.seconds << "}";
  }
  text << "\n  ],\n  \"left\": [";
  before = "\n    ";
  for (const auto& [what, u] : left_)
    text << std::exchange(before, ",\n    ") << "{\"call\": " << quoted(what.first)
         << ", \"reason\": " << quoted(what.second) << ", \"calls\": " << u.calls << ", \"seconds\": " << u.seconds
         << "}";
  text << "\n  ],\n  \"verified\": " << verified_.calls + verified_by_sums_.calls
       << ",\n  \"learning\": {\"cost\": " << books.spent() << ", \"gained\": " << books.gained()
       << ", \"in_calls\": " << in_calls() << "}\n}\n";
  out << text.str();
}

}  // namespace shoal
