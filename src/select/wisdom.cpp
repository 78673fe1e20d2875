#include "select/wisdom.hpp"

#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <fcntl.h>
#include <sys/file.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "algorithms/algorithm.hpp"
#include "select/plain_text.hpp"
#include "select/read_beginning.hpp"

namespace shoal {

namespace {

constexpr std::int64_t wisdom_format = 1;
constexpr double most_number = 1e15;
constexpr std::size_t most_wisdom_bytes = 4 << 20;

class wisdom_reader {
 public:
  wisdom_reader(std::string_view text, std::string file) : file_(std::move(file)) {
    const auto odd = std::find_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) > 127; });
    if (text.size() > most_wisdom_bytes || odd != text.end()) fail(1, "this is not a wisdom file of Shoal");
    try {
      root_ = toml::parse(text, file_);
    } catch (const toml::parse_error& error) {
      fail(static_cast<int>(error.source().begin.line), std::string(error.description()));
    }
  }

  wisdom all() const {
    if (root_["format"].value_or(std::int64_t{0}) != wisdom_format)
      fail(1, "format is unknown; this version reads format = 1");
    wisdom found{root_["mpi"].value_or(std::string()), root_["machine"].value_or(std::string()), {}};
    const toml::array* rows = root_["exchanges"].as_array();
    if (!rows) fail(1, "exchanges is missing");
    for (const toml::node& row : *rows) add(row, found.known);
    return found;
  }

 private:
  [[noreturn]] void fail(int line, const std::string& what) const {
    throw std::invalid_argument(file_ + ":" + std::to_string(line) + ": " + what);
  }

  void add(const toml::node& node, knowledge& to) const {
    const int line = static_cast<int>(node.source().begin.line);
    const toml::table* row = node.as_table();
    if (!row) fail(line, "a row is written as { call = \"alltoall\", ranks = 8, ... }");
    const auto number = [&](const char* key) {
      const double value = (*row)[key].value_or(-1.0);
      if (!std::isfinite(value) || value < 0 || value >= most_number)
        fail(line, std::string(key) + " must be a number from 0 on");
      return value;
    };
    exchange_shape shape = kind_of((*row)["call"].value_or(std::string()), line);
    shape.ranks = static_cast<int>(std::min(number("ranks"), 1e9));
    shape.nodes = static_cast<int>(std::min(number("nodes"), 1e9));
    shape.size = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number("bytes"))));
    to.add_communicators(shape, number("communicators"), number("calls"));
    const toml::table* times = (*row)["microseconds"].as_table();
    if (!times) fail(line, "microseconds = { native = [12.5, 40] } is missing");
    for (const auto& [key, value] : *times) add_time(shape, std::string(key.str()), value, line, to);
  }

  // The shape that the name of a call tells, still without its numbers.
  exchange_shape kind_of(const std::string& call, int line) const {
    for (const collective what : collectives)
      for (const call_form form : call_forms)
        if (const exchange_shape kind{what, form}; call == kind.name()) return kind;
    fail(line, "call must be the name of a collective, such as alltoallv");
  }

  void add_time(const exchange_shape& shape, const std::string& spec, const toml::node& value, int line,
                knowledge& to) const {
    const toml::array* pair = value.as_array();
    const auto number = [&](int at) { return pair && pair->size() == 2 ? (*pair)[at].value_or(-1.0) : -1; };
    const double us = number(0), calls = number(1);
    const bool is_known = std::isfinite(us) && std::isfinite(calls) && us > 0 && us < 1e12 && calls > 0;
    if (!is_known || calls >= most_number) fail(line, spec + " must be [microseconds, calls], as in [12.5, 40]");
    try {
      to.add(shape, to_string(parse_selection(spec, shape.what)), us * 1e-6, calls);
    } catch (const std::invalid_argument&) {  // a spec of another version of Shoal
    }
  }

  std::string file_;
  toml::table root_;
};

std::string in_quotes(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) all += c == '"' || c == '\\' || c < ' ' || c > '~' ? '?' : c;
  return all + "\"";
}

void write_row(std::ostream& out, const exchange_shape& shape, const knowledge::shape_times& known) {
  out << "  { call = \"" << shape.name() << "\", ranks = " << shape.ranks << ", nodes = " << shape.nodes
      << ", bytes = " << (shape.size ? std::int64_t{1} << (shape.size - 1) : 0)
      << ", communicators = " << std::llround(known.communicators) << ", calls = " << std::llround(known.calls)
      << ", microseconds = {";
  const char* separator = " ";
  for (const auto& [spec, entry] : known.specs) {
    out << separator << in_quotes(spec) << " = [" << with_digits(entry.seconds * 1e6, 4) << ", "
        << std::llround(std::max(1.0, entry.calls)) << "]";
    separator = ", ";
  }
  out << " } },\n";
}

[[noreturn]] void fail_system(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), path);
}

// Returns whether all of the text is in the file.
bool write_whole(const std::string& text, const std::string& path) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

// Held while the file is read and written again. Other jobs wait for that, but at most two seconds: not for a job
// that was stopped, or for a file system that is stuck.
class file_lock {
 public:
  explicit file_lock(const std::string& path) : descriptor_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) fail_system(path);
    constexpr int tries = 200, pause_us = 10000;
    for (int left = tries; flock(descriptor_, LOCK_EX | LOCK_NB) != 0; --left) {
      if (left == 0 || (errno != EWOULDBLOCK && errno != EINTR)) give_up(path);
      ::usleep(pause_us);
    }
  }
  ~file_lock() { ::close(descriptor_); }
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;

 private:
  [[noreturn]] void give_up(const std::string& path) const {
    const int error = errno;
    ::close(descriptor_);
    errno = error;
    fail_system(path);
  }

  int descriptor_;
};

}  // namespace

wisdom parse_wisdom(std::string_view text, const std::string& file) { return wisdom_reader(text, file).all(); }

// Reads only regular files: a pipe or a device may never end. In an empty file nothing is known yet.
wisdom read_wisdom(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw std::invalid_argument(path + " is not a regular file; SHOAL_WISDOM must name one");
  std::ifstream file(path);
  if (!file.is_open()) throw std::invalid_argument(path + " cannot be read: " + std::generic_category().message(errno));
  const std::string text = read_beginning(file, most_wisdom_bytes + 1);
  return text.empty() ? wisdom{} : parse_wisdom(text, path);
}

std::string to_toml(const wisdom& all) {
  plain_text out;
  out << "# Wisdom of Shoal: the times of exchanges, kept from job to job if SHOAL_WISDOM names this file. Each "
         "time "
         "is\n"
         "# the mean of the number of calls beside it. You may remove the file at any time.\n"
      << "format = " << wisdom_format << "\nmpi = " << in_quotes(all.mpi) << "\nmachine = " << in_quotes(all.machine)
      << "\nexchanges = [\n";
  for (const auto& [shape, known] : all.known.all()) write_row(out, shape, known);
  out << "]\n";
  return out.str();
}

void add_to_wisdom(const std::string& name, const wisdom& more) {
  const std::string path = std::filesystem::weakly_canonical(name);  // so that a link stays a link
  const file_lock lock(path + ".lock");
  wisdom all{more.mpi, more.machine, {}};
  try {
    const wisdom before = read_wisdom(path);
    if (before.mpi == more.mpi && before.machine == more.machine) all.known.merge(before.known);
    else if (!before.mpi.empty()) return;  // a file of another MPI or machine is not ours to overwrite
  } catch (const std::invalid_argument&) {
    return;  // nor is a file that Shoal did not write or cannot read
  }
  all.known.merge(more.known);
  const std::string text = to_toml(all);
  if (text.size() > most_wisdom_bytes) {
    errno = EFBIG;
    fail_system(path);
  }
  const std::string fresh = path + "." + std::to_string(getpid());
  if (write_whole(text, fresh) && std::rename(fresh.c_str(), path.c_str()) == 0) return;
  const int error = errno;
  ::unlink(fresh.c_str());
  errno = error;
  fail_system(path);
}

}  // namespace shoal
