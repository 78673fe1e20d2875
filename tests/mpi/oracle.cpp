#include "oracle.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "calls/process.hpp"
#include "info.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

namespace shoal {

namespace {

// The buffers of one rank and the call.
class performance {
 public:
  explicit performance(const job& j)
      : job_(j),
        rank_(rank_in(j.comm)),
        ranks_(ranks_of(j.comm)),
        base_(shape_of(j.base)),
        recv_(base_, side_of(j.recv), column()) {
    if (!j.in_place) send_.emplace(base_, side_of(j.send), j.scalars[rank_]);
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
  side side_of(side of) const {
    of.each = job_.typed ? of.each + 1 : 0;
    return of;
  }

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

  const char* key() const {
    return job_.uniform ? "shoal_alltoall" : job_.typed ? "shoal_alltoallw" : "shoal_alltoallv";
  }

  void ask_communicator(const std::string& spec) {
    ASSERT_EQ(shoal_comm_set_info(job_.comm, info{{key(), spec}}), MPI_SUCCESS);
  }

  int call() {
    const auto with = [&](MPI_Info how) { return job_.uniform ? call_uniform(how) : call_any(how); };
    return job_.with == asked::by_call ? with(info{{key(), job_.spec}}) : with(MPI_INFO_NULL);
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
    if (job_.typed) return call_typed(info);
    if (job_.wide_counts)
      return shoal_alltoallv_c(send_argument(), as<MPI_Count>(sent).data(), as<MPI_Aint>(sent_at).data(), send_type(),
                               recv_.argument(), as<MPI_Count>(received).data(), as<MPI_Aint>(received_at).data(),
                               recv_.type(), job_.comm);
    return shoal_alltoallv_with(send_argument(), as<int>(sent).data(), as<int>(sent_at).data(), send_type(),
                                recv_.argument(), as<int>(received).data(), as<int>(received_at).data(), recv_.type(),
                                job_.comm, info);
  }

  int call_typed(MPI_Info info) {
    const auto sent = send_ ? send_->counts() : std::vector<std::int64_t>{};
    const auto sent_at = send_ ? send_->displacements() : std::vector<std::int64_t>{};
    const auto sent_types = send_ ? send_->types() : std::vector<MPI_Datatype>{};
    const auto &received = recv_.counts(), received_at = recv_.displacements();
    const auto types = recv_.types();
    if (job_.wide_counts)
      return shoal_alltoallw_c(send_argument(), as<MPI_Count>(sent).data(), as<MPI_Aint>(sent_at).data(),
                               sent_types.data(), recv_.argument(), as<MPI_Count>(received).data(),
                               as<MPI_Aint>(received_at).data(), types.data(), job_.comm);
    return shoal_alltoallw_with(send_argument(), as<int>(sent).data(), as<int>(sent_at).data(), sent_types.data(),
                                recv_.argument(), as<int>(received).data(), as<int>(received_at).data(), types.data(),
                                job_.comm, info);
  }

  const job& job_;
  int rank_, ranks_;
  shape base_;
  buffer recv_;
  std::optional<buffer> send_;
};

}  // namespace

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

std::int64_t agreements_on(MPI_Comm comm) {
  communicator* const state = process::get().present_state_of(comm);
  return state ? state->all().agree().reached() : 0;
}

}  // namespace shoal
