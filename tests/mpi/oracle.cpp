#include "oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <random>

#include "shoal/shoal.h"
#include "together.hpp"

namespace shoal {

namespace {

constexpr std::int64_t margin = 64;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
  return x ^ (x >> 29);
}

std::byte guard(std::size_t at) { return static_cast<std::byte>(mixed(at + 77777)); }

// Where blocks lie, in elements from the lowest one.
struct placement {
  std::vector<std::int64_t> at;
  std::int64_t room = 0;    // elements
  std::int64_t origin = 0;  // of displacements
};

placement place(const std::vector<std::int64_t>& counts, std::uint32_t seed) {
  placement p;
  std::mt19937 random(seed);
  std::vector<int> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  if (seed) std::shuffle(order.begin(), order.end(), random);
  p.at.resize(counts.size());
  for (int i : order) {
    p.room += seed ? random() % 3 : 0;
    p.at[i] = p.room;
    p.room += counts[i];
  }
  if (seed) p.origin = p.room / 2 + 1;
  return p;
}

// Memory with guards around, between and inside the blocks, and what it must be after the exchange.
class buffer {
 public:
  buffer(const shape& base, const side& s, std::vector<std::int64_t> scalars) : side_(s) {
    for (std::int64_t n : scalars) counts_.push_back(s.empty_count ? s.empty_count : n / s.how->scalars);
    place_ = place(counts_, s.shuffled);
    const int columns = static_cast<int>(std::max<std::int64_t>(1, place_.room));
    shape_.emplace(s.empty_count ? empty_shape() : s.how->make(base, columns));
    make_memory();
    if (s.at_bottom) absolute_.emplace(at_address(*shape_, origin()));
  }

  void* argument() { return absolute_ ? MPI_BOTTOM : origin(); }
  MPI_Datatype type() const { return absolute_ ? absolute_->type() : shape_->type(); }
  const std::vector<std::int64_t>& counts() const { return counts_; }
  std::vector<std::int64_t> displacements() const {
    std::vector<std::int64_t> all = place_.at;
    for (std::int64_t& d : all) d -= place_.origin;
    return all;
  }

  void holds(int block, int from, int to) { write(memory_, block, from, to); }
  void shall_hold(int block, int from, int to) { write(expected_, block, from, to); }
  void shall_stay() { expected_ = memory_; }

  void check(const char* name) const {
    const auto at = std::mismatch(memory_.begin(), memory_.end(), expected_.begin()).first - memory_.begin();
    if (at == static_cast<std::ptrdiff_t>(memory_.size())) return;
    ADD_FAILURE() << "the " << name << " buffer, type " << (side_.empty_count ? "empty" : side_.how->name) << ", has "
                  << static_cast<int>(memory_[at]) << " instead of " << static_cast<int>(expected_[at]) << " in byte "
                  << at << " of " << memory_.size() << ": " << meaning_of(at);
  }

 private:
  static shape empty_shape() {
    MPI_Datatype type;
    MPI_Type_contiguous(0, MPI_INT, &type);
    return {type, {}};
  }

  void make_memory() {
    const auto& bytes = shape_->bytes();
    const std::int64_t low = bytes.empty() ? 0 : *std::min_element(bytes.begin(), bytes.end());
    const std::int64_t high = bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
    first_ = margin - low;
    memory_.resize(static_cast<std::size_t>(place_.room * shape_->extent() + high - low + 2 * margin));
    for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = guard(i);
    expected_ = memory_;
  }

  std::byte* origin() { return memory_.data() + first_ + place_.origin * shape_->extent(); }

  std::size_t offset_of(int block, std::int64_t k) const {
    const auto& bytes = shape_->bytes();
    const auto size = static_cast<std::int64_t>(bytes.size());
    return static_cast<std::size_t>(first_ + (place_.at[block] + k / size) * shape_->extent() + bytes[k % size]);
  }
  std::int64_t bytes_of(int block) const { return counts_[block] * static_cast<std::int64_t>(shape_->bytes().size()); }

  void write(std::vector<std::byte>& memory, int block, int from, int to) {
    for (std::int64_t k = 0; k < bytes_of(block); ++k) memory[offset_of(block, k)] = content(from, to, k);
  }

  std::string meaning_of(std::ptrdiff_t at) const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      for (std::int64_t k = 0; k < bytes_of(static_cast<int>(i)); ++k)
        if (offset_of(static_cast<int>(i), k) == static_cast<std::size_t>(at))
          return "byte " + std::to_string(k) + " of block " + std::to_string(i);
    return "outside all blocks";
  }

  side side_;
  std::vector<std::int64_t> counts_;
  placement place_;
  std::optional<shape> shape_, absolute_;
  std::int64_t first_ = 0;  // where the lowest element begins
  std::vector<std::byte> memory_, expected_;
};

// The buffers of one rank and the call.
class performance {
 public:
  explicit performance(const job& j)
      : job_(j),
        rank_(rank_in(j.comm)),
        ranks_(ranks_of(j.comm)),
        base_(shape_of(j.base)),
        recv_(base_, j.recv, column()) {
    if (!j.in_place) send_.emplace(base_, j.send, j.scalars[rank_]);
    fill();
  }

  void run() {
    if (job_.with == asked::by_communicator) ask_communicator(job_.spec);
    ASSERT_EQ(call(), MPI_SUCCESS);
    if (job_.with == asked::by_communicator) ask_communicator("auto");
    recv_.check("receive");
    if (send_) send_->check("send");
  }

 private:
  std::vector<std::int64_t> column() const {
    std::vector<std::int64_t> all;
    for (const auto& row : job_.scalars) all.push_back(row[rank_]);
    return all;
  }

  void fill() {
    for (int i = 0; i < ranks_; ++i) {
      if (send_) send_->holds(i, rank_, i);
      else recv_.holds(i, rank_, i);
      recv_.shall_hold(i, i, rank_);
    }
    if (send_) send_->shall_stay();
  }

  const char* key() const { return job_.uniform ? "shoal_alltoall" : "shoal_alltoallv"; }

  MPI_Info info_of(const std::string& spec) const {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key(), spec.c_str());
    return info;
  }

  void ask_communicator(const std::string& spec) {
    MPI_Info info = info_of(spec);
    ASSERT_EQ(shoal_comm_set_info(job_.comm, info), MPI_SUCCESS);
    MPI_Info_free(&info);
  }

  int call() {
    MPI_Info info = job_.with == asked::by_call ? info_of(job_.spec) : MPI_INFO_NULL;
    const int code = job_.uniform ? call_uniform(info) : call_any(info);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return code;
  }

  const void* send_argument() { return send_ ? send_->argument() : MPI_IN_PLACE; }
  MPI_Datatype send_type() const { return send_ ? send_->type() : MPI_DATATYPE_NULL; }

  int call_uniform(MPI_Info info) {
    const std::int64_t sent = send_ ? send_->counts()[0] : 0, received = recv_.counts()[0];
    if (job_.wide_counts)
      return shoal_alltoall_c(send_argument(), sent, send_type(), recv_.argument(), received, recv_.type(), job_.comm);
    return shoal_alltoall_with(send_argument(), static_cast<int>(sent), send_type(), recv_.argument(),
                               static_cast<int>(received), recv_.type(), job_.comm, info);
  }

  template <typename Integer>
  static std::vector<Integer> as(const std::vector<std::int64_t>& values) {
    return {values.begin(), values.end()};
  }

  int call_any(MPI_Info info) {
    const auto sent = send_ ? send_->counts() : std::vector<std::int64_t>{};
    const auto sent_at = send_ ? send_->displacements() : std::vector<std::int64_t>{};
    const auto &received = recv_.counts(), received_at = recv_.displacements();
    if (job_.wide_counts)
      return shoal_alltoallv_c(send_argument(), as<MPI_Count>(sent).data(), as<MPI_Aint>(sent_at).data(), send_type(),
                               recv_.argument(), as<MPI_Count>(received).data(), as<MPI_Aint>(received_at).data(),
                               recv_.type(), job_.comm);
    return shoal_alltoallv_with(send_argument(), as<int>(sent).data(), as<int>(sent_at).data(), send_type(),
                                recv_.argument(), as<int>(received).data(), as<int>(received_at).data(), recv_.type(),
                                job_.comm, info);
  }

  const job& job_;
  int rank_, ranks_;
  shape base_;
  buffer recv_;
  std::optional<buffer> send_;
};

}  // namespace

std::byte content(int origin, int destination, std::int64_t k) {
  const auto block = static_cast<std::uint64_t>(origin) << 20 | static_cast<std::uint64_t>(destination);
  return static_cast<std::byte>(mixed(mixed(block + 1) + static_cast<std::uint64_t>(k)));
}

std::vector<std::vector<std::int64_t>> equal_blocks(int ranks, std::int64_t scalars) {
  return std::vector(static_cast<std::size_t>(ranks), std::vector(static_cast<std::size_t>(ranks), scalars));
}

void perform(const job& j) { performance(j).run(); }

std::string explained(MPI_Comm comm) {
  std::array<char, 500> text{};
  EXPECT_EQ(shoal_comm_explain(comm, text.data(), static_cast<int>(text.size())), MPI_SUCCESS);
  return text.data();
}

std::string used_spec(MPI_Comm comm) {
  const std::string text = explained(comm);
  return text.substr(0, text.find(": "));
}

}  // namespace shoal
