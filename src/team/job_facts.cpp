#include "team/job_facts.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "select/settings.hpp"
#include "transport/core_quota.hpp"

namespace shoal {

namespace {

// A number for the host, its boot and the IPC namespace of a container.
std::uint64_t node_name() {
  std::array<char, 256> host{}, space{};
  gethostname(host.data(), host.size() - 1);
  std::string text = host.data(), boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  if (readlink("/proc/self/ns/ipc", space.data(), space.size() - 1) > 0) text += space.data();
  return hash_of(text + boot);
}

// The CPUs that this rank may run on.
std::vector<int> own_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

// The number of the job's ranks on this node, which Hydra and Intel MPI, Open MPI, MVAPICH, PALS and Slurm set for each
// rank. 0 if none of them does.
int ranks_by_launcher() {
  for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE",
                           "PALS_LOCAL_SIZE", "PMI_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE"}) {
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    int ranks = 0;
    if (text && std::from_chars(text, text + std::strlen(text), ranks).ec == std::errc() && ranks > 0) return ranks;
  }
  return 0;
}

// The cores of this node that the job's ranks have together. Ranks that are bound to cores have a few each.
int cores_of_job(int own, int ranks) {
  const int all = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  const int cores = std::min(all, std::max(1, own) * std::max(1, ranks));
  return std::min(cores, quota_cores(cores));
}

}  // namespace

job_facts find_job_facts(node_level level) {
  job_facts here;
  here.cpus = own_cpus();
  here.node = node_name();
  here.domain = hash_of(domain_of(here.cpus, level));
  here.ranks_here = ranks_by_launcher();
  here.cores = cores_of_job(static_cast<int>(here.cpus.size()), here.ranks_here);
  return here;
}

int ranks_on_node(const job_facts& here, int ranks) { return here.ranks_here > 0 ? here.ranks_here : ranks; }

wait_mode standard_wait_mode(const job_facts& here, int ranks) {
  return ranks_on_node(here, ranks) > here.cores ? wait_mode::yield : wait_mode::spin;
}

}  // namespace shoal
