/* FFTW's parallel transform of uneven slabs, forward and back: transpose [ROWS COLUMNS TIMES]
 * Prints a sum over the spectra, the largest error, and the seconds of all transforms. FFTW exchanges by
 * MPI_Alltoall(v) if the plan may destroy its input and is out of place. */
#include <complex.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static ptrdiff_t rows = 60, columns = 44;

static double complex value(ptrdiff_t row, ptrdiff_t column) { return row * 0.5 - column + I * (row % 7) * (column % 5); }

static fftw_plan plan(fftw_complex *from, fftw_complex *to, int sign, unsigned layout) {
  return fftw_mpi_plan_dft_2d(rows, columns, from, to, MPI_COMM_WORLD, sign,
                              FFTW_ESTIMATE | FFTW_DESTROY_INPUT | layout);
}

int main(int argc, char **argv) {
  int times = 10;
  ptrdiff_t count, first, count_out, first_out;
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  if (argc > 3) rows = atoi(argv[1]), columns = atoi(argv[2]), times = atoi(argv[3]);
  const ptrdiff_t size = fftw_mpi_local_size_2d_transposed(rows, columns, MPI_COMM_WORLD, &count, &first, &count_out,
                                                           &first_out);
  fftw_complex *a = fftw_alloc_complex(size), *b = fftw_alloc_complex(size);
  fftw_plan forward = plan(a, b, FFTW_FORWARD, FFTW_MPI_TRANSPOSED_OUT);
  fftw_plan back = plan(b, a, FFTW_BACKWARD, FFTW_MPI_TRANSPOSED_IN);
  double error = 0, weight = 0, sums[2];
  const double began = MPI_Wtime();
  for (int time = 0; time < times; ++time) {
    for (ptrdiff_t i = 0; i < count * columns; ++i) a[i] = value(first + i / columns, i % columns) * (time + 1);
    fftw_execute(forward);
    for (ptrdiff_t i = 0; i < count_out * rows; ++i) weight += cabs(b[i]) * ((i + first_out * rows) % 11);
    fftw_execute(back);
    for (ptrdiff_t i = 0; i < count * columns; ++i)
      error = fmax(error, cabs(a[i] / (rows * columns) - value(first + i / columns, i % columns) * (time + 1)));
  }
  MPI_Reduce(&weight, &sums[0], 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&error, &sums[1], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("spectrum %a, error %a\n", sums[0], sums[1]), printf("SECONDS %.6f\n", MPI_Wtime() - began);
  MPI_Finalize();
  return 0;
}
