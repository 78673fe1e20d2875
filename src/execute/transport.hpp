// Moves messages between the ranks of one communicator, for one exchange at a time.
#pragma once

#include <cstddef>
#include <vector>

namespace shoal {

class transport {
 public:
  virtual ~transport() = default;

  virtual int ranks() const = 0;
  virtual int rank() const = 0;

  // Makes room for so many transfers under way at once, so that starting them allocates nothing.
  virtual void reserve(std::size_t) {}

  // Start a transfer. The memory stays in use until poll() reports the ticket. Messages between two ranks with
  // equal tags match in the order in which they were started; tags are 0..highest_tag().
  virtual void send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) = 0;
  virtual void receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) = 0;
  virtual int highest_tag() const = 0;

  // Appends the tickets of transfers that have ended since the last call. Never blocks.
  virtual void poll(std::vector<int>& ended) = 0;
};

}  // namespace shoal
