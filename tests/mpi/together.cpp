#include "together.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace shoal {

namespace {

constexpr int meeting_tag = 1, text_tag = 2;
char current[512] = "";

MPI_Comm meeting_comm() {
  static const MPI_Comm one = duplicate_of(MPI_COMM_WORLD);
  return one;
}

void wait_for(MPI_Request request) {
  for (int done = 0; !done;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) sched_yield();
  }
}

void send_to(int peer, int tag, const void* data, int bytes) {
  MPI_Request request;
  MPI_Isend(data, bytes, MPI_BYTE, peer, tag, meeting_comm(), &request);
  wait_for(request);
}

void receive_from(int peer, int tag, void* data, int bytes) {
  MPI_Request request;
  MPI_Irecv(data, bytes, MPI_BYTE, peer, tag, meeting_comm(), &request);
  wait_for(request);
}

std::string text_from(int peer) {
  int bytes = 0;
  receive_from(peer, text_tag, &bytes, sizeof bytes);
  std::string text(static_cast<std::size_t>(bytes), ' ');
  if (bytes > 0) receive_from(peer, text_tag, text.data(), bytes);
  return text;
}

// Keys that put ranks in an order that has nothing to do with their numbers. They are the same on every rank.
int shuffled_key(int rank) { return (rank * 7 + 3) % 11; }

std::vector<named_comm> make_communicators() {
  const int rank = world_rank(), ranks = world_ranks();
  return {
      {"world", MPI_COMM_WORLD},
      {"duplicate of world", duplicate_of(MPI_COMM_WORLD)},
      {"reversed world", split_of(MPI_COMM_WORLD, 0, -rank)},
      {"shuffled world", split_of(MPI_COMM_WORLD, 0, shuffled_key(rank))},
      {"odd or even ranks", split_of(MPI_COMM_WORLD, rank % 2, -rank)},
      {"thirds, shuffled", split_of(MPI_COMM_WORLD, rank * 3 / ranks, shuffled_key(rank))},
      {"all but the last", first_ranks(std::max(1, ranks - 1))},
      {"world without rank 0", split_of(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank)},
      {"one rank", split_of(MPI_COMM_WORLD, rank, 0)},
      {"self", MPI_COMM_SELF},
  };
}

std::vector<named_comm> communicators;

}  // namespace

int world_rank() { return rank_in(MPI_COMM_WORLD); }
int world_ranks() { return ranks_of(MPI_COMM_WORLD); }

std::string mpi_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string name(text.data(), text.data() + length);
  for (char& c : name)
    if (c == '\t' || c == ':') c = ' ';
  name = name.substr(0, name.find_first_of(",\n"));
  name.erase(std::unique(name.begin(), name.end(), [](char a, char b) { return a == ' ' && b == ' '; }), name.end());
  return name;
}

void doing(const std::string& what) { std::strncpy(current, what.c_str(), sizeof current - 1); }
const char* being_done() { return current; }

void meet() { on_any_rank(false); }

bool on_any_rank(bool here) {
  std::uint8_t any = here, one = 0;
  if (world_rank() != 0) {
    send_to(0, meeting_tag, &any, 1);
    receive_from(0, meeting_tag, &any, 1);
    return any;
  }
  for (int peer = 1; peer < world_ranks(); ++peer) {
    receive_from(peer, meeting_tag, &one, 1);
    any = any || one;
  }
  for (int peer = 1; peer < world_ranks(); ++peer) send_to(peer, meeting_tag, &any, 1);
  return any;
}

std::vector<std::string> collected(const std::string& mine) {
  std::vector<std::string> all{mine};
  if (world_rank() == 0) {
    for (int peer = 1; peer < world_ranks(); ++peer) all.push_back(text_from(peer));
    return all;
  }
  const int bytes = static_cast<int>(mine.size());
  send_to(0, text_tag, &bytes, sizeof bytes);
  if (bytes > 0) send_to(0, text_tag, mine.data(), bytes);
  return all;
}

MPI_Comm duplicate_of(MPI_Comm of) {
  MPI_Comm copy;
  MPI_Comm_dup(of, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  return copy;
}

MPI_Comm split_of(MPI_Comm of, int color, int key) {
  MPI_Comm part;
  MPI_Comm_split(of, color, key, &part);
  if (part != MPI_COMM_NULL) MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
  return part;
}

MPI_Comm first_ranks(int ranks) {
  return split_of(MPI_COMM_WORLD, world_rank() < ranks ? 0 : MPI_UNDEFINED, world_rank());
}

int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

const std::vector<named_comm>& many_communicators() {
  if (communicators.empty()) communicators = make_communicators();
  return communicators;
}

void free_many_communicators() {
  for (named_comm& one : communicators)
    if (one.comm != MPI_COMM_NULL && one.comm != MPI_COMM_WORLD && one.comm != MPI_COMM_SELF) MPI_Comm_free(&one.comm);
  communicators.clear();
}

}  // namespace shoal
