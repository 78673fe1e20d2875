// Collectives that Shoal does not take over, to show what a new one needs: a description of a few lines. Everything else
// is there: algorithms, the service and the boundary.
#include <gtest/gtest.h>

#include <numeric>

#include "calls/exchange_service.hpp"
#include "calls/forms.hpp"
#include "calls/serve.hpp"
#include "info.hpp"
#include "together.hpp"

namespace shoal {
namespace {

constexpr int root = 0;

// MPI_Gatherv: an exchange with all in which only blocks for the root hold something. Other ranks need no lists of what
// the root receives, so these lists are `counts` and `places` here.
struct gathered {
  std::vector<int> sent, counts, places;
};
exchange_call gatherv_call(gathered& lists, const void* send, int send_count, void* recv, MPI_Datatype type,
                           MPI_Comm comm) {
  lists.sent.assign(static_cast<std::size_t>(ranks_of(comm)), 0);
  lists.sent[root] = send_count;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank != root) std::fill(lists.counts.begin(), lists.counts.end(), 0);
  exchange_call call{false, send, number_array(lists.sent.data()),   number_array::linear(0, 0),
                     type,  recv, number_array(lists.counts.data()), number_array(lists.places.data()),
                     type,  comm};
  return among_ranks::of(call);
}

// MPI_Neighbor_allgather: along all edges goes the same block.
exchange_call neighbor_allgather_call(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                                      int recv_count, MPI_Datatype recv_type, MPI_Comm comm) {
  exchange_call call{true,      send, number_array::linear(send_count, 0), number_array::linear(0, 0),
                     send_type, recv, number_array::linear(recv_count, 0), number_array::linear(0, recv_count),
                     recv_type, comm};
  return along_edges::of(call);
}

TEST(Descriptions, MakeAGatherOfAnExchange) {
  const int ranks = world_ranks(), rank = world_rank();
  for (const char* spec : {"tuna:radix=2", "spread_out", "shared", "linear"}) {
    gathered lists;
    for (int i = 0; i < ranks; ++i) lists.counts.push_back(i % 3), lists.places.push_back(3 * i);
    std::vector<int> mine(3), all(static_cast<std::size_t>(3 * ranks), -1), expected = all;
    std::iota(mine.begin(), mine.end(), 10 * rank);
    const auto native = [&] {
      return PMPI_Gatherv(mine.data(), rank % 3, MPI_INT, expected.data(), lists.counts.data(), lists.places.data(),
                          MPI_INT, root, MPI_COMM_WORLD);
    };
    native();
    const exchange_call call = gatherv_call(lists, mine.data(), rank % 3, all.data(), MPI_INT, MPI_COMM_WORLD);
    ASSERT_EQ(serve_of_shoal(call, for_exchanges(spec), native), MPI_SUCCESS);
    EXPECT_EQ(all, expected) << spec;
  }
}

TEST(Descriptions, MakeAnAllgatherOfAnExchangeAmongNeighbours) {
  const int ranks = world_ranks(), rank = world_rank(), closed = 1;
  MPI_Comm ring;
  PMPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &closed, 0, &ring);
  for (const char* spec : {"direct", "gathered"}) {
    settings set;
    set.set("neighbor_alltoall", spec);
    std::string why;
    communicator* const state = process::get().state_of(ring, true, why);
    ASSERT_TRUE(state) << why;
    neighborhood among(*state, ring, call_form::equal, set);
    const int mine = 10 * rank;
    std::vector<int> all(2, -1), expected(2, -1);
    const auto native = [&] { return PMPI_Neighbor_allgather(&mine, 1, MPI_INT, expected.data(), 1, MPI_INT, ring); };
    native();
    const exchange_call call = neighbor_allgather_call(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, ring);
    exchange_service service(among, call, state->blocks());
    ASSERT_EQ(serve(service, call, interface::shoal, MPI_INFO_NULL, native), MPI_SUCCESS);
    EXPECT_EQ(state->last->algorithm->spec, spec);
    EXPECT_EQ(all, expected) << spec;
  }
  PMPI_Comm_free(&ring);
}

}  // namespace
}  // namespace shoal
