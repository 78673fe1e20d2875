// throwing_linked: the error handler throws out of functions of shoal.h, also if the MPI's own collective serves the
// call. The program must get each exception once.
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "shoal/shoal.h"

extern "C" void shoal_alltoallw_f(const void*, const int*, const int*, const MPI_Fint*, void*, const int*, const int*,
                                  const MPI_Fint*, MPI_Fint, int*);

namespace {

int handled = 0, wrong = 0;
struct from_handler {};

void throw_up(MPI_Comm*, int*, ...) {
  ++handled;
  throw from_handler();
}

// Checks that `call` calls the handler once, and ends with the exception that the handler throws.
template <typename Call>
void expect_thrown(const char* what, Call call) {
  const int before = handled;
  bool threw = false;
  try {
    call();
  } catch (const from_handler&) {
    threw = true;
  } catch (...) {
  }
  if (threw && handled == before + 1) return;
  ++wrong;
  std::printf("%s: %s, handled %d times\n", what, threw ? "threw" : "did not throw", handled - before);
}

void make_requests(MPI_Comm comm) {
  int one = 0;
  shoal_request request = SHOAL_REQUEST_NULL;
  expect_thrown("ialltoall", [&] { shoal_ialltoall(&one, -1, MPI_INT, &one, -1, MPI_INT, comm, &request); });
  expect_thrown("no place", [&] { shoal_ialltoall(&one, 1, MPI_INT, &one, 1, MPI_INT, comm, nullptr); });
  MPI_Info natively;
  MPI_Info_create(&natively);
  MPI_Info_set(natively, "shoal_alltoall", "native");
  wrong += shoal_alltoall_init(&one, 0, MPI_INT, &one, 0, MPI_INT, comm, natively, &request) != MPI_SUCCESS;
  MPI_Info_free(&natively);
  wrong += shoal_start(request) != MPI_SUCCESS;
  expect_thrown("start", [&] { shoal_start(request); });
  wrong += shoal_wait(&request) != MPI_SUCCESS;
  wrong += shoal_request_free(&request) != MPI_SUCCESS;
}

void call_from_fortran(MPI_Comm comm, int ranks) {
  const std::vector<int> negative(ranks, -1), zeros(ranks, 0);
  const std::vector<MPI_Fint> types(ranks, MPI_Type_c2f(MPI_INT));
  int code = 0;
  expect_thrown("alltoallw_f", [&] {
    shoal_alltoallw_f(&code, negative.data(), zeros.data(), types.data(), &code, negative.data(), zeros.data(),
                      types.data(), MPI_Comm_c2f(comm), &code);
  });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Errhandler throwing;
  int ranks = 0, rank = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_create_errhandler(throw_up, &throwing);
  for (const MPI_Comm one : {comm, MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(one, throwing);
  make_requests(comm);
  call_from_fortran(comm, ranks);
  expect_thrown("no communicator",
                [] { shoal_neighbor_alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, MPI_COMM_NULL); });
  if (rank == 0 || wrong) std::printf("%d wrong\n", wrong);
  MPI_Errhandler_free(&throwing);
  MPI_Comm_free(&comm);
  MPI_Finalize();
}
