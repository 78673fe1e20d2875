// A program for some ranks, made from a seed: the same on every rank that makes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace random_programs {

// Which names a program calls: those of shoal.h, with requests, infos and errors, or MPI's, which a preload may serve.
enum class names { of_shoal, of_mpi };

// One dimension of a grid.
struct dimension {
  int ranks;
  bool is_ring;
};

// A communicator. Its ranks are given as ranks of the world, in the order of the communicator.
struct team {
  std::vector<int> first, second;          // `second` is empty unless this is an inter-communicator
  std::vector<dimension> grid;             // of a Cartesian communicator, else empty
  std::vector<std::pair<int, int>> graph;  // the edges of a graph, from a rank to a rank; else empty

  bool between_groups() const { return !second.empty(); }
  bool has_neighbors() const { return !grid.empty() || !graph.empty(); }
  // The neighbours of a rank, in MPI's order. MPI_PROC_NULL beyond the edge of a grid.
  std::vector<int> sources(int rank) const;
  std::vector<int> destinations(int rank) const;
  bool has(int rank) const;
  // The group of a rank, and the ranks with which it exchanges.
  const std::vector<int>& own(int rank) const;
  const std::vector<int>& peers(int rank) const;
};

// One rank expects `more` elements than another sends it, or fewer if `more` is negative.
struct mistake {
  int rank, peer, more;
};

struct exchange_plan {
  std::uint64_t id = 0;
  int team = 0;
  bool gathers = false, uniform = false, typed = false, in_place = false, wide = false;
  bool among_neighbors = false, to_some = false;  // the latter: shoal_exchange()
  bool is_blocking = true;
  int largest = 0;         // elements of a block, at most
  int times = 1;           // runs, one after the other
  std::string spec;        // that the call asks for
  bool is_shoals = false;  // Shoal surely serves it
  bool is_refused = false;
  std::optional<mistake> wrong;

  int elements(const random_programs::team& where, int from, int to) const;
  int size(std::uint64_t number) const;  // of a block; follows from the number
  // The name of the function, such as alltoallv or shoal_exchange.
  std::string call() const;
  // To whom a rank sends in a shoal_exchange(), as places in the team, and how much.
  std::vector<int> receivers(const random_programs::team& where, int from) const;
  std::vector<int> sizes_to_some(const random_programs::team& where, int from) const;
};

struct step {
  enum class deed {
    make_team,
    free_team,
    ask,       // shoal_comm_set_info
    exchange,  // blocking
    begin,     // nonblocking
    prepare,   // persistent
    start,
    release,
    message
  };
  deed what = deed::exchange;
  int team = 0, exchange = 0;
  std::string spec;                // to ask for
  bool differs = false;            // one rank asks for something else: an error on all ranks
  int from = 0, to = 0, ints = 0;  // of a message
};

struct program {
  std::uint64_t seed = 0;
  int ranks = 0;
  std::vector<team> teams;
  std::vector<exchange_plan> exchanges;
  std::vector<step> steps;

  // The step in one line.
  std::string text(const step& one) const;
};

program make_program(std::uint64_t seed, int ranks, names used);

// A number that looks random, but follows from the arguments.
template <typename... More>
std::uint64_t mixed(std::uint64_t first, More... more) {
  std::uint64_t x = first + 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  if constexpr (sizeof...(more) > 0) return mixed(x ^ mixed(static_cast<std::uint64_t>(more)...));
  else return x;
}

}  // namespace random_programs
