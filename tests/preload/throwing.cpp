// throwing: the error handler throws, as a handler in C++ may. The program must get each exception once, and go on. Any
// argument says that Shoal exchanges: then the program also tries blocks that are too long, and requests.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

int handled = 0;

void handler(MPI_Comm*, int* code, ...) {
  ++handled;
  throw std::runtime_error(std::to_string(*code));
}

// Exchanges blocks of `sent` integers on ranks that expect `expected`. Returns whether the blocks arrived.
bool exchange(MPI_Comm comm, int sent, int expected) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<int> out(ranks * 8), in(ranks * 8, -1), sends(ranks, sent), receives(ranks, expected), at(ranks);
  for (int i = 0; i < ranks; ++i) at[i] = 8 * i;
  for (int i = 0; i < ranks * 8; ++i) out[i] = rank * 1000 + i;
  MPI_Alltoallv(out.data(), sends.data(), at.data(), MPI_INT, in.data(), receives.data(), at.data(), MPI_INT, comm);
  for (int from = 0; from < ranks; ++from)
    for (int k = 0; k < sent; ++k)
      if (in[at[from] + k] != from * 1000 + rank * 8 + k) return false;
  return true;
}

// Whether the exchange called the handler once, and its exception arrived here.
bool throws(MPI_Comm comm, int sent, int expected) {
  const int before = handled;
  try {
    exchange(comm, sent, expected);
  } catch (const std::runtime_error& error) {
    return handled == before + 1 && error.what()[0] >= '0' && error.what()[0] <= '9';
  }
  return false;
}

// The buffers and counts of an exchange that sends blocks of `sent` integers and expects `expected`.
struct blocks {
  blocks(MPI_Comm comm, int sent, int expected) {
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    out.resize(ranks * 8), in.resize(ranks * 8);
    sends.resize(ranks, sent), receives.resize(ranks, expected), at.resize(ranks);
    for (int i = 0; i < ranks; ++i) at[i] = 8 * i;
  }
  std::vector<int> out, in, sends, receives, at;
};

// Whether a nonblocking exchange of blocks that are too long called the handler once, and the program heard of the
// error: by an exception or, if the request ends inside the MPI, by an error code.
bool throws_while_under_way(MPI_Comm comm) {
  const int before = handled;
  blocks b(comm, 5, 3);
  MPI_Request request;
  int code = MPI_SUCCESS;
  try {
    MPI_Ialltoallv(b.out.data(), b.sends.data(), b.at.data(), MPI_INT, b.in.data(), b.receives.data(), b.at.data(),
                   MPI_INT, comm, &request);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  } catch (const std::runtime_error&) {
    code = MPI_ERR_OTHER;
  }
  return handled == before + 1 && code != MPI_SUCCESS;
}

// Whether the handler throws if a request is started that is under way already, and the request goes on.
bool throws_when_started_twice(MPI_Comm comm) {
  const int before = handled;
  blocks b(comm, 5, 5);
  MPI_Request request;
  bool threw = false;
  MPI_Alltoallv_init(b.out.data(), b.sends.data(), b.at.data(), MPI_INT, b.in.data(), b.receives.data(), b.at.data(),
                     MPI_INT, comm, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  try {
    MPI_Start(&request);
  } catch (const std::runtime_error&) {
    threw = handled == before + 1;
  }
  const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return threw && code == MPI_SUCCESS;
}

int refuse_once(MPI_Comm, int, void* refused, void*) {
  return (*static_cast<int*>(refused))++ ? MPI_SUCCESS : MPI_ERR_OTHER;
}

// Whether the handler throws out of MPI_Comm_free if a function of the program refuses to delete an attribute. The
// communicator stays as it is.
bool throws_when_freed(MPI_Comm comm) {
  static int refused = 0;
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_once, &key, nullptr);
  MPI_Comm_set_attr(comm, key, &refused);
  try {
    MPI_Comm_free(&comm);
  } catch (const std::runtime_error&) {
    return refused == 1;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Errhandler throwing;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(handler, &throwing);
  MPI_Comm_set_errhandler(comm, throwing);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, throwing);  // MPICH calls this handler for errors of MPI_Comm_free
  int wrong = 0;
  for (int i = 0; i < 10; ++i) {  // on a single rank
    wrong += !exchange(MPI_COMM_SELF, 5, 5);
    wrong += !throws(MPI_COMM_SELF, -1, -1);
  }
  for (int i = 0; i < 110; ++i) {
    wrong += !throws(comm, -1, -1);
    wrong += argc > 1 && !throws(comm, 5, 3);  // the places are too short for what arrives
    wrong += !exchange(comm, 5, 5);
  }
  for (int i = 0; argc > 1 && i < 10; ++i) {
    wrong += !throws_while_under_way(comm);
    wrong += !throws_when_started_twice(comm);
    wrong += !exchange(comm, 5, 5);
  }
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < 700; ++i) {  // Shoal has settled, and does not time most of them
    if (i % 50 == 49 && rank == 1) wrong += !throws(comm, -1, -1);
    wrong += !exchange(comm, 5, 5);
  }
  wrong += !throws_when_freed(comm);
  for (int i = 0; i < 10; ++i) wrong += !exchange(comm, 5, 5);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d wrong\n", all);
  MPI_Errhandler_free(&throwing);
  MPI_Comm_free(&comm);
  MPI_Finalize();
}
