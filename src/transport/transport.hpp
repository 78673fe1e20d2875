// Moves messages between the ranks of one communicator, for one exchange at a time.
#pragma once

#include <cstddef>
#include <exception>
#include <vector>

namespace shoal {

// How a transfer ended: with the number of bytes received, or with a failure. Either way its memory is free again,
// unless it was abandoned. Then nobody knows how long the memory will be used, so it must never have another use. Nor
// does anybody know whether the message will still come, so its tag must have no other use either.
struct ended_transfer {
  int ticket;
  std::size_t bytes = 0;
  std::exception_ptr failure;
  bool abandoned = false;
};

class transport {
 public:
  virtual ~transport() = default;

  virtual int ranks() const = 0;
  virtual int rank() const = 0;

  // Makes room for this number of transfers under way at once, so that starting them allocates nothing.
  virtual void reserve(std::size_t) {}

  // Start a transfer. The memory stays in use until poll() reports the ticket. Messages between two ranks with equal
  // tags match in the order in which they were started; tags are 0..highest_tag(). A transfer that cannot be started
  // ends with a failure, like one that fails later.
  virtual void send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) = 0;
  virtual void receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) = 0;
  virtual int highest_tag() const = 0;
  // Whether messages to and from this peer match in the order in which they were started even if their tags differ.
  virtual bool matches_by_order(int) const { return false; }

  // Appends the transfers that have ended since the last call. Never blocks.
  virtual void poll(std::vector<ended_transfer>& ended) = 0;
};

}  // namespace shoal
