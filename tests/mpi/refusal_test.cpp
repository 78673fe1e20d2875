// Shoal judges as refused exactly the calls that the MPI refuses. If ranks differed about this, their counts of calls
// would differ too.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "calls/forms.hpp"
#include "together.hpp"

namespace shoal {
namespace {

constexpr int most_ranks = 8;

// One side of a call, the same on every rank and for every block.
struct side {
  int* buffer;
  int count;
  MPI_Datatype type;
};

// The lists that describe a side.
struct lists {
  std::array<int, most_ranks> counts, places, offsets;
  std::array<MPI_Datatype, most_ranks> types;
  explicit lists(const side& of) {
    counts.fill(of.count);
    types.fill(of.type);
    for (int i = 0; i < most_ranks; ++i) places[i] = i, offsets[i] = i * static_cast<int>(sizeof(int));
  }
};

class refusals : public testing::Test {
 protected:
  refusals() : comm_(complete_graph()) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(1, MPI_INT, &uncommitted_);
    MPI_Type_contiguous(0, MPI_INT, &empty_);
    MPI_Type_commit(&empty_);
  }
  ~refusals() override {
    MPI_Type_free(&uncommitted_);
    MPI_Type_free(&empty_);
  }

  // On one rank, and on more than 8, MPICH copies blocks within a buffer that is both sides', and ends the program.
  void SetUp() override {
    if (world_ranks() < 2 || world_ranks() > most_ranks) GTEST_SKIP() << "needs 2 to 8 ranks";
  }

  // Calls `compare` for every pair of sides, with lists of their own and with the same lists.
  template <typename Compare>
  void for_all(bool in_place, Compare compare) {
    for (const side& sent : sides(first_.data(), in_place))
      for (const side& got : sides(third_.data(), in_place))
        for (const bool same : {false, true})
          if (!same || (sent.count == got.count && sent.type == got.type)) compare(sent, got, same);
  }

  // `call`: the description of a call. `native`: makes the call.
  template <typename Call, typename Native>
  void expect_alike(const Call& call, const side& sent, const side& got, bool same, Native native) {
    const bool valid = call.is_valid();
    if (is_lenient(call, sent) || is_lenient(call, got)) return;
    if (valid && !call.in_place() && bytes_of(sent) != bytes_of(got))
      return;  // the MPI takes part, and may find the error later
    EXPECT_EQ(native() == MPI_SUCCESS, valid)
        << call.name() << (same ? ", same lists" : "") << ", sent " << told(sent) << ", received " << told(got);
  }

  MPI_Comm comm() const { return comm_; }

  // Whether only the MPI refuses this side. Shoal needs no type for blocks without elements. MPIs need one, and Open
  // MPI also if each block has its own type; the code that they return tells Shoal so.
  static bool is_lenient(const exchange_call& call, const side& one) {
#ifdef OPEN_MPI
    if (call.recv_type.differ()) return one.count == 0;
#endif
    return !call.recv_type.differ() && one.count == 0 && one.type == MPI_DATATYPE_NULL;
  }

 private:
  static MPI_Comm complete_graph() {
    std::vector<int> all(world_ranks());
    for (int i = 0; i < world_ranks(); ++i) all[i] = i;
    MPI_Comm made;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, world_ranks(), all.data(), MPI_UNWEIGHTED, world_ranks(), all.data(),
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
    return made;
  }

  // A side may have a buffer of its own, one that is the other side's too, or none, in which case Open MPI crashes.
  std::vector<side> sides(int* own, bool in_place) {
    std::vector<int*> buffers = {own, second_.data()};
#ifndef OPEN_MPI
    buffers.push_back(nullptr);
#endif
    if (in_place) buffers.push_back(static_cast<int*>(MPI_IN_PLACE));
    std::vector<side> all;
    for (int* const buffer : buffers)
      for (const int count : {-1, 0, 1})
        for (const MPI_Datatype type : {MPI_INT, MPI_FLOAT, uncommitted_, empty_, MPI_DATATYPE_NULL})
          all.push_back({buffer, count, type});
    return all;
  }

  std::int64_t bytes_of(const side& one) const {
    return one.type == empty_ ? 0 : one.count * std::int64_t{sizeof(int)};
  }

  std::string told(const side& one) const {
    return std::to_string(one.count) + " of " +
           (one.type == uncommitted_        ? "an uncommitted type"
            : one.type == empty_            ? "an empty type"
            : one.type == MPI_DATATYPE_NULL ? "no type"
            : one.type == MPI_INT           ? "MPI_INT"
                                            : "MPI_FLOAT") +
           (!one.buffer                    ? " nowhere"
            : one.buffer == MPI_IN_PLACE   ? " in place"
            : one.buffer == second_.data() ? " in one buffer"
                                           : "");
  }

  std::array<int, most_ranks> first_{}, second_{}, third_{};
  scoped_comm comm_;
  MPI_Datatype uncommitted_ = MPI_DATATYPE_NULL, empty_ = MPI_DATATYPE_NULL;
};

template <typename Form>
auto equal_blocks(Form form, const side& sent, const side& got, MPI_Comm comm) {
  return form.describe(sent.buffer, sent.count, sent.type, got.buffer, got.count, got.type, comm);
}

TEST_F(refusals, OfEqualBlocksAreTheMpis) {
  for_all(true, [&](const side& sent, const side& got, bool same) {
    expect_alike(equal_blocks(forms::alltoall, sent, got, comm()), sent, got, same, [&] {
      return PMPI_Alltoall(sent.buffer, sent.count, sent.type, got.buffer, got.count, got.type, comm());
    });
  });
  for_all(false, [&](const side& sent, const side& got, bool same) {
    expect_alike(equal_blocks(forms::neighbor_alltoall, sent, got, comm()), sent, got, same, [&] {
      return PMPI_Neighbor_alltoall(sent.buffer, sent.count, sent.type, got.buffer, got.count, got.type, comm());
    });
  });
}

TEST_F(refusals, OfSizedBlocksAreTheMpis) {
  const auto compare = [&](auto form, auto native) {
    return [=, this](const side& sent, const side& got, bool same) {
      lists out(sent), in(got);
      const int* const counts = same ? out.counts.data() : in.counts.data();
      const auto passed_to = [&](auto function) {
        return function(sent.buffer, out.counts.data(), out.places.data(), sent.type, got.buffer, counts,
                        in.places.data(), got.type, comm());
      };
      const auto call = passed_to([&](auto... all) { return form.describe(all...); });
      expect_alike(call, sent, got, same, [&] { return passed_to(native); });
    };
  };
  for_all(true, compare(forms::alltoallv, [](auto... all) { return PMPI_Alltoallv(all...); }));
  for_all(false, compare(forms::neighbor_alltoallv, [](auto... all) { return PMPI_Neighbor_alltoallv(all...); }));
}

TEST_F(refusals, OfTypedBlocksAreTheMpis) {
  const auto compare = [&](auto form, auto native, auto offsets_of) {
    return [=, this](const side& sent, const side& got, bool same) {
      lists out(sent), in(got);
      const auto to = offsets_of(out), from = offsets_of(in);
      const int* const counts = same ? out.counts.data() : in.counts.data();
      const MPI_Datatype* const types = same ? out.types.data() : in.types.data();
      const auto passed_to = [&](auto function) {
        return function(sent.buffer, out.counts.data(), to.data(), out.types.data(), got.buffer, counts, from.data(),
                        types, comm());
      };
      const auto call = passed_to([&](auto... all) { return form.describe(all...); });
      expect_alike(call, sent, got, same, [&] { return passed_to(native); });
    };
  };
  const auto as_ints = [](const lists& of) { return of.offsets; };
  const auto as_addresses = [](const lists& of) { return std::vector<MPI_Aint>(of.offsets.begin(), of.offsets.end()); };
  for_all(true, compare(forms::alltoallw, [](auto... all) { return PMPI_Alltoallw(all...); }, as_ints));
  for_all(
      false,
      compare(forms::neighbor_alltoallw, [](auto... all) { return PMPI_Neighbor_alltoallw(all...); }, as_addresses));
}

}  // namespace
}  // namespace shoal
