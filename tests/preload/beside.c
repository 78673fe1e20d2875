// beside ROUNDS [FILE]: exchanges beside one-sided communication or, with FILE, beside reads and writes of that file by
// all ranks. Epochs, and transfers from and to the file, are open while ranks exchange. A rank puts data into the
// memory of ranks that already wait in an exchange. Everything that arrives is compared.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { block = 64, most_ranks = 8 };

static int rank, ranks, turn, faults;

// What one rank gives another in this round.
static int number(int from, int to, int k) { return ((turn * most_ranks + from) * most_ranks + to) * block + k; }

static void fill(int from, int* all) {
  for (int to = 0; to < ranks; ++to)
    for (int k = 0; k < block; ++k) all[to * block + k] = number(from, to, k);
}

static void expect(int from, int to, const int* got) {
  for (int k = 0; k < block; ++k) faults += got[k] != number(from, to, k);
}

static void exchange_from(int* out) {
  static int in[most_ranks * block];
  memset(in, -1, sizeof in);
  fill(rank, out);
  MPI_Alltoall(out, block, MPI_INT, in, block, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) expect(i, rank, in + i * block);
}

static void exchange(void) {
  static int out[most_ranks * block];
  exchange_from(out);
}

// ---- windows: a place for the block of each rank, and a number that all ranks count up on rank 0 -------------------

static MPI_Win window;
static int *places, put_from[most_ranks * block];
static const MPI_Aint window_bytes = (most_ranks * block + 1) * sizeof(int);

static void begin_round(void) {
  fill(rank, put_from);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  memset(places, -1, most_ranks * block * sizeof(int));
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void put(int target) {
  MPI_Put(put_from + target * block, block, MPI_INT, target, rank * block, block, MPI_INT, window);
}

static void put_to_all(void) {
  for (int target = 0; target < ranks; ++target) put(target);
}

static void expect_from_all(void) {
  for (int from = 0; from < ranks; ++from) expect(from, rank, places + from * block);
}

static void between_fences(void) {
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  put_to_all();
  exchange();
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  expect_from_all();
}

static void while_posted(void) {
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Win_post(all, 0, window);
  MPI_Win_start(all, 0, window);
  put_to_all();
  exchange();
  MPI_Win_complete(window);
  exchange();
  MPI_Win_wait(window);
  MPI_Group_free(&all);
  expect_from_all();
}

static void while_locked(void) {
  MPI_Win_lock_all(0, window);
  put_to_all();
  exchange();
  MPI_Win_flush_all(window);
  exchange();
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_from_all();
}

// One rank comes late to the exchange, because first it puts data into the memory of those who wait for it there.
static void while_others_wait(void) {
  const int late = turn % ranks;
  for (int target = 0; rank == late && target < ranks; ++target) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    put(target);
    MPI_Win_unlock(target, window);
  }
  exchange();
  expect(late, rank, places + late * block);
}

static void count_up(void) {
  const int one = 1;
  int before = -1;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  MPI_Fetch_and_op(&one, &before, MPI_INT, 0, most_ranks * block, MPI_SUM, window);
  exchange();
  MPI_Win_unlock(0, window);
  faults += before < 0;
}

static void use_window(int rounds) {
  void (*const ways[])(void) = {between_fences, while_posted, while_locked, while_others_wait, count_up};
  places[most_ranks * block] = 0;
  for (turn = 0; turn < rounds; ++turn)
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
      begin_round();
      ways[i]();
      MPI_Barrier(MPI_COMM_WORLD);
    }
  faults += rank == 0 && places[most_ranks * block] != rounds * ranks;
  exchange_from(places);
  MPI_Win_free(&window);
}

static void use_windows(int rounds) {
  int* const own = malloc(window_bytes);
  places = own;
  MPI_Win_create(places, window_bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  use_window(rounds);
  free(own);
  MPI_Win_allocate(window_bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &places, &window);
  use_window(rounds);
  MPI_Win_allocate_shared(window_bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &places, &window);
  use_window(rounds);
}

// ---- a file: in each round every rank writes three rows of a block for each rank -----------------------------------

static MPI_File file;

static MPI_Offset place_of(int row, int writer) {
  return ((MPI_Offset)(3 * turn + row) * ranks + writer) * ranks * block;
}

// The blocks of all ranks in turn, so that ranks have to exchange what they write.
static void view_every(int of, int row) {
  MPI_Datatype one, every;
  MPI_Type_contiguous(block, MPI_INT, &one);
  MPI_Type_create_resized(one, 0, (MPI_Aint)ranks * block * sizeof(int), &every);
  MPI_Type_commit(&every);
  const MPI_Offset begin = (place_of(row, 0) + of * block) * (MPI_Offset)sizeof(int);
  MPI_File_set_view(file, begin, MPI_INT, every, "native", MPI_INFO_NULL);
  MPI_Type_free(&every);
  MPI_Type_free(&one);
}

static void view_all(void) { MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL); }

static void write_rows(const int* row, int all) {
  MPI_Request open;
  MPI_File_iwrite_at(file, place_of(0, rank), row, all, MPI_INT, &open);
  exchange();
  MPI_Wait(&open, MPI_STATUS_IGNORE);
  MPI_File_write_at_all_begin(file, place_of(1, rank), row, all, MPI_INT);
  exchange();
  MPI_File_write_at_all_end(file, row, MPI_STATUS_IGNORE);
  view_every(rank, 2);
  MPI_File_write_all(file, row, all, MPI_INT, MPI_STATUS_IGNORE);
  view_all();
}

static void expect_row(int from, const int* row) {
  for (int to = 0; to < ranks; ++to) expect(from, to, row + to * block);
}

static void read_rows(int of, int* row, int all) {
  MPI_Request open;
  MPI_File_iread_at(file, place_of(0, of), row, all, MPI_INT, &open);
  exchange();
  MPI_Wait(&open, MPI_STATUS_IGNORE);
  expect_row(of, row);
  MPI_File_read_at_all_begin(file, place_of(1, of), row, all, MPI_INT);
  exchange();
  MPI_File_read_at_all_end(file, row, MPI_STATUS_IGNORE);
  expect_row(of, row);
  view_every(of, 2);
  MPI_File_read_all(file, row, all, MPI_INT, MPI_STATUS_IGNORE);
  view_all();
  expect_row(of, row);
}

static void use_file(const char* name, int rounds) {
  static int row[most_ranks * block];
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  view_all();
  for (turn = 0; turn < rounds; ++turn) {
    fill(rank, row);
    write_rows(row, ranks * block);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    read_rows((rank + 1) % ranks, row, ranks * block);
  }
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = atoi(argv[1]);
  if (argc > 2) use_file(argv[2], rounds);
  else use_windows(rounds);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return 0;
}
