// Everything that this process has under way moves whenever one of its threads waits in Shoal, for whatever.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

namespace shoal {

// Something that this process has under way: it moves when it is told to.
class under_way {
 public:
  virtual bool move() noexcept = 0;  // whether anything moved

 protected:
  ~under_way() = default;
};

class progress {
 public:
  static progress& get();

  // From its start to its end. A thread that does this has the communicator of it for itself.
  void add(under_way* one);
  void remove(under_way* one);

  // Whether anything moved. What belongs to communicators on which other threads are is left to them.
  bool move();
  bool idle() const { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  std::recursive_mutex lock_;
  std::vector<under_way*> all_;
  std::atomic<int> count_ = 0;
};

}  // namespace shoal
