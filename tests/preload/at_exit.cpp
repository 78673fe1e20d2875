// Calls MPI_Finalize in the destructor of a global object, when the program exits. Before that it frees nothing but a
// communicator.
#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

namespace {

struct environment {
  ~environment() {
    std::vector<std::unique_ptr<std::string>> some;
    for (int i = 0; i < 8; ++i) some.push_back(std::make_unique<std::string>("x"));
    some.clear();
    MPI_Finalize();
    std::vector<std::unique_ptr<char[]>> more;  // crashes if somebody wrote to freed memory
    for (int i = 0; i < 64; ++i) more.push_back(std::make_unique<char[]>(8));
  }
} ended_at_exit;

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_free(&copy);
}
