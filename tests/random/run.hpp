// Performs a program on this rank, and compares it with the MPI's own collectives.
#pragma once

#include <mpi.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "exchange.hpp"
#include "program.hpp"

namespace random_programs {

// What this rank is doing, to be said if the program hangs.
const char* being_done();

class run {
 public:
  // `what` must outlive the run. All ranks of the world take part.
  run(const program& what, names used, int rank);
  run(const run&) = delete;
  run& operator=(const run&) = delete;

  // Performs the program. Returns the first thing that was wrong on this rank, or an empty text.
  std::string perform();

 private:
  struct place {
    MPI_Comm comm = MPI_COMM_NULL, reference = MPI_COMM_NULL;  // the second is only for the MPI's own
  };
  struct record {
    std::unique_ptr<exchange> at;
    std::vector<std::vector<int>> received;  // by run; empty after an error
    std::vector<int> kept;                   // what the buffer holds until the next run
    // A persistent request, or one of Shoal's that is under way.
    shoal_request request = SHOAL_REQUEST_NULL;
    MPI_Request natives = MPI_REQUEST_NULL;
    int free();  // an MPI error code
  };
  // The request of an exchange, or else of a message, whose integers are in `ints` when the request has ended.
  struct open_request {
    int exchange = -1;
    MPI_Request natives = MPI_REQUEST_NULL;  // null: the request is Shoal's
    std::vector<int> ints = {}, expected = {};
    bool is_shoals() const { return natives == MPI_REQUEST_NULL; }
  };

  bool takes_part(const step& one) const;
  void perform(const step& one);
  void make(int team);
  void free(int team);
  void ask(const step& one);
  void call(const step& one);
  void begin(const step& one);
  void prepare(const step& one);
  void start(const step& one);
  void release(const step& one);
  void send_or_receive(const step& one);
  void add_message(std::vector<int> ints, bool sends, int peer, int tag, MPI_Comm comm);

  // Ends some of what is under way, or looks at it, in an order of this rank's own.
  void dawdle();
  void wait_for(open_request* one);
  bool look(open_request* one);
  void end_of(int exchange);
  void end_all();
  void wait_for_all();
  open_request* open_of_shoal() const;
  void ended(open_request* one, int code);
  void took(int exchange, int code);

  void compare();
  void compare_run(int exchange, std::size_t number);
  void close();
  void expect(bool holds, const std::string& what);
  void tell(const std::string& doing) const;
  record& fresh(const step& one);
  MPI_Comm comm_of(int exchange) const { return places_[what_.exchanges[exchange].team].comm; }
  int below(int bound) { return static_cast<int>(own_random_() % static_cast<unsigned>(bound)); }

  const program& what_;
  names used_;
  int rank_;
  std::mt19937_64 own_random_;  // a different one on every rank
  std::vector<place> places_;
  std::vector<record> records_;
  std::vector<std::unique_ptr<open_request>> open_;
  std::string step_, wrong_;
};

}  // namespace random_programs
