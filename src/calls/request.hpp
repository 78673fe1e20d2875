// A collective that is started in one call and ended in another, once or many times: MPI's nonblocking and persistent
// collectives. It moves when the process tests or waits; there is no thread.
#pragma once

#include <mpi.h>

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "team/progress.hpp"
#include "team/team.hpp"

namespace shoal {

// While a thread has this, it has the ranks of a request for itself, and they stay. Empty if there is nothing to hold.
struct held_ranks {
  std::shared_ptr<const void> ranks;
  std::unique_lock<std::recursive_mutex> lock;  // let go before `ranks`
};

// What a shoal_request of shoal.h stands for.
class open_request {
 public:
  virtual ~open_request() = default;
  // Throws if the request is under way already.
  virtual void start() = 0;
  // Returns true if the request is not, or no longer, under way. test() and wait() throw, once, what failed.
  virtual bool test() = 0;
  virtual void wait() = 0;
  // Held during calls on the request, and at its end.
  virtual held_ranks exclusive() = 0;
  virtual bool is_repeated() const = 0;
  virtual bool active() const = 0;
  // Raises the exception being handled, on the communicator.
  virtual int raise() = 0;
};

class request final : public open_request, public progress::part {
 public:
  // Makes a request for the MPI's own collective with the caller's arguments: a persistent one, or one that is started.
  struct native_start {
    std::function<int(MPI_Request*)> make;
    bool is_persistent = false;
  };

  // The collective as Shoal serves it, prepared for the arguments.
  class work {
   public:
    virtual ~work() = default;
    virtual std::shared_ptr<team> ranks() = 0;          // the ranks that exchange
    virtual const tag_turns::place* place() const = 0;  // its tags, if it is started many times; else null
    virtual void start(tag_range tags) = 0;             // for the first time, or again once it has ended
    virtual bool progress(bool& moved) = 0;
    virtual void run_to_end() = 0;
    virtual std::exception_ptr failure() = 0;  // of the run that has ended, or null; asked once
    virtual void ended() = 0;                  // gives back what one run needed, and counts it
  };

  // `prepared`: null if the MPI's own collective serves.

  // To be started once.
  struct once {};
  request(once, MPI_Comm comm, native_start native, std::unique_ptr<work> prepared);
  // To be started many times.
  struct repeated {};
  request(repeated, MPI_Comm comm, native_start native, std::unique_ptr<work> prepared);
  ~request() override;
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  void start() override;
  bool test() override;
  void wait() override;
  // Moves a request that is under way and that Shoal serves, unless another thread is on its communicator. Returns
  // whether anything moved.
  bool move() noexcept override;
  // Locks nothing if the MPI's own collective serves.
  held_ranks exclusive() override;
  // The same without waiting, and only if Shoal serves. The lock is not held if another thread is on the ranks.
  held_ranks try_exclusive();

  bool is_repeated() const override { return is_repeated_; }
  bool active() const override { return active_; }
  // If `life` expires, no start succeeds any more.
  void need(std::optional<std::weak_ptr<const void>> life) { life_ = std::move(life); }
  // Every start calls `also` too.
  void at_each_start(std::function<void()> also) { also_ = std::move(also); }
  int raise() override;

 private:
  bool begin();
  bool move_on();
  void run_to_end();
  void finish();
  void fail();
  bool ended();
  bool lacks_communicator() const { return life_ && life_->expired(); }

  MPI_Comm comm_;
  std::optional<std::weak_ptr<const void>> life_;  // of the program's communicator, if every start needs it
  bool is_repeated_;
  native_start native_;
  std::function<void()> also_;
  bool active_ = false;
  MPI_Request native_request_ = MPI_REQUEST_NULL;
  std::unique_ptr<work> work_;
  std::optional<tag_turns::turn> turn_;
  bool begun_ = false;  // its turn has come, and the work was started
  std::exception_ptr failure_;
};

}  // namespace shoal
