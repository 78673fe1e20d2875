#include "calls/reporter.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <locale>
#include <map>

#include "learn/lessons.hpp"
#include "team/boundary.hpp"
#include "team/errors.hpp"
#include "team/scoped_group.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

struct members {
  int ranks = 0;
  int first = MPI_UNDEFINED;  // the number that the first one has in the world
  bool have_rank_0 = false;   // that of the world
};

int translated(int rank, MPI_Group from, MPI_Group to) {
  int there = MPI_UNDEFINED;
  require(PMPI_Group_translate_ranks(from, 1, &rank, to, &there), "MPI_Group_translate_ranks");
  return there;
}

members members_of(const scoped_group& group) {
  const scoped_group world(MPI_COMM_WORLD);
  members found;
  require(PMPI_Group_size(group.get(), &found.ranks), "MPI_Group_size");
  found.first = translated(0, group.get(), world.get());
  found.have_rank_0 = translated(0, world.get(), group.get()) != MPI_UNDEFINED;
  return found;
}

// The ranks of both groups. Ranks of other jobs are not in the world.
members members_of_both(const members& own, const members& others) {
  const bool own_are_first = others.first == MPI_UNDEFINED || own.first < others.first;
  return {own.ranks + others.ranks, own_are_first ? own.first : others.first, own.have_rank_0 || others.have_rank_0};
}

// Whether this rank is the first one of a communicator, which may have two groups, that it tells of instead of rank 0.
// Local.
bool tells_instead_of_rank_0(MPI_Comm comm) {
  int rank = -1, world_rank = -1, world_ranks = 0;
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  require(PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank), "MPI_Comm_rank");
  if (rank != 0 || world_rank == 0) return false;
  require(PMPI_Comm_size(MPI_COMM_WORLD, &world_ranks), "MPI_Comm_size");
  members all = members_of(scoped_group(comm));
  if (between_groups(comm)) all = members_of_both(all, members_of(scoped_group(comm, PMPI_Comm_remote_group)));
  return all.first == world_rank && !all.have_rank_0 && all.ranks > 1 && 2 * all.ranks >= world_ranks;
}

void report_lessons(const learner& of, usage_report& report) {
  report.begin_communicator();
  for (const lesson& one : of.lessons()) {
    const std::string name = name_of(to_string(of.what()), one.form);
    if (of.is_left_to_mpi()) report.add_left(name, of.why(), one.natives.calls, one.natives.seconds);
    else report.add(name, of.ranks(), "native", one.natives);
    if (!one.tried.empty()) report.add_finding(name, of.ranks(), one.block_bytes, one.tried);
  }
}

void report_exchanges(const learner& of, usage_report& report) {
  if (!of.state()) return;
  for (const call_form form : call_forms)
    if (const neighborhood* const among = of.among(form))
      for (const auto& [spec, ready] : among->algorithms().all())
        report.add(settings::name_of(of.what(), form), of.ranks(), spec, ready.uses[form]);
  report.add_verified(of.state()->verified, of.state()->verified_by_sums);
}

void report_gathers(const intercommunicator& of, usage_report& report) {
  for (const auto& [spec, plan] : of.all_plans())
    for (const call_form form : settings::forms_of(collective::allgather))
      report.add(name_of("allgather", form), of.ranks(), spec, plan.uses[form]);
  report.add_verified(of.verified, of.verified_by_sums);
}

void report_groups(const group_learner& of, usage_report& report) {
  if (of.state()) report_gathers(*of.state(), report);
  for (const bool uniform : {false, true})
    report.add(uniform ? "allgather" : "allgatherv", of.ranks(), "native", of.unserved(uniform));
}

// As in report.json and report.rank1.json.
std::string report_file_of(int rank, const std::string& first) {
  std::filesystem::path path = first;
  if (rank != 0) path.replace_extension(".rank" + std::to_string(rank) + ".json");
  return path;
}

}  // namespace

void reporter::heed(MPI_Comm comm) noexcept {
  if (job_.set().report == reporting::none || tells_) return;
  try {
    tells_ = tells_instead_of_rank_0(comm);
  } catch (...) {
    return;
  }
}

void reporter::add(const users_communicator& held) {
  const std::scoped_lock guard(lock_);
  held.each_learner([this](const learner& of) {
    report_lessons(of, report_);
    report_exchanges(of, report_);
  });
  if (held.sparse) report_.add("exchange", held.sparse->ranks(), "digits", held.sparse->used());
  if (held.of_groups) report_groups(*held.of_groups, report_);
}

void reporter::add_left(const std::string& call, const std::string& reason, double seconds) noexcept {
  try {
    const std::scoped_lock guard(lock_);
    report_.add_left(call, reason, 1, seconds);
  } catch (...) {  // the report lacks this call
    return;
  }
}

void reporter::add_late(const std::string& call, int ranks, const std::string& spec, const usage& what) {
  const std::scoped_lock guard(lock_);
  report_.add(call, ranks, spec, what);
}

void reporter::add_late_verified(const usage& what) {
  const std::scoped_lock guard(lock_);
  report_.add_verified({}, what);
}

void reporter::tell(int rank) {
  if ((rank == 0 || tells_) && !report_.empty()) write(rank);
}

void reporter::tell_of_nothing() {
  if (!has_told_) write(0);
}

void reporter::write(int rank) {
  if (job_.set().report == reporting::none) return;
  has_told_ = true;
  if (job_.set().report_file.empty()) return report_.print(std::cerr, rank, job_.books());
  const std::string path = report_file_of(rank, job_.set().report_file);
  std::ofstream file(path);
  file.imbue(std::locale::classic());
  report_.write_json(file, rank, job_.books());
  if (!file.flush()) say_once("SHOAL_REPORT=" + path + " cannot be written", "no report is written");
}

}  // namespace shoal
