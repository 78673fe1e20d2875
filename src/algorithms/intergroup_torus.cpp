// Torus network: whole rows of ranks send, the rows below receive. All columns run the optimal ring, then the rows of
// receivers pass around what the columns brought.
//
// Source: Shoal's own.
// Cost for ra rows of senders, rb of receivers, c columns, T the steps of the ring of (ra, rb): T + c - 1 rounds,
// volume T + (c-1) ra. That is the receive bound p + ceil(rb/2) - 1 of this layout, or one more if ra = 1 and rb is
// even. Further dimensions repeat the second phase. Ranks are numbered in row-major order.
// Applies: the shape holds all ranks and the senders are whole rows. One rank's program takes time and memory O(p).
#include <algorithm>

#include "algorithms/intergroup.hpp"
#include "algorithms/ring_routes.hpp"

namespace shoal {

namespace {

constexpr int most = 1 << 20;
constexpr std::int64_t most_ranks = std::int64_t{1} << 32;

class torus {
 public:
  torus(const problem& at, int rank, const std::vector<int>& shape)
      : p_(at.senders), rank_(rank), shape_(shape), row_(at.ranks / shape[0]), out_(at, rank) {}

  schedule run() {
    const optimal_ring column(p_ / row_, shape_[0] - p_ / row_);
    down_the_column(column);
    int step = column.steps() + 1;
    for (std::size_t d = 1, stride = row_; d < shape_.size() && rank_ >= p_; ++d) {
      stride /= shape_[d];
      around(shape_[d], static_cast<int>(stride), step);
      step += shape_[d] - 1;
    }
    return out_.finish();
  }

 private:
  void down_the_column(const optimal_ring& ring) {
    const int rows = shape_[0], row = rank_ / row_, column = rank_ % row_;
    const auto rank_in = [&](int r) { return (r + rows) % rows * row_ + column; };
    const ring_place place{rank_, row, rows, rank_in(row - 1), rank_in(row + 1)};
    for (int sender = 0; sender < p_ / row_; ++sender)
      follow_route(out_, place, sender, rank_in(sender), ring.route(sender));
  }

  // Along a dimension of `extent` ranks, `stride` apart: each round passes on what came in the round before.
  void around(int extent, int stride, int first_step) {
    const int self = rank_ / stride % extent;
    const auto rank_at = [&](int x) { return rank_ + ((x + extent) % extent - self) * stride; };
    for (int round = 0; round < extent - 1; ++round) {
      const int leaving = rank_at(self - round + extent), arriving = rank_at(self - 1 - round + extent);
      out_.send(first_step + round, rank_at(self + 1), messages_like(leaving, extent * stride));
      out_.receive(first_step + round, rank_at(self - 1), messages_like(arriving, extent * stride));
    }
  }

  // The messages of the senders that have the same place as `rank` within their `plane` ranks.
  std::vector<int> messages_like(int rank, int plane) const {
    std::vector<int> messages;
    for (int sender = rank % plane; sender < p_; sender += plane) messages.push_back(sender);
    return messages;
  }

  int p_, rank_;
  const std::vector<int>& shape_;
  int row_;  // ranks in a row, with its further dimensions
  step_program out_;
};

schedule generate_torus(const problem& at, int rank, const arguments& with) {
  const std::vector<int> shape = with.list("shape");
  return torus(at, rank, shape).run();
}

std::optional<std::string> refuses_torus(const problem& at, const arguments& with) {
  if (const auto reason = refuses_groups(at, with)) return reason;
  const std::vector<int> shape = with.list("shape");
  if (shape.empty()) return "the shape of the torus is not given, as in torus:shape=4x8 for 4 rows of 8";
  std::int64_t ranks = 1;
  for (int extent : shape) ranks = std::min<std::int64_t>(ranks * extent, most_ranks);
  if (ranks != at.ranks) return "a torus of " + with.word("shape") + " has " + std::to_string(ranks) + " ranks";
  const int row = at.ranks / shape[0];
  if (at.senders % row == 0) return std::nullopt;
  return "the " + std::to_string(at.senders) + " senders are not whole rows of " + std::to_string(row) + " ranks";
}

intergroup_cost torus_cost(const problem& at, const arguments& with) {
  const std::vector<int> shape = with.list("shape");
  const int row = at.ranks / shape[0], sender_rows = at.senders / row;
  const int down = optimal_ring(sender_rows, shape[0] - sender_rows).steps();
  intergroup_cost cost{down, static_cast<double>(down + (row - 1) * sender_rows)};
  for (std::size_t d = 1; d < shape.size(); ++d) cost.steps += shape[d] - 1;
  return cost;
}

}  // namespace

algorithm intergroup_torus() {
  algorithm a = intergroup_entry("torus", "rings down the columns of a torus, then around its rows",
                                 "Shoal; the optimal ring on a torus", generate_torus, torus_cost);
  a.parameters = {{"shape", "rows x columns x ...; the first rows are the senders", "none", {"none"}, 1, most, true}};
  a.refuses = refuses_torus;
  a.network = "torus:4x8";
  return a;
}

}  // namespace shoal
