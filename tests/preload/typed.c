/* Exchanges in which each block has a datatype of its own, as in transforms of fields. Every element is checked: typed
 * [times].
 *
 * A matrix of doubles whose rows are spread over the ranks becomes one whose columns are, by types of subarrays, and
 * goes back; some blocks are empty. This takes 2 calls of MPI_Alltoallw each time. Then follow one call with
 * MPI_IN_PLACE, one with 64-bit counts if there is such a function, and one between two groups if the number of ranks
 * is even. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows = 11, columns = 14, most = 64 };

typedef int alltoallw_c(const void *, const MPI_Count *, const MPI_Aint *, const MPI_Datatype *, void *, const MPI_Count *,
                        const MPI_Aint *, const MPI_Datatype *, MPI_Comm);

static int rank, ranks, faults;
static int ones[most], zeros[most], some[most], theirs[most];
static MPI_Datatype across[most], down[most];
static double by_rows[rows * columns], by_columns[rows * columns];

static int first(int n, int part) { return n * part / ranks; }
static int size(int n, int part) { return first(n, part + 1) - first(n, part); }
static double value(int row, int column, int time) { return row * 1000 + column + time / 16.0; }

static MPI_Datatype part(int height, int width, int part_height, int part_width, int row, int column) {
  const int sizes[] = {height, width}, parts[] = {part_height, part_width}, begin[] = {row, column};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (part_height * part_width == 0) return made;
  MPI_Type_create_subarray(2, sizes, parts, begin, MPI_ORDER_C, MPI_DOUBLE, &made);
  MPI_Type_commit(&made);
  return made;
}

static void prepare(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int mine = size(rows, rank), own = size(columns, rank);
  for (int i = 0; i < ranks; ++i) {
    across[i] = part(mine, columns, mine, size(columns, i), 0, first(columns, i));
    down[i] = part(rows, own, size(rows, i), own, first(rows, i), 0);
    some[i] = across[i] != MPI_DATATYPE_NULL, theirs[i] = down[i] != MPI_DATATYPE_NULL;
    if (!some[i]) across[i] = MPI_DOUBLE; /* not every MPI takes MPI_DATATYPE_NULL */
    if (!theirs[i]) down[i] = MPI_DOUBLE;
    ones[i] = 1;
  }
}

static void transform(int time) {
  const int mine = size(rows, rank), own = size(columns, rank);
  for (int i = 0; i < mine; ++i)
    for (int k = 0; k < columns; ++k) by_rows[i * columns + k] = value(first(rows, rank) + i, k, time);
  faults += MPI_Alltoallw(by_rows, some, zeros, across, by_columns, theirs, zeros, down, MPI_COMM_WORLD) != MPI_SUCCESS;
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < own; ++k) faults += by_columns[i * own + k] != value(i, first(columns, rank) + k, time);
  for (int i = 0; i < rows * columns; ++i) by_rows[i] = -1;
  faults += MPI_Alltoallw(by_columns, theirs, zeros, down, by_rows, some, zeros, across, MPI_COMM_WORLD) != MPI_SUCCESS;
  for (int i = 0; i < mine; ++i)
    for (int k = 0; k < columns; ++k) faults += by_rows[i * columns + k] != value(first(rows, rank) + i, k, time);
}

/* Alternate blocks of one and of two integers. */
static void in_place(void) {
  int got[2 * most], bytes[most];
  MPI_Datatype types[most], pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int i = 0; i < ranks; ++i) {
    types[i] = (i + rank) % 2 ? pair : MPI_INT;
    bytes[i] = i * 2 * (int)sizeof(int);
    got[2 * i] = got[2 * i + 1] = rank * 100 + i;
  }
  faults += MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, got, ones, bytes, types, MPI_COMM_WORLD) != MPI_SUCCESS;
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; k < 2; ++k) faults += got[2 * i + k] != (k && types[i] == MPI_INT ? rank * 100 + i : i * 100 + rank);
  MPI_Type_free(&pair);
}

static void wide(void) {
  void *const found = dlsym(RTLD_DEFAULT, "MPI_Alltoallw_c");
  alltoallw_c *const function = *(alltoallw_c *const *)&found;
  if (!function) return;
  MPI_Count counts[most];
  MPI_Aint bytes[most];
  MPI_Datatype types[most];
  int sent[most], got[most];
  for (int i = 0; i < ranks; ++i) {
    counts[i] = 1, bytes[i] = i * (int)sizeof(int), types[i] = MPI_INT;
    sent[i] = rank * 100 + i, got[i] = -1;
  }
  faults += function(sent, counts, bytes, types, got, counts, bytes, types, MPI_COMM_WORLD) != MPI_SUCCESS;
  for (int i = 0; i < ranks; ++i) faults += got[i] != i * 100 + rank;
  if (rank == 0) printf("wide\n");
}

static void between_groups(void) {
  if (ranks % 2) return;
  MPI_Comm half, both;
  int sent[most], got[most], bytes[most];
  MPI_Datatype types[most];
  for (int i = 0; i < ranks; ++i) sent[i] = rank, bytes[i] = i * (int)sizeof(int), types[i] = MPI_INT;
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < ranks / 2 ? ranks / 2 : 0, 1, &both);
  faults += MPI_Alltoallw(sent, ones, bytes, types, got, ones, bytes, types, both) != MPI_SUCCESS;
  for (int i = 0; i < ranks / 2; ++i) faults += got[i] != i + (rank < ranks / 2 ? ranks / 2 : 0);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  prepare();
  for (int time = argc > 1 ? atoi(argv[1]) : 1; time > 0; --time) transform(time);
  in_place();
  wide();
  between_groups();
  for (int i = 0; i < ranks; ++i) {
    if (some[i]) MPI_Type_free(&across[i]);
    if (theirs[i]) MPI_Type_free(&down[i]);
  }
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
