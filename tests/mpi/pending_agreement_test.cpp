// Agreements that a rank leaves before other ranks begin them.
#include "team/pending_agreement.hpp"

#include <gtest/gtest.h>

#include "allocations.hpp"
#include "together.hpp"

namespace shoal {
namespace {

// A rank leaves agreements in destructors and where memory has run out, so leaving one may not need any.
TEST(PendingAgreement, IsLeftWithoutMemory) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  const auto begin_and_leave = [&] {
    pending_agreement said(comm, {world_rank(), 7});
    const scarce_memory none(0);
    EXPECT_NO_THROW(said.abandon());
  };
  if (world_rank() == 0) begin_and_leave();
  meet();
  if (world_rank() > 0) begin_and_leave();
  meet();
}

}  // namespace
}  // namespace shoal
