#include "memory_transport.hpp"

#include <algorithm>
#include <cstring>

#include "transport/failure.hpp"

namespace shoal {

class memory_transport final : public transport {
 public:
  memory_transport(memory_network& network, int rank) : network_(network), rank_(rank) {}
  int ranks() const override { return network_.ranks_; }
  int rank() const override { return rank_; }
  int highest_tag() const override { return 32767; }
  void send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) override {
    network_.send(rank_, peer, tag, data, bytes, ticket);
  }
  void receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) override {
    network_.receive(rank_, peer, tag, data, capacity, ticket);
  }
  void poll(std::vector<ended_transfer>& ended) override { network_.poll(rank_, ended); }

 private:
  memory_network& network_;
  int rank_;
};

memory_network::memory_network(int ranks, memory_network_options options)
    : ranks_(ranks), options_(options), random_(options.seed), ended_(ranks) {}

std::unique_ptr<transport> memory_network::connect(int rank) { return std::make_unique<memory_transport>(*this, rank); }

void memory_network::send(int from, int to, int tag, const std::byte* data, std::size_t bytes, int ticket) {
  ++messages_;
  bytes_ += static_cast<std::int64_t>(bytes);
  line& l = lines_[{from, to, tag}];
  l.sends.push_back({from, ticket, const_cast<std::byte*>(data), bytes, {}});
  if (options_.eager) {
    end& sent = l.sends.back();
    sent.copy.assign(data, data + bytes);
    sent.data = sent.copy.data();
    sent.reported = true;
    ended_[from].push_back({ticket, bytes, nullptr});
  }
  match(l);
}

void memory_network::receive(int at, int from, int tag, std::byte* data, std::size_t capacity, int ticket) {
  line& l = lines_[{from, at, tag}];
  l.receives.push_back({at, ticket, data, capacity, {}});
  match(l);
}

void memory_network::match(line& l) {
  while (!l.sends.empty() && !l.receives.empty()) {
    const end sent = std::move(l.sends.front()), received = std::move(l.receives.front());
    l.sends.pop_front();
    l.receives.pop_front();
    const std::size_t fits = std::min(sent.bytes, received.bytes);
    if (fits > 0) std::memcpy(received.data, sent.data, fits);
    if (!sent.reported) ended_[sent.rank].push_back({sent.ticket, sent.bytes, nullptr});
    ended_[received.rank].push_back(
        {received.ticket, fits, fits < sent.bytes ? std::make_exception_ptr(size_mismatch()) : nullptr});
  }
}

void memory_network::poll(int rank, std::vector<ended_transfer>& ended) {
  auto& waiting = ended_[rank];
  std::shuffle(waiting.begin(), waiting.end(), random_);
  std::bernoulli_distribution held_back(rank == options_.slowest ? 0.98 : options_.delay);
  std::vector<ended_transfer> later;
  for (const ended_transfer& one : waiting) (held_back(random_) ? later : ended).push_back(one);
  waiting.swap(later);
}

std::size_t memory_network::unmatched() const {
  std::size_t sum = 0;
  for (const auto& [key, l] : lines_) sum += l.sends.size() + l.receives.size();
  return sum;
}

}  // namespace shoal
