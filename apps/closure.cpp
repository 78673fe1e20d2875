// Finds which vertices of a graph reach which others: the transitive closure, by relational algebra, with one
// non-uniform exchange in each iteration.
//
//   mpiexec -n 8 closure road:2000 --check         or power:3000, or a file: Matrix Market, or lines "from to"
//   SHOAL_ALLTOALLV=native mpiexec -n 8 closure road:2000
//
// Semi-naive evaluation (the path finding of the TuNA paper): the owner of a vertex keeps the edges from this vertex
// and the paths that end in it. An iteration joins the paths that the last iteration found with the edges, and sends
// each longer path to the owner of its end, which keeps the paths that it did not know. The iterations end when no rank
// has found a path. There are about as many as the graph's diameter; late ones exchange little.
#include <mpi.h>
#include <shoal/shoal.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

struct edge {
  int from, to;
};
using graph = std::vector<edge>;

struct path {  // says that there is a path from one vertex to another
  std::int32_t from, to;
  std::uint64_t key() const { return static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to); }
};

// A long road with short cuts: each vertex leads to the next, and every tenth vertex also to one of the next three. Its
// diameter is about nine tenths of the number of vertices.
graph road(int vertices) {
  graph edges;
  std::mt19937 random(1);
  for (int v = 0; v + 1 < vertices; ++v) {
    edges.push_back({v, v + 1});
    if (v % 10 == 0) edges.push_back({v, std::min(vertices - 1, v + 1 + static_cast<int>(random() % 3))});
  }
  return edges;
}

// Each vertex leads to two earlier vertices. The more edges a vertex has already, the likelier it is chosen.
graph power(int vertices) {
  graph edges;
  std::vector<int> ends{0};
  std::mt19937 random(1);
  for (int v = 1; v < vertices; ++v)
    for (int i = 0; i < 2; ++i) {
      const int to = ends[random() % ends.size()];
      edges.push_back({v, to});
      ends.insert(ends.end(), {v, to});
    }
  return edges;
}

graph read(const std::string& name) {
  std::ifstream file(name);
  if (!file) throw std::invalid_argument(name + " cannot be read; give a file, road:VERTICES or power:VERTICES");
  graph edges;
  std::string line;
  bool matrix_market = false, sizes_come = false;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.rfind("%%MatrixMarket", 0) == 0) matrix_market = sizes_come = true;
    if (line.empty() || line[0] == '%' || line[0] == '#') continue;
    std::istringstream in(line);
    edge e;
    if (!(in >> e.from >> e.to) || e.from < 0 || e.to < 0)
      throw std::invalid_argument(name + ", line " + std::to_string(number) + ": two vertices were expected: " + line);
    if (sizes_come) sizes_come = false;
    else edges.push_back(matrix_market ? edge{e.from - 1, e.to - 1} : e);
  }
  return edges;
}

graph load(const std::string& what) {
  const auto colon = what.find(':');
  const std::string kind = what.substr(0, colon);
  if (colon != std::string::npos && (kind == "road" || kind == "power")) {
    const int vertices = std::stoi(what.substr(colon + 1));
    return kind == "road" ? road(vertices) : power(vertices);
  }
  return read(what);
}

int vertices_of(const graph& edges) {
  int most = -1;
  for (const edge& e : edges) most = std::max({most, e.from, e.to});
  return most + 1;
}

// The sum of these does not depend on the order of paths, so each rank can add up its own.
std::uint64_t checksum(std::uint64_t key) { return (key ^ (key >> 29)) * 0xbf58476d1ce4e5b9u; }

struct result {
  std::uint64_t paths = 0, sum = 0;
  bool operator==(const result&) const = default;
};

// Finds the closure on one rank, vertex by vertex.
result serial_closure(const graph& edges) {
  std::vector<std::vector<int>> next(vertices_of(edges));
  for (const edge& e : edges) next[e.from].push_back(e.to);
  result all;
  for (int start = 0; start < static_cast<int>(next.size()); ++start) {
    std::vector<bool> seen(next.size());
    std::vector<int> open{start};
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      for (int to : next[at]) {
        if (seen[to]) continue;
        seen[to] = true;
        open.push_back(to);
        ++all.paths;
        all.sum += checksum(path{start, to}.key());
      }
    }
  }
  return all;
}

class closure {
 public:
  closure(const graph& edges, MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks_);
    outbox_.resize(ranks_);
    next_.resize(vertices_of(edges));
    for (const edge& e : edges) {
      if (owner(e.from) == rank_) next_[e.from].push_back(e.to);
      if (owner(e.to) == rank_) keep({e.from, e.to});
    }
  }

  result run() {
    for (bool more = true; more; ++iterations) {
      for (const path& p : std::exchange(found_, {}))
        for (int to : next_[p.to]) outbox_[owner(to)].push_back({p.from, to});
      for (const path& p : exchanged()) keep(p);
      more = anybody_found();
    }
    std::uint64_t mine[2] = {known_.size(), 0}, all[2];
    for (std::uint64_t key : known_) mine[1] += checksum(key);
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, comm_);
    return {all[0], all[1]};
  }

  int iterations = 0;
  double exchange_seconds = 0, agree_seconds = 0;

 private:
  int owner(int vertex) const { return static_cast<int>((vertex * 2654435761u >> 8) % static_cast<unsigned>(ranks_)); }

  void keep(const path& p) {
    if (known_.insert(p.key()).second) found_.push_back(p);
  }

  bool anybody_found() {
    const double begin = MPI_Wtime();
    int any = !found_.empty(), everyones = 0;
    MPI_Allreduce(&any, &everyones, 1, MPI_INT, MPI_MAX, comm_);
    agree_seconds += MPI_Wtime() - begin;
    return everyones;
  }

  // Empties the outbox, and returns the paths that all ranks have for this one.
  std::vector<path> exchanged() {
    std::vector<int> sent(ranks_), received(ranks_), from(ranks_), to(ranks_);
    std::vector<path> send;
    for (int peer = 0; peer < ranks_; ++peer) {
      sent[peer] = static_cast<int>(outbox_[peer].size());
      send.insert(send.end(), outbox_[peer].begin(), outbox_[peer].end());
      outbox_[peer].clear();
    }
    const double begin = MPI_Wtime();
    shoal_alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm_);
    std::exclusive_scan(sent.begin(), sent.end(), from.begin(), 0);
    std::exclusive_scan(received.begin(), received.end(), to.begin(), 0);
    std::vector<path> recv(static_cast<std::size_t>(to.back() + received.back()));
    shoal_alltoallv(send.data(), sent.data(), from.data(), MPI_2INT, recv.data(), received.data(), to.data(), MPI_2INT,
                    comm_);
    exchange_seconds += MPI_Wtime() - begin;
    return recv;
  }

  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
  std::vector<std::vector<int>> next_;       // edges from this rank's vertices
  std::unordered_set<std::uint64_t> known_;  // paths to this rank's vertices
  std::vector<path> found_;                  // those that are new since the last iteration
  std::vector<std::vector<path>> outbox_;    // paths to send, by owner
};

int solve(const std::string& what, bool check) {
  const graph edges = load(what);
  closure solver(edges, MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const result found = solver.run();
  const double seconds = MPI_Wtime() - begin;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank != 0) return 0;
  std::printf("%s on %d ranks: %zu edges, %llu paths, %d iterations\n", what.c_str(), ranks, edges.size(),
              static_cast<unsigned long long>(found.paths), solver.iterations);
  std::printf("%.3f s, of which exchanging %.3f s (%.1f us an iteration), agreeing whether to go on %.3f s\n", seconds,
              solver.exchange_seconds, solver.exchange_seconds * 1e6 / solver.iterations, solver.agree_seconds);
  if (!check) return 0;
  const bool right = found == serial_closure(edges);
  std::printf("%s\n", right ? "equal to the serial closure" : "WRONG: differs from the serial closure");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 2, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    if (argc < 2) throw std::invalid_argument("usage: closure FILE | road:VERTICES | power:VERTICES [--check]");
    status = solve(argv[1], argc > 2 && std::string(argv[2]) == "--check");
  } catch (const std::exception& error) {  // wrong input: the same on every rank
    if (rank == 0) std::fprintf(stderr, "closure: %s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
