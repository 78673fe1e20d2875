// Functions that C can call never throw, whatever goes wrong inside.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "info.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

// The functions of the Fortran module, for which there is no header.
extern "C" {
void shoal_alltoall_f(const void*, int, MPI_Fint, void*, int, MPI_Fint, MPI_Fint, int*);
void shoal_alltoallv_f(const void*, const int*, const int*, MPI_Fint, void*, const int*, const int*, MPI_Fint, MPI_Fint,
                       int*);
void shoal_alltoallw_f(const void*, const int*, const int*, const MPI_Fint*, void*, const int*, const int*,
                       const MPI_Fint*, MPI_Fint, int*);
void shoal_allgather_f(const void*, int, MPI_Fint, void*, int, MPI_Fint, MPI_Fint, int*);
void shoal_allgatherv_f(const void*, int, MPI_Fint, void*, const int*, const int*, MPI_Fint, MPI_Fint, int*);
void shoal_alltoall_c_f(const void*, MPI_Count, MPI_Fint, void*, MPI_Count, MPI_Fint, MPI_Fint, int*);
void shoal_alltoallv_c_f(const void*, const MPI_Count*, const MPI_Aint*, MPI_Fint, void*, const MPI_Count*,
                         const MPI_Aint*, MPI_Fint, MPI_Fint, int*);
void shoal_alltoallw_c_f(const void*, const MPI_Count*, const MPI_Aint*, const MPI_Fint*, void*, const MPI_Count*,
                         const MPI_Aint*, const MPI_Fint*, MPI_Fint, int*);
void shoal_allgather_c_f(const void*, MPI_Count, MPI_Fint, void*, MPI_Count, MPI_Fint, MPI_Fint, int*);
void shoal_allgatherv_c_f(const void*, MPI_Count, MPI_Fint, void*, const MPI_Count*, const MPI_Aint*, MPI_Fint,
                          MPI_Fint, int*);
void shoal_alltoall_with_f(const void*, int, MPI_Fint, void*, int, MPI_Fint, MPI_Fint, MPI_Fint, int*);
void shoal_alltoallv_with_f(const void*, const int*, const int*, MPI_Fint, void*, const int*, const int*, MPI_Fint,
                            MPI_Fint, MPI_Fint, int*);
void shoal_alltoallw_with_f(const void*, const int*, const int*, const MPI_Fint*, void*, const int*, const int*,
                            const MPI_Fint*, MPI_Fint, MPI_Fint, int*);
void shoal_allgather_with_f(const void*, int, MPI_Fint, void*, int, MPI_Fint, MPI_Fint, MPI_Fint, int*);
void shoal_allgatherv_with_f(const void*, int, MPI_Fint, void*, const int*, const int*, MPI_Fint, MPI_Fint, MPI_Fint,
                             int*);
void shoal_neighbor_alltoall_f(const void*, int, MPI_Fint, void*, int, MPI_Fint, MPI_Fint, int*);
void shoal_neighbor_alltoallv_f(const void*, const int*, const int*, MPI_Fint, void*, const int*, const int*, MPI_Fint,
                                MPI_Fint, int*);
void shoal_neighbor_alltoallw_f(const void*, const int*, const MPI_Aint*, const MPI_Fint*, void*, const int*,
                                const MPI_Aint*, const MPI_Fint*, MPI_Fint, int*);
void shoal_ialltoall_f(const void*, int, MPI_Fint, void*, int, MPI_Fint, MPI_Fint, shoal_request*, int*);
void shoal_ialltoallv_f(const void*, const int*, const int*, MPI_Fint, void*, const int*, const int*, MPI_Fint,
                        MPI_Fint, shoal_request*, int*);
void shoal_ialltoallw_f(const void*, const int*, const int*, const MPI_Fint*, void*, const int*, const int*,
                        const MPI_Fint*, MPI_Fint, shoal_request*, int*);
void shoal_ialltoall_c_f(const void*, MPI_Count, MPI_Fint, void*, MPI_Count, MPI_Fint, MPI_Fint, shoal_request*, int*);
void shoal_ialltoallv_c_f(const void*, const MPI_Count*, const MPI_Aint*, MPI_Fint, void*, const MPI_Count*,
                          const MPI_Aint*, MPI_Fint, MPI_Fint, shoal_request*, int*);
void shoal_ialltoallw_c_f(const void*, const MPI_Count*, const MPI_Aint*, const MPI_Fint*, void*, const MPI_Count*,
                          const MPI_Aint*, const MPI_Fint*, MPI_Fint, shoal_request*, int*);
void shoal_alltoall_init_f(const void*, int, MPI_Fint, void*, int, MPI_Fint, MPI_Fint, MPI_Fint, shoal_request*, int*);
void shoal_alltoallv_init_f(const void*, const int*, const int*, MPI_Fint, void*, const int*, const int*, MPI_Fint,
                            MPI_Fint, MPI_Fint, shoal_request*, int*);
void shoal_alltoallw_init_f(const void*, const int*, const int*, const MPI_Fint*, void*, const int*, const int*,
                            const MPI_Fint*, MPI_Fint, MPI_Fint, shoal_request*, int*);
void shoal_alltoall_init_c_f(const void*, MPI_Count, MPI_Fint, void*, MPI_Count, MPI_Fint, MPI_Fint, MPI_Fint,
                             shoal_request*, int*);
void shoal_alltoallv_init_c_f(const void*, const MPI_Count*, const MPI_Aint*, MPI_Fint, void*, const MPI_Count*,
                              const MPI_Aint*, MPI_Fint, MPI_Fint, MPI_Fint, shoal_request*, int*);
void shoal_alltoallw_init_c_f(const void*, const MPI_Count*, const MPI_Aint*, const MPI_Fint*, void*, const MPI_Count*,
                              const MPI_Aint*, const MPI_Fint*, MPI_Fint, MPI_Fint, shoal_request*, int*);
void shoal_allgather_init_f(const void*, int, MPI_Fint, void*, int, MPI_Fint, MPI_Fint, MPI_Fint, shoal_request*, int*);
void shoal_allgatherv_init_f(const void*, int, MPI_Fint, void*, const int*, const int*, MPI_Fint, MPI_Fint, MPI_Fint,
                             shoal_request*, int*);
void shoal_start_f(const shoal_request*, int*);
void shoal_test_f(shoal_request*, int*, int*);
void shoal_wait_f(shoal_request*, int*);
void shoal_request_free_f(shoal_request*, int*);
void shoal_exchange_f(int, const int*, const void*, const MPI_Count*, const MPI_Aint*, MPI_Fint, MPI_Fint,
                      shoal_arrivals**, int*);
void shoal_iexchange_f(int, const int*, const void*, const MPI_Count*, const MPI_Aint*, MPI_Fint, MPI_Fint, void*,
                       void (*)(void*, shoal_arrivals*), shoal_request*, int*);
void shoal_arrivals_free_f(shoal_arrivals**, int*);
void shoal_comm_set_info_f(MPI_Fint, MPI_Fint, int*);
void shoal_comm_explain_f(MPI_Fint, char*, int, int*);
}

namespace shoal {
namespace {

struct exported {
  const char* name;
  std::function<int(MPI_Comm)> call;
};

// A communicator on which the rank is its own neighbour.
MPI_Comm ring_of_one() {
  const int once = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_SELF, 1, &once, &once, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  return ring;
}

// Every function of tests/golden/abi_0.txt that takes a communicator, with right arguments for one rank. Functions that
// take requests or arrivals are called with those that the others make.
std::vector<exported> every_function_of_c() {
  static const int one = 1, zero = 0;
  static const MPI_Count large_one = 1;
  static const MPI_Aint large_zero = 0;
  static int send = 7, recv = 0;
  static const int ones[] = {1, 1}, places[] = {0, 1};  // on both sides
  static const MPI_Aint bytes[] = {0, sizeof(int)};
  static const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  static int two[2], two_more[2];
  static char text[100];
  const MPI_Datatype type = MPI_INT;
  const auto started = [](int code, shoal_request request) {
    if (code != MPI_SUCCESS) return code;
    return shoal_wait(&request);
  };
  const auto repeated = [](int code, shoal_request request) {
    if (code != MPI_SUCCESS) return code;
    code = shoal_start(request);
    int ended = 0;
    while (code == MPI_SUCCESS && !ended) code = shoal_test(&request, &ended);
    const int freed = shoal_request_free(&request);
    return code == MPI_SUCCESS ? freed : code;
  };
  using comm = MPI_Comm;
  const MPI_Info none = MPI_INFO_NULL;
  static const info& named = *new info(for_exchanges("tuna:radix=2"));  // nothing is measured for it
  const MPI_Info by_name = named;
  return {
      {"alltoall", [=](comm c) { return shoal_alltoall(&send, 1, type, &recv, 1, type, c); }},
      {"alltoallv", [=](comm c) { return shoal_alltoallv(&send, &one, &zero, type, &recv, &one, &zero, type, c); }},
      {"alltoall_c", [=](comm c) { return shoal_alltoall_c(&send, 1, type, &recv, 1, type, c); }},
      {"alltoallv_c",
       [=](comm c) {
         return shoal_alltoallv_c(&send, &large_one, &large_zero, type, &recv, &large_one, &large_zero, type, c);
       }},
      {"alltoall_with", [=](comm c) { return shoal_alltoall_with(&send, 1, type, &recv, 1, type, c, none); }},
      {"alltoallv_with",
       [=](comm c) { return shoal_alltoallv_with(&send, &one, &zero, type, &recv, &one, &zero, type, c, none); }},
      {"alltoallw", [=](comm c) { return shoal_alltoallw(&send, &one, &zero, &type, &recv, &one, &zero, &type, c); }},
      {"alltoallw_c",
       [=](comm c) {
         return shoal_alltoallw_c(&send, &large_one, &large_zero, &type, &recv, &large_one, &large_zero, &type, c);
       }},
      {"alltoallw_with",
       [=](comm c) { return shoal_alltoallw_with(&send, &one, &zero, &type, &recv, &one, &zero, &type, c, none); }},
      {"allgather", [=](comm c) { return shoal_allgather(&send, 1, type, &recv, 1, type, c); }},
      {"allgatherv", [=](comm c) { return shoal_allgatherv(&send, 1, type, &recv, &one, &zero, type, c); }},
      {"allgather_c", [=](comm c) { return shoal_allgather_c(&send, 1, type, &recv, 1, type, c); }},
      {"allgatherv_c",
       [=](comm c) { return shoal_allgatherv_c(&send, 1, type, &recv, &large_one, &large_zero, type, c); }},
      {"allgather_with", [=](comm c) { return shoal_allgather_with(&send, 1, type, &recv, 1, type, c, none); }},
      {"allgatherv_with",
       [=](comm c) { return shoal_allgatherv_with(&send, 1, type, &recv, &one, &zero, type, c, none); }},
      {"ialltoall",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code = shoal_ialltoall(&send, 1, type, &recv, 1, type, c, &r);
         return started(code, r);
       }},
      {"ialltoallv",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code = shoal_ialltoallv(&send, &one, &zero, type, &recv, &one, &zero, type, c, &r);
         return started(code, r);
       }},
      {"ialltoallw",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code = shoal_ialltoallw(&send, &one, &zero, &type, &recv, &one, &zero, &type, c, &r);
         return started(code, r);
       }},
      {"ialltoallw_c",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code =
             shoal_ialltoallw_c(&send, &large_one, &large_zero, &type, &recv, &large_one, &large_zero, &type, c, &r);
         return started(code, r);
       }},
      {"exchange",
       [=](comm c) {
         shoal_arrivals* came = nullptr;
         const int code = shoal_exchange(1, &zero, &send, &large_one, &large_zero, type, c, &came);
         shoal_arrivals_free(&came);
         return code;
       }},
      {"iexchange",
       [=](comm c) {
         shoal_arrivals* came = nullptr;
         shoal_request r = SHOAL_REQUEST_NULL;
         int code = shoal_iexchange(1, &zero, &send, &large_one, &large_zero, type, c, &came, &r);
         code = started(code, r);
         shoal_arrivals_free(&came);
         return code;
       }},
      {"alltoall_init",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code = shoal_alltoall_init(&send, 1, type, &recv, 1, type, c, by_name, &r);
         return repeated(code, r);
       }},
      {"alltoallv_init",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code = shoal_alltoallv_init(&send, &one, &zero, type, &recv, &one, &zero, type, c, by_name, &r);
         return repeated(code, r);
       }},
      {"alltoallw_init",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code = shoal_alltoallw_init(&send, &one, &zero, &type, &recv, &one, &zero, &type, c, by_name, &r);
         return repeated(code, r);
       }},
      {"alltoallw_init_c",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code = shoal_alltoallw_init_c(&send, &large_one, &large_zero, &type, &recv, &large_one, &large_zero,
                                                 &type, c, by_name, &r);
         return repeated(code, r);
       }},
      {"allgather_init",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code = shoal_allgather_init(&send, 1, type, &recv, 1, type, c, by_name, &r);
         return repeated(code, r);
       }},
      {"allgatherv_init",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code = shoal_allgatherv_init(&send, 1, type, &recv, &one, &zero, type, c, by_name, &r);
         return repeated(code, r);
       }},
      {"ialltoall_c",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code = shoal_ialltoall_c(&send, 1, type, &recv, 1, type, c, &r);
         return started(code, r);
       }},
      {"ialltoallv_c",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code =
             shoal_ialltoallv_c(&send, &large_one, &large_zero, type, &recv, &large_one, &large_zero, type, c, &r);
         return started(code, r);
       }},
      {"alltoall_init_c",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code = shoal_alltoall_init_c(&send, 1, type, &recv, 1, type, c, by_name, &r);
         return repeated(code, r);
       }},
      {"alltoallv_init_c",
       [=](comm c) {
         shoal_request r = SHOAL_REQUEST_NULL;
         const int code = shoal_alltoallv_init_c(&send, &large_one, &large_zero, type, &recv, &large_one, &large_zero,
                                                 type, c, by_name, &r);
         return repeated(code, r);
       }},
      {"neighbor_alltoall", [=](comm c) { return shoal_neighbor_alltoall(two, 1, type, two_more, 1, type, c); }},
      {"neighbor_alltoallv",
       [=](comm c) { return shoal_neighbor_alltoallv(two, ones, places, type, two_more, ones, places, type, c); }},
      {"neighbor_alltoallw",
       [=](comm c) { return shoal_neighbor_alltoallw(two, ones, bytes, types, two_more, ones, bytes, types, c); }},
      {"comm_set_info", [=](comm c) { return shoal_comm_set_info(c, MPI_INFO_ENV); }},
      {"comm_explain", [=](comm c) { return shoal_comm_explain(c, text, sizeof text); }},
  };
}

// The same functions by Fortran's names. They return their code in the last argument.
std::vector<exported> every_function_of_fortran() {
  static const int one = 1, zero = 0;
  static const MPI_Count large_one = 1;
  static const MPI_Aint large_zero = 0;
  static int send = 7, recv = 0;
  static const int ones[] = {1, 1}, places[] = {0, 1};  // on both sides
  static const MPI_Aint bytes[] = {0, sizeof(int)};
  static int two[2], two_more[2];
  static char text[100];
  static const MPI_Fint type = MPI_Type_c2f(MPI_INT), types[] = {type, type};
  static const info& named = *new info(for_exchanges("tuna:radix=2"));  // nothing is measured for it
  const MPI_Fint by_name = MPI_Info_c2f(named), none = MPI_Info_c2f(MPI_INFO_NULL);
  const auto coded = [](auto function, auto... all) {
    int code = 0;
    function(all..., &code);
    return code;
  };
  const auto started = [coded](auto function, auto... all) {
    shoal_request request = SHOAL_REQUEST_NULL;
    const int code = coded(function, all..., &request);
    return code == MPI_SUCCESS ? coded(shoal_wait_f, &request) : code;
  };
  const auto repeated = [coded](auto function, auto... all) {
    shoal_request request = SHOAL_REQUEST_NULL;
    int code = coded(function, all..., &request);
    if (code != MPI_SUCCESS) return code;
    code = coded(shoal_start_f, &request);
    int ended = 0;
    while (code == MPI_SUCCESS && !ended) code = coded(shoal_test_f, &request, &ended);
    const int freed = coded(shoal_request_free_f, &request);
    return code == MPI_SUCCESS ? freed : code;
  };
  const auto given = [](auto call) { return [call](MPI_Comm comm) { return call(MPI_Comm_c2f(comm)); }; };
  using comm = MPI_Fint;
#define EQUAL &send, 1, type, &recv, 1, type, c
#define SIZED &send, &one, &zero, type, &recv, &one, &zero, type, c
#define TYPED &send, &one, &zero, types, &recv, &one, &zero, types, c
#define GATHERED &send, 1, type, &recv, &one, &zero, type, c
#define LARGE_SIZED &send, &large_one, &large_zero, type, &recv, &large_one, &large_zero, type, c
#define LARGE_TYPED &send, &large_one, &large_zero, types, &recv, &large_one, &large_zero, types, c
#define LARGE_GATHERED &send, 1, type, &recv, &large_one, &large_zero, type, c
  return {
      {"alltoall_f", given([=](comm c) { return coded(shoal_alltoall_f, EQUAL); })},
      {"alltoallv_f", given([=](comm c) { return coded(shoal_alltoallv_f, SIZED); })},
      {"alltoallw_f", given([=](comm c) { return coded(shoal_alltoallw_f, TYPED); })},
      {"allgather_f", given([=](comm c) { return coded(shoal_allgather_f, EQUAL); })},
      {"allgatherv_f", given([=](comm c) { return coded(shoal_allgatherv_f, GATHERED); })},
      {"alltoall_c_f", given([=](comm c) { return coded(shoal_alltoall_c_f, EQUAL); })},
      {"alltoallv_c_f", given([=](comm c) { return coded(shoal_alltoallv_c_f, LARGE_SIZED); })},
      {"alltoallw_c_f", given([=](comm c) { return coded(shoal_alltoallw_c_f, LARGE_TYPED); })},
      {"allgather_c_f", given([=](comm c) { return coded(shoal_allgather_c_f, EQUAL); })},
      {"allgatherv_c_f", given([=](comm c) { return coded(shoal_allgatherv_c_f, LARGE_GATHERED); })},
      {"alltoall_with_f", given([=](comm c) { return coded(shoal_alltoall_with_f, EQUAL, none); })},
      {"alltoallv_with_f", given([=](comm c) { return coded(shoal_alltoallv_with_f, SIZED, none); })},
      {"alltoallw_with_f", given([=](comm c) { return coded(shoal_alltoallw_with_f, TYPED, none); })},
      {"allgather_with_f", given([=](comm c) { return coded(shoal_allgather_with_f, EQUAL, none); })},
      {"allgatherv_with_f", given([=](comm c) { return coded(shoal_allgatherv_with_f, GATHERED, none); })},
      {"ialltoall_f", given([=](comm c) { return started(shoal_ialltoall_f, EQUAL); })},
      {"ialltoallv_f", given([=](comm c) { return started(shoal_ialltoallv_f, SIZED); })},
      {"ialltoallw_f", given([=](comm c) { return started(shoal_ialltoallw_f, TYPED); })},
      {"ialltoall_c_f", given([=](comm c) { return started(shoal_ialltoall_c_f, EQUAL); })},
      {"ialltoallv_c_f", given([=](comm c) { return started(shoal_ialltoallv_c_f, LARGE_SIZED); })},
      {"ialltoallw_c_f", given([=](comm c) { return started(shoal_ialltoallw_c_f, LARGE_TYPED); })},
      {"alltoall_init_f", given([=](comm c) { return repeated(shoal_alltoall_init_f, EQUAL, by_name); })},
      {"alltoallv_init_f", given([=](comm c) { return repeated(shoal_alltoallv_init_f, SIZED, by_name); })},
      {"alltoallw_init_f", given([=](comm c) { return repeated(shoal_alltoallw_init_f, TYPED, by_name); })},
      {"alltoall_init_c_f", given([=](comm c) { return repeated(shoal_alltoall_init_c_f, EQUAL, by_name); })},
      {"alltoallv_init_c_f", given([=](comm c) { return repeated(shoal_alltoallv_init_c_f, LARGE_SIZED, by_name); })},
      {"alltoallw_init_c_f", given([=](comm c) { return repeated(shoal_alltoallw_init_c_f, LARGE_TYPED, by_name); })},
      {"allgather_init_f", given([=](comm c) { return repeated(shoal_allgather_init_f, EQUAL, by_name); })},
      {"allgatherv_init_f", given([=](comm c) { return repeated(shoal_allgatherv_init_f, GATHERED, by_name); })},
      {"neighbor_alltoall_f",
       given([=](comm c) { return coded(shoal_neighbor_alltoall_f, two, 1, type, two_more, 1, type, c); })},
      {"neighbor_alltoallv_f", given([=](comm c) {
         return coded(shoal_neighbor_alltoallv_f, two, ones, places, type, two_more, ones, places, type, c);
       })},
      {"neighbor_alltoallw_f", given([=](comm c) {
         return coded(shoal_neighbor_alltoallw_f, two, ones, bytes, types, two_more, ones, bytes, types, c);
       })},
      {"exchange_f", given([=](comm c) {
         shoal_arrivals* came = nullptr;
         const int code = coded(shoal_exchange_f, 1, &zero, &send, &large_one, &large_zero, type, c, &came);
         shoal_arrivals_free_f(&came, nullptr);
         return code;
       })},
      {"iexchange_f", given([=](comm c) {
         shoal_arrivals* came = nullptr;
         const auto put = [](void* where, shoal_arrivals* all) { *static_cast<shoal_arrivals**>(where) = all; };
         const int code = started(shoal_iexchange_f, 1, &zero, &send, &large_one, &large_zero, type, c, &came, put);
         shoal_arrivals_free_f(&came, nullptr);
         return code;
       })},
      {"comm_set_info_f", given([=](comm c) { return coded(shoal_comm_set_info_f, c, MPI_Info_c2f(MPI_INFO_ENV)); })},
      {"comm_explain_f",
       given([=](comm c) { return coded(shoal_comm_explain_f, c, text, static_cast<int>(sizeof text)); })},
  };
#undef EQUAL
#undef SIZED
#undef TYPED
#undef GATHERED
#undef LARGE_SIZED
#undef LARGE_TYPED
#undef LARGE_GATHERED
}

std::vector<exported> every_function() {
  std::vector<exported> all = every_function_of_c(), more = every_function_of_fortran();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Boundary, NoCommunicatorIsAnErrorOfEveryFunction) {
  for (const exported& one : every_function()) {
    doing(one.name);
    EXPECT_NE(one.call(MPI_COMM_NULL), MPI_SUCCESS) << one.name;
  }
}

// Memory runs out at the first allocation, then at the second, and so on until the call succeeds. After each of these
// calls the next call is right.
TEST(Boundary, WithoutMemoryEveryFunctionReturns) {
  for (const exported& one : every_function())
    for (int left = 0, code = MPI_ERR_NO_MEM; code != MPI_SUCCESS; ++left) {
      ASSERT_LT(left, 2000) << one.name;
      doing(std::string(one.name) + " with memory for " + std::to_string(left));
      MPI_Comm comm = ring_of_one();
      bool threw = false;
      {
        const scarce_memory scarce(left);
        try {
          code = one.call(comm);
        } catch (...) {
          threw = true;
        }
      }
      EXPECT_FALSE(threw) << one.name << " with memory for " << left;
      EXPECT_EQ(one.call(comm), MPI_SUCCESS) << one.name;
      const scarce_memory scarce(left % 3);
      MPI_Comm_free(&comm);
    }
}

}  // namespace
}  // namespace shoal
