#include "calls/open_exchange.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calls/exchange_service.hpp"
#include "calls/exchange_work.hpp"
#include "calls/kept_type.hpp"
#include "calls/process.hpp"
#include "calls/serve.hpp"
#include "team/boundary.hpp"
#include "team/fault_tolerance.hpp"
#include "team/mpi_request.hpp"
#include "team/nearest_rounding.hpp"
#include "transport/mpi_error.hpp"
#include "transport/mpi_newer.hpp"

namespace shoal {

namespace {

// Copies of a call's counts or displacements. MPI forbids that a program frees the arrays, but MPIs copy them, and
// mpi4py frees them.
class kept_numbers {
 public:
  number_array keep(const number_array& users, int blocks) {
    if (users.is_missing()) return users;
    for (int i = 0; i < blocks; ++i)
      if (users.ints()) ints_.push_back(users.ints()[i]);
      else large_.push_back(users[i]);
    return users.ints() ? number_array(ints_.data()) : number_array(large_.data());
  }

 private:
  std::vector<int> ints_;
  std::vector<std::int64_t> large_;
};

class open_exchange final : public progress::part {
 public:
  open_exchange(const exchange_call& call, bool is_persistent);
  ~open_exchange() override;
  open_exchange(const open_exchange&) = delete;
  open_exchange& operator=(const open_exchange&) = delete;

  // The call, with arguments that stay until the end.
  const exchange_call& call() const { return call_; }
  MPI_Request handle() const { return handle_.handle(); }
  // The MPI's request, for the program.
  MPI_Request hand_out() { return handle_.hand_out(); }
  bool is_persistent() const { return is_persistent_; }
  bool is_active() const { return is_active_; }
  bool is_left() const { return is_left_; }
  // Starts an exchange that runs once. The communicator must be locked.
  void begin(std::unique_ptr<request::work> by_shoal);
  // Makes an exchange ready that runs many times; start() starts a run.
  void prepare(std::unique_ptr<request::work> by_shoal);
  int start();
  // The program has freed its request. The exchange goes once it has ended and no other thread is on its ranks.
  int leave();

  bool move() noexcept override;

 private:
  void keep_numbers(const block_peers& blocks, bool is_alike);
  void run();
  void record();
  int raise();
  void raise_inside_mpi() noexcept;
  bool advance() noexcept;
  void finish(bool with_error) noexcept;

  exchange_call call_;
  std::array<kept_types, 2> types_;
  std::array<kept_numbers, 4> numbers_;
  mpi_request handle_;
  bool is_persistent_, is_recorded_, is_left_ = false;
  std::atomic<bool> is_active_ = false;
  std::optional<request> by_shoal_;
};

// All that exist. Protected by the lock of `progress`.
std::vector<std::unique_ptr<open_exchange>>& all() {
  static auto* const open = new std::vector<std::unique_ptr<open_exchange>>;  // never destroyed: MPI may outlive it
  return *open;
}
std::atomic<int> persistent = 0;  // how many; if none, requests need not be looked up

open_exchange& keep(std::unique_ptr<open_exchange> one) {
  const std::scoped_lock alone(progress::get().lock());
  return *all().emplace_back(std::move(one));
}

void drop(const open_exchange* one) {
  const std::scoped_lock alone(progress::get().lock());
  const auto at = std::find_if(all().begin(), all().end(), [&](const auto& held) { return held.get() == one; });
  if (at == all().end()) return;
  const std::unique_ptr<open_exchange> dropped = std::move(*at);  // the MPI may move others as it goes: out of the list
  all().erase(at);
}

open_exchange* persistent_behind(MPI_Request request) {
  const std::scoped_lock alone(progress::get().lock());
  for (const auto& one : all())
    if (one->is_persistent() && !one->is_left() && one->handle() == request) return one.get();
  return nullptr;
}

open_exchange::open_exchange(const exchange_call& call, bool is_persistent)
    : call_(call),
      handle_(is_persistent),
      is_persistent_(is_persistent),
      is_recorded_(call.is_complete() && !process::get().set().record.empty() && traffic_record::is_of(call.comm)) {
  const block_peers blocks = call.kind->peers(call.comm);
  const bool is_alike = call_.are_sides_alike() && blocks.sent == blocks.received;  // what is kept must be alike too
  call_.recv_type = types_[0].keep(call_.recv_type, call_.recv_counts, blocks.received);
  if (is_alike) call_.send_type = call_.recv_type;
  else if (!call_.in_place()) call_.send_type = types_[1].keep(call_.send_type, call_.send_counts, blocks.sent);
  if (!call_.uniform) keep_numbers(blocks, is_alike);
  persistent += is_persistent;
}

void open_exchange::keep_numbers(const block_peers& blocks, bool is_alike) {
  call_.recv_counts = numbers_[0].keep(call_.recv_counts, blocks.received);
  call_.recv_displacements = numbers_[1].keep(call_.recv_displacements, blocks.received);
  if (call_.in_place()) return;
  call_.send_counts = is_alike ? call_.recv_counts : numbers_[2].keep(call_.send_counts, blocks.sent);
  call_.send_displacements = numbers_[3].keep(call_.send_displacements, blocks.sent);
}

open_exchange::~open_exchange() {
  progress::get().remove(this);
  persistent -= is_persistent_;
}

// If traffic is recorded, every start counts, as every blocking call does.
void open_exchange::record() {
  if (is_recorded_) process::get().traffic().add(call_);
}

void open_exchange::begin(std::unique_ptr<request::work> by_shoal) {
  by_shoal_.emplace(request::once(), call_.comm, request::native_start(), std::move(by_shoal));
  run();
}

void open_exchange::prepare(std::unique_ptr<request::work> by_shoal) {
  by_shoal_.emplace(request::repeated(), call_.comm, request::native_start(), std::move(by_shoal));
}

int open_exchange::start() {
  const auto alone = by_shoal_->exclusive();
  return returning_codes_by([this] { return raise(); },
                            [this] {
                              if (is_active_) throw mpi_error(MPI_ERR_REQUEST, "the request is under way");
                              run();
                              handle_.start();
                              return MPI_SUCCESS;
                            });
}

// From now on this object is moved, and not the request in it, so that the end is seen at once.
void open_exchange::run() {
  by_shoal_->start();
  progress::get().remove(&*by_shoal_);
  is_active_ = true;
  record();
  progress::get().add_for_mpi(this);
}

// Raises the exception being handled, on Shoal's own communicator if the program's is freed.
int open_exchange::raise() { return by_shoal_ ? by_shoal_->raise() : raise_current(call_.comm); }

// The MPI moves this exchange, and an exception cannot pass through the MPI's frames. So what the program's handler
// throws ends here, and whoever waits hears of the error by a code.
void open_exchange::raise_inside_mpi() noexcept {
  try {
    returning_codes_by([this] { return raise(); }, []() -> int { throw; });
  } catch (...) {
    return;
  }
}

bool open_exchange::move() noexcept {
  const held_ranks alone = by_shoal_->try_exclusive();
  if (!alone.lock) return false;
  const bool moved = is_active_ && advance();
  if (!is_active_ && (is_left_ || !is_persistent_)) drop(this);
  return moved;
}

bool open_exchange::advance() noexcept {
  bool moved = false, failed = false;
  try {
    moved = by_shoal_->active() && by_shoal_->move();
    if (by_shoal_->active() || !by_shoal_->test()) return moved;
  } catch (...) {
    raise_inside_mpi();
    failed = true;
  }
  finish(failed);
  return true;
}

void open_exchange::finish(bool with_error) noexcept {
  progress::get().remove(this);
  is_active_ = false;
  try {
    handle_.end(with_error);
  } catch (...) {
    raise_inside_mpi();
  }
}

int open_exchange::leave() {
  const std::scoped_lock alone(progress::get().lock());
  return returning_codes_by([this] { return raise(); },
                            [this] {
                              const held_ranks ranks = is_active_ ? held_ranks() : by_shoal_->try_exclusive();
                              if (ranks.lock) return drop(this), MPI_SUCCESS;
                              if (!is_active_) progress::get().add(this);
                              is_left_ = true;
                              return MPI_SUCCESS;
                            });
}

constexpr const char* cannot_move = "this MPI cannot move Shoal's exchanges in the background";

// Why the MPI's own collective has to serve such a call; null: it does not have to.
const char* left_because(const exchange_call& call, learner* of) {
  int ranks = 1;
  if (!of) return call.kind->why_unknown(call.comm);
  require(PMPI_Comm_size(call.comm, &ranks), "MPI_Comm_size");
  if (ranks == 1) return "one rank";
  if (!progress::mpi_can_move()) return cannot_move;
  static const bool may_be_lost = is_fault_tolerant();
  if (may_be_lost) return "in a fault-tolerant job only the MPI can say why such a call failed";
  return nullptr;
}

// In a nonblocking call no rank may wait for others, so what Shoal needs is made in calls that may wait.
constexpr const char* too_early = "before a blocking or persistent call of the same name on this communicator";
// Said if two ranks have several edges between them.
constexpr const char* matched_otherwise = "this MPI matches parallel edges in another order than in blocking calls";

// Starts an exchange on ranks for which Shoal has set up what it needs, with a copy of the arguments that stays. If it
// returns null, the MPI's own collective serves: because it has to, for the reason in `why`, or to judge this rank's
// arguments.
MPI_Request begun(const exchange_call& call, learner& of, std::string& why) {
  neighborhood* const among = of.among(call.form());
  if (!among || !among->over().all().is_open()) return why = too_early, MPI_REQUEST_NULL;
  if (!among->is_matched_alike()) return why = matched_otherwise, MPI_REQUEST_NULL;
  const std::scoped_lock alone(among->over().all().lock());
  auto made = std::make_unique<open_exchange>(call, false);
  auto by_shoal = work_once<exchange_service>(among->shared(), made->call());
  if (!by_shoal) return MPI_REQUEST_NULL;
  open_exchange& one = keep(std::move(made));
  try {
    one.begin(std::move(by_shoal));
  } catch (...) {
    drop(&one);
    throw;
  }
  return one.hand_out();
}

// The name of such a call in the report. It is made only for the report, so that no other call pays for it.
struct named_call {
  const char* before;
  const exchange_call& call;
  const char* behind;
  MPI_Comm comm = call.comm;
  std::string name() const { return before + call.name() + behind; }
};

// Why Shoal does not serve a call for which nobody asked, and what would change that. Made only for the report.
struct unnamed {
  const char* kind;
  const exchange_call& call;
  explicit operator std::string() const {
    if (!progress::mpi_can_move()) return kind + std::string(", and ") + cannot_move;
    std::string setting = "SHOAL_" + call.name();
    for (char& c : setting) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return kind + ("; set " + setting) + "=SPEC to let Shoal serve it";
  }
};

template <typename Reason>
int left(const named_call& name, const Reason& why, native_call native) {
  return process::get().leave(name, why, native);
}

// `make` returns a request. If it returns none, the MPI's own collective serves, for the reason that `make` tells.
template <typename Make>
int serve(const named_call& name, MPI_Request* request, native_call native, Make make) {
  const exchange_call& call = name.call;
  return returning_codes(call.comm, [&]() -> int {
    const nearest_rounding as_on_others;
    learner* const of = call.kind->learner_of(call.comm);
    if (const char* const why = left_because(call, of)) return left(name, why, native);
    std::string why = why_nothing_is_picked();
    MPI_Request made = MPI_REQUEST_NULL;
    try {
      made = make(*of, why);
    } catch (const std::invalid_argument& error) {  // the same on every rank
      return refused(call.comm, error.what(), interface::mpi, native);
    }
    if (made == MPI_REQUEST_NULL) return left(name, why, native);
    *request = made;
    return MPI_SUCCESS;
  });
}

// Whether nobody asked for an algorithm of Shoal's, so that the MPI's own serves. Such calls cost next to nothing.
bool settings_name_none(const exchange_call& call) {
  const process& job = process::get();
  return !job.asks_for(call.what(), call.form()) || call.comm == MPI_COMM_NULL ||
         job.asks_for_natives(call.what(), call.form());
}
bool names_algorithm(MPI_Info info, const exchange_call& call) {
  const std::string key = "shoal_" + settings::name_of(call.what(), call.form());
  return !info_value(info, key.c_str()).text().empty();
}
int left_unnamed(const named_call& name, const char* kind, native_call native) {
  return returning_codes(name.comm, [&] { return left(name, unnamed{kind, name.call}, native); });
}

// As begun(), for an exchange that runs many times; the ranks may wait for each other.
MPI_Request prepared_on(const exchange_call& call, MPI_Info info, learner& of, std::string& why) {
  communicator* const state = of.enter(false);
  if (!state) return why = of.why(), MPI_REQUEST_NULL;
  const std::scoped_lock alone(state->all().lock());
  neighborhood* const among = of.make_among(call.form());
  if (!among) return why = of.why(), MPI_REQUEST_NULL;
  if (!among->is_matched_alike()) return why = matched_otherwise, MPI_REQUEST_NULL;
  auto made = std::make_unique<open_exchange>(call, true);
  auto by_shoal = work_repeated<exchange_service>(among->shared(), made->call(), info);
  if (!by_shoal) return MPI_REQUEST_NULL;
  made->prepare(std::move(by_shoal));
  return keep(std::move(made)).hand_out();
}

}  // namespace

int start_exchange(const exchange_call& call, MPI_Request* request, native_call native) {
  const named_call name{"i", call, ""};
  if (settings_name_none(call)) return left_unnamed(name, "nonblocking", native);
  return serve(name, request, native, [&](learner& of, std::string& why) { return begun(call, of, why); });
}

int prepare_exchange(const exchange_call& call, MPI_Info info, MPI_Request* request, native_call native) {
  const named_call name{"", call, "_init"};
  constexpr const char* kind = "persistent; its starts are not counted";
  const bool is_unnamed = settings_name_none(call);
  if (is_unnamed && (info == MPI_INFO_NULL || call.comm == MPI_COMM_NULL)) return left_unnamed(name, kind, native);
  return serve(name, request, native, [&](learner& of, std::string& why) {
    if (is_unnamed && !names_algorithm(info, call)) return why = std::string(unnamed{kind, call}), MPI_REQUEST_NULL;
    return prepared_on(call, info, of, why);
  });
}

int start_request(MPI_Request* request) {
  open_exchange* const one = persistent && request ? persistent_behind(*request) : nullptr;
  return one ? one->start() : PMPI_Start(request);
}

int start_requests(int count, MPI_Request* requests) {
  if (!persistent || count < 0 || !requests) return PMPI_Startall(count, requests);
  int code = MPI_SUCCESS;
  for (int i = 0; i < count && code == MPI_SUCCESS; ++i) code = start_request(&requests[i]);
  return code;
}

int free_request(MPI_Request* request) {
  open_exchange* const one = persistent && request ? persistent_behind(*request) : nullptr;
  const int code = one ? one->leave() : MPI_SUCCESS;  // first, as the MPI may give the handle to another
  return code == MPI_SUCCESS ? PMPI_Request_free(request) : code;
}

// Exchanges that the program has left under way stay as they are: nothing destroys them.
void leave_open_exchanges() {
  const std::scoped_lock alone(progress::get().lock());
  for (auto& one : all()) {
    progress::get().remove(one.get());
    [[maybe_unused]] const open_exchange* const left = one->is_active() ? one.release() : nullptr;
  }
  all().clear();
}

}  // namespace shoal
