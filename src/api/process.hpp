// What Shoal keeps once per process: settings, the communicators in use, and what was done.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/communicator.hpp"
#include "api/intercommunicator.hpp"
#include "api/report.hpp"
#include "api/settings.hpp"
#include "api/traffic.hpp"

namespace shoal {

class process {
 public:
  // The one of this process; made on first use, after MPI_Init.
  static process& get();

  // Shoal's state for a communicator, made on first use, which is collective. Null, on every rank, when Shoal
  // cannot serve it; `wrong` then says what is wrong, or is empty where the MPI's own collective is the right one.
  communicator* state_of(MPI_Comm comm, std::string& wrong);

  // The state when there is one already; else null.
  communicator* present_state_of(MPI_Comm comm) const;

  // The same for an inter-communicator.
  intercommunicator* groups_of(MPI_Comm comm, std::string& wrong);

  // One line: what ran last on a communicator, and why.
  std::string explain(MPI_Comm comm);

  const settings& set() const { return settings_; }
  traffic_record& traffic() { return traffic_; }

 private:
  // What hangs on a user's communicator: its state, or why there is none, so that ranks agree on that only once.
  struct attribute {
    std::shared_ptr<communicator> state;        // open requests keep it
    std::shared_ptr<intercommunicator> groups;  // and this
    bool unserved_groups = false;               // an inter-communicator that was not asked to be served yet
    std::string why;
    bool wrong = false;  // the settings are, so that the user should know
  };

  process();
  // The attribute of a communicator; null: it has none yet.
  attribute* find(MPI_Comm comm) const;
  attribute* attach(MPI_Comm comm);
  void serve(MPI_Comm comm, attribute& held);
  void serve_groups(MPI_Comm comm, attribute& held);
  using term_list = std::array<std::int64_t, 6>;
  term_list terms() const;
  settings agreed_settings(const term_list& all) const;
  template <typename Make>
  bool fits(attribute& held, Make make);
  bool may_serve(const term_list& all, attribute& held) const;
  void no_communicator(attribute& held) const;
  std::string wrong_settings(const term_list& all) const;
  void release(attribute* held);
  void finish();
  void save_profile() const;
  static int on_free(MPI_Comm comm, int key, void* state, void* self);
  static int on_finalize(MPI_Comm comm, int key, void* state, void* self);

  settings settings_;
  std::string problem_;  // why the settings cannot be used
  int state_key_ = MPI_KEYVAL_INVALID, finalize_key_ = MPI_KEYVAL_INVALID;
  bool closed_ = false;  // before MPI_Init, or MPI_Finalize has begun
  std::mutex lock_;
  std::vector<attribute*> attributes_;
  std::atomic<std::uint64_t> released_ = 0;  // how many were released
  std::atomic<int> served_ = 0;              // communicators that have a state
  usage_report report_;
  traffic_record traffic_;
  std::optional<profile> learned_;  // on a communicator as large as the world
};

}  // namespace shoal
