// All tests that need MPI, in one program: mpiexec -n P mpi_tests. Every rank runs every test; rank 0 reports.
#include <fenv.h>  // NOLINT(modernize-deprecated-headers): feenableexcept
#include <gtest/gtest.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "together.hpp"

namespace shoal {
namespace {

constexpr unsigned longest_test_seconds = 120;  // more than any test needs, even on a busy machine
std::string failures;                           // what failed on this rank in the running test

void write_out(const char* text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(4);
}

// Says which test does not end, so that whoever started the program need not find out.
void give_up(int) {
  write_out("mpi_tests: still running, given up: ");
  write_out(being_done());
  write_out("\n");
  write_out(failures.c_str());
  _exit(3);
}

// Rank 0 prints what failed or was skipped, on whatever rank, and a summary.
class reporter : public testing::EmptyTestEventListener {
 public:
  bool failed() const { return failed_ > 0; }

 private:
  void OnTestStart(const testing::TestInfo& test) override {
    doing(name_of(test) + " on rank " + std::to_string(world_rank()));
    alarm(longest_test_seconds);
    failures.clear();
    skip_reason_.clear();
  }

  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.skipped()) skip_reason_ = part.summary();
    if (!part.failed()) return;
    if (part.file_name()) failures += part.file_name() + (":" + std::to_string(part.line_number()));
    failures += std::string("\n") + part.message() + "\n";
  }

  void OnTestEnd(const testing::TestInfo& test) override {
    const std::vector<std::string> all = collected(failures);
    alarm(0);
    if (!skip_reason_.empty()) ++skipped_;
    if (world_rank() != 0) return;
    bool here = false;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      here = here || !all[rank].empty();
      if (!all[rank].empty()) std::printf("FAILED %s, rank %zu: %s\n", name_of(test).c_str(), rank, all[rank].c_str());
    }
    failed_ += here;
    if (!skip_reason_.empty()) std::printf("skipped %s: %s\n", name_of(test).c_str(), skip_reason_.c_str());
    if (!testing::GTEST_FLAG(brief) && !here && skip_reason_.empty())
      std::printf("passed %s (%d ms)\n", name_of(test).c_str(), static_cast<int>(test.result()->elapsed_time()));
    std::fflush(stdout);
  }

  void OnTestProgramEnd(const testing::UnitTest& all) override {
    if (world_rank() != 0) return;
    std::printf("mpi_tests: %d tests on %d ranks, %s: %d failed, %d skipped\n", all.test_to_run_count(), world_ranks(),
                mpi_name().c_str(), failed_, skipped_);
    std::fflush(stdout);
  }

  static std::string name_of(const testing::TestInfo& test) {
    return std::string(test.test_suite_name()) + "." + test.name();
  }

  std::string skip_reason_;
  int failed_ = 0, skipped_ = 0;
};

int run_tests() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  auto* const speaks = new reporter;  // the listeners own it
  listeners.Append(speaks);
  const bool failed = RUN_ALL_TESTS() != 0;
  return on_any_rank(failed || speaks->failed());
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::signal(SIGALRM, shoal::give_up);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);  // as some programs do
  testing::InitGoogleTest(&argc, argv);
  const int code = shoal::run_tests();
  shoal::free_many_communicators();
  MPI_Finalize();
  return code;
}
