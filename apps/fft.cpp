// A Fourier transform over all ranks: FFTW transforms the rows, and Shoal's exchanges make three transposes.
//
//   mpiexec -n 8 fft 1000x1200 --check --repetitions 10
//   SHOAL_ALLTOALLV=native mpiexec -n 8 fft 1000x1200
//
// Bailey's six steps: N1 N2 points form a matrix of N1 rows. The matrix is transposed, its rows are transformed,
// multiplied by roots of unity, transposed, transformed and transposed. Rows are spread over the ranks as evenly as
// possible. If the number of ranks does not divide them, the transposes are non-uniform exchanges, as in the FFT of the
// TuNA paper. --check compares the result with one transform on one rank. --fftw-mpi also times FFTW's own parallel
// transform of as many points, if the program was built with it.
#include <fftw3.h>
#include <mpi.h>
#include <shoal/shoal.h>
#ifdef SHOAL_WITH_FFTW_MPI
#include <fftw3-mpi.h>
#endif

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using complex = std::complex<double>;
using points = std::vector<complex>;

struct options {
  int rows = 0, columns = 0, repetitions = 1;
  bool check = false, fftw_mpi = false;
};

fftw_complex* raw(complex* p) { return reinterpret_cast<fftw_complex*>(p); }

// Which of n rows each rank has. The first n mod P ranks have one more than the others.
class spread {
 public:
  spread(int n, int ranks) : n_(n), ranks_(ranks) {}
  int first(int rank) const { return rank * (n_ / ranks_) + std::min(rank, n_ % ranks_); }
  int count(int rank) const { return first(rank + 1) - first(rank); }

 private:
  int n_, ranks_;
};

class parallel_fft {
 public:
  parallel_fft(int rows, int columns, MPI_Comm comm) : rows_(rows), columns_(columns), comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks_);
    const int mine_before = spread(rows, ranks_).count(rank_), mine = spread(columns, ranks_).count(rank_);
    before_.resize(static_cast<std::size_t>(mine_before) * columns);
    after_.resize(static_cast<std::size_t>(mine) * rows);
    for (points* one : {&send_, &recv_}) one->resize(std::max(before_.size(), after_.size()));
    plan_after_ = plan(after_, mine, rows);
    plan_before_ = plan(before_, mine_before, columns);
    roots_.resize(after_.size());
    const double unit = -2 * std::numbers::pi / rows / columns;
    for (std::size_t i = 0; i < roots_.size(); ++i)
      roots_[i] = std::polar(1.0, unit * (spread(columns, ranks_).first(rank_) + i / rows) * (i % rows));
  }
  parallel_fft(const parallel_fft&) = delete;
  ~parallel_fft() {
    fftw_destroy_plan(plan_after_);
    fftw_destroy_plan(plan_before_);
  }

  // Takes this rank's rows of the matrix, and returns this rank's part of the transform: rows of a matrix that has as
  // many columns as the input has rows.
  const points& run(const points& rows_in) {
    std::ranges::copy(rows_in, before_.begin());
    transpose(before_, rows_, columns_, after_);
    transform(plan_after_);
    for (std::size_t i = 0; i < after_.size(); ++i) after_[i] *= roots_[i];
    transpose(after_, columns_, rows_, before_);
    transform(plan_before_);
    transpose(before_, rows_, columns_, after_);
    return after_;
  }

  double transform_seconds = 0, exchange_seconds = 0;

 private:
  // A plan to transform each row in place; null if there are no rows. FFTW plans by measuring, which overwrites data,
  // so this comes before there are any.
  static fftw_plan plan(points& a, int rows, int length) {
    if (rows == 0) return nullptr;
    return fftw_plan_many_dft(1, &length, rows, raw(a.data()), nullptr, 1, length, raw(a.data()), nullptr, 1, length,
                              FFTW_FORWARD, FFTW_MEASURE);
  }

  void transform(fftw_plan plan) {
    const double begin = MPI_Wtime();
    if (plan) fftw_execute(plan);
    transform_seconds += MPI_Wtime() - begin;
  }

  // Makes this rank's rows of the transpose (b) from its rows of a rows x columns matrix (a). A block holds what the
  // rows of one rank and the columns of another share, column after column.
  void transpose(const points& a, int rows, int columns, points& b) {
    const spread from(rows, ranks_), to(columns, ranks_);
    const int have = from.count(rank_), get = to.count(rank_);
    std::vector<int> sent(ranks_), received(ranks_), send_at(ranks_), recv_at(ranks_);
    for (int peer = 0; peer < ranks_; ++peer) {
      sent[peer] = have * to.count(peer);
      received[peer] = get * from.count(peer);
    }
    std::exclusive_scan(sent.begin(), sent.end(), send_at.begin(), 0);
    std::exclusive_scan(received.begin(), received.end(), recv_at.begin(), 0);
    turn(a, have, columns);
    exchange(sent, send_at, received, recv_at);
    for (int peer = 0, i = 0; peer < ranks_; ++peer)
      for (int column = 0; column < get; ++column, i += from.count(peer))
        std::copy_n(&recv_[i], from.count(peer), &b[static_cast<std::size_t>(column) * rows + from.first(peer)]);
  }

  // Writes rows as columns into send_, a few columns at a time, so that each cache line is read once.
  void turn(const points& a, int rows, int columns) {
    constexpr int together = 8;
    for (int first = 0; first < columns; first += together)
      for (int row = 0; row < rows; ++row)
        for (int column = first; column < std::min(columns, first + together); ++column)
          send_[static_cast<std::size_t>(column) * rows + row] = a[static_cast<std::size_t>(row) * columns + column];
  }

  void exchange(const std::vector<int>& sent, const std::vector<int>& send_at, const std::vector<int>& received,
                const std::vector<int>& recv_at) {
    const double begin = MPI_Wtime();
    shoal_alltoallv(send_.data(), sent.data(), send_at.data(), MPI_C_DOUBLE_COMPLEX, recv_.data(), received.data(),
                    recv_at.data(), MPI_C_DOUBLE_COMPLEX, comm_);
    exchange_seconds += MPI_Wtime() - begin;
  }

  int rows_, columns_, rank_ = 0, ranks_ = 1;
  MPI_Comm comm_;
  points before_, after_;  // this rank's rows of the matrix, and of its transpose
  points send_, recv_;
  points roots_;  // by which this rank multiplies after the first transform
  fftw_plan plan_after_ = nullptr, plan_before_ = nullptr;
};

// The input is the same for any number of ranks.
points input(std::size_t first, std::size_t count) {
  points a(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::minstd_rand random(static_cast<unsigned>(first + i + 1));
    a[i] = {random() * 0x1p-31 - 0.5, random() * 0x1p-31 - 0.5};
  }
  return a;
}

// The largest error of all points, relative to the largest point. Only rank 0 gets it; the others get 0.
double error_of(const points& mine, const options& what, MPI_Comm comm) {
  int rank = 0, ranks = 1, count = static_cast<int>(mine.size());
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const std::size_t all = static_cast<std::size_t>(what.rows) * what.columns;
  std::vector<int> counts(ranks), at(ranks);
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  std::exclusive_scan(counts.begin(), counts.end(), at.begin(), 0);
  points found(rank == 0 ? all : 0);
  MPI_Gatherv(mine.data(), count, MPI_C_DOUBLE_COMPLEX, found.data(), counts.data(), at.data(), MPI_C_DOUBLE_COMPLEX, 0,
              comm);
  if (rank != 0) return 0;
  points right = input(0, all);
  fftw_plan plan =
      fftw_plan_dft_1d(static_cast<int>(all), raw(right.data()), raw(right.data()), FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  double largest = 0, error = 0;
  for (std::size_t i = 0; i < all; ++i) {
    largest = std::max(largest, std::abs(right[i]));
    error = std::max(error, std::abs(right[i] - found[i]));
  }
  return error / largest;
}

#ifdef SHOAL_WITH_FFTW_MPI
// FFTW plans by measuring, so it exchanges in the way that it finds fastest.
double seconds_of_fftw_mpi(const options& what, MPI_Comm comm) {
  fftw_mpi_init();
  ptrdiff_t rows = 0, first = 0, rows_after = 0, first_after = 0;
  const ptrdiff_t all = static_cast<ptrdiff_t>(what.rows) * what.columns;
  const ptrdiff_t room =
      fftw_mpi_local_size_1d(all, comm, FFTW_FORWARD, FFTW_MEASURE, &rows, &first, &rows_after, &first_after);
  points in(static_cast<std::size_t>(room)), out(in.size());
  fftw_plan plan = fftw_mpi_plan_dft_1d(all, raw(in.data()), raw(out.data()), comm, FFTW_FORWARD, FFTW_MEASURE);
  std::ranges::copy(input(static_cast<std::size_t>(first), in.size()), in.begin());
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < what.repetitions; ++i) fftw_execute(plan);
  const double seconds = (MPI_Wtime() - begin) / what.repetitions;
  fftw_destroy_plan(plan);
  return seconds;
}
#else
double seconds_of_fftw_mpi(const options&, MPI_Comm) {
  throw std::invalid_argument("built without FFTW's parallel transforms (Debian: libfftw3-mpi-dev, for Open MPI)");
}
#endif

int solve(const options& what) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const spread rows(what.rows, ranks);
  const points mine = input(static_cast<std::size_t>(rows.first(rank)) * what.columns,
                            static_cast<std::size_t>(rows.count(rank)) * what.columns);
  parallel_fft solver(what.rows, what.columns, MPI_COMM_WORLD);
  const points* found = nullptr;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < what.repetitions; ++i) found = &solver.run(mine);
  const double seconds = (MPI_Wtime() - begin) / what.repetitions;
  const double theirs = what.fftw_mpi ? seconds_of_fftw_mpi(what, MPI_COMM_WORLD) : 0;
  const double error = what.check ? error_of(*found, what, MPI_COMM_WORLD) : 0;
  if (rank != 0) return 0;
  std::printf("%d x %d points on %d ranks: %.3f ms, of which exchanging %.3f ms, transforming %.3f ms\n", what.rows,
              what.columns, ranks, seconds * 1e3, solver.exchange_seconds / what.repetitions * 1e3,
              solver.transform_seconds / what.repetitions * 1e3);
  if (what.fftw_mpi) std::printf("FFTW-MPI: %.3f ms\n", theirs * 1e3);
  if (!what.check) return 0;
  const bool right = error < 1e-12;
  std::printf("%s one transform on one rank: largest error %.1e\n", right ? "equal to" : "WRONG: differs from", error);
  return right ? 0 : 1;
}

options parse(int argc, char** argv) {
  options all;
  if (argc < 2 || std::sscanf(argv[1], "%dx%d", &all.rows, &all.columns) != 2 || all.rows < 1 || all.columns < 1)
    throw std::invalid_argument(
        "usage: fft ROWSxCOLUMNS [--check] [--fftw-mpi] [--repetitions N], as in fft 1000x1200");
  if (std::int64_t{all.rows} * all.columns > std::numeric_limits<int>::max())  // counts of MPI and FFTW are ints
    throw std::invalid_argument(std::string(argv[1]) + " are too many points; at most 2147483647");
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--check") all.check = true;
    else if (option == "--fftw-mpi") all.fftw_mpi = true;
    else if (option == "--repetitions" && i + 1 < argc) all.repetitions = std::max(1, std::atoi(argv[++i]));
    else throw std::invalid_argument("there is no option " + option + "; there are --check, --fftw-mpi, --repetitions");
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 2, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    status = solve(parse(argc, argv));
  } catch (const std::exception& error) {  // wrong input: the same on every rank
    if (rank == 0) std::fprintf(stderr, "fft: %s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
