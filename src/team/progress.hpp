// Everything that this process has under way moves whenever one of its threads waits in Shoal, for whatever.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

namespace shoal {

class request;

class progress {
 public:
  static progress& get();

  // From its start to its end. A thread that does this has the request's communicator for itself.
  void add(request* one);
  void remove(request* one);

  // Whether anything moved. What belongs to communicators on which other threads are is left to them.
  bool move();
  bool idle() const { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  std::recursive_mutex lock_;
  std::vector<request*> under_way_;
  std::atomic<int> count_ = 0;
};

}  // namespace shoal
