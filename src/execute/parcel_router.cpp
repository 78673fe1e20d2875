#include "execute/parcel_router.hpp"

#include <algorithm>

namespace shoal {

namespace {

// At most so many bytes of a message come first, in a transfer of their own. They tell the receiver how many follow.
constexpr std::size_t first_bytes = 8192;

struct announcement {
  std::uint64_t bytes;  // of the whole message
  std::uint64_t news;
};
static_assert(sizeof(announcement) == parcels::front);

}  // namespace

void parcel_router::start(parcels held, bool refused) {
  held_ = std::move(held);
  news_ = refused ? refusal : nothing;
  failure_.clear();
  distance_ = 1;
  begin_round();
}

bool parcel_router::progress(bool& moved) {
  if (distance_ < over_.ranks()) {
    ended_.clear();
    over_.poll(ended_);
    moved = moved || !ended_.empty();
    for (const ended_transfer& one : ended_) ended(one);
    if (under_way_ > 0) return false;
    end_round();
    begin_round();
  }
  return distance_ >= over_.ranks();
}

void parcel_router::begin_round() {
  const int ranks = over_.ranks(), rank = over_.rank();
  if (distance_ >= ranks) return;
  const auto digits = std::min<std::int64_t>(radix_ - 1, (ranks - 1) / distance_);
  parcels stay(held_.most_inside());
  lanes_.assign(static_cast<std::size_t>(digits), {stay, stay});
  held_.each([&](const parcels::label& what, const std::byte* block, const std::byte*) {
    const std::int64_t further = (what.destination - rank + ranks) % ranks;
    const std::int64_t digit = further / distance_ % radix_;
    (digit > 0 ? lanes_[static_cast<std::size_t>(digit - 1)].out : stay).add(what, block);
  });
  held_ = std::move(stay);
  for (int digit = 1; digit <= digits; ++digit) begin(digit, digit * distance_);
}

void parcel_router::end_round() {
  for (const lane& one : lanes_) held_.add(one.in);
  if (abandoned_) new std::vector<lane>(std::move(lanes_));  // never freed: the MPI may still use them
  distance_ *= radix_;
}

void parcel_router::begin(int digit, std::int64_t distance) {
  const int ranks = over_.ranks(), rank = over_.rank();
  lane& of = lanes_[static_cast<std::size_t>(digit - 1)];
  const int to = static_cast<int>((rank + distance) % ranks),
            from = static_cast<int>((rank - distance + ranks) % ranks);
  std::vector<std::byte>&out = of.out.message(), &in = of.in.message();
  const announcement whole{out.size(), news_};
  std::memcpy(out.data(), &whole, sizeof whole);
  in.resize(first_bytes);
  const int ticket = (digit - 1) * parts;
  over_.receive(from, tag_, in.data(), first_bytes, ticket + first_in);
  over_.send(to, tag_, out.data(), std::min(first_bytes, out.size()), ticket + first_out);
  under_way_ += 2;
  if (out.size() <= first_bytes) return;
  over_.send(to, tag_ + 1, out.data() + first_bytes, out.size() - first_bytes, ticket + rest_out);
  ++under_way_;
}

void parcel_router::ended(const ended_transfer& one) {
  --under_way_;
  abandoned_ = abandoned_ || one.abandoned;
  lane& of = lanes_[static_cast<std::size_t>(one.ticket / parts)];
  if (one.failure) {
    failure_.note(one.failure);
    news_ |= loss;  // which others hear with the next messages
  }
  if (one.ticket % parts == first_in) first_arrived(of, one.ticket, one.failure ? 0 : one.bytes);
  else if (one.failure && one.ticket % parts == rest_in) of.in.clear();
}

void parcel_router::first_arrived(lane& of, int ticket, std::size_t bytes) {
  announcement whole{parcels::front, loss};  // if the message is lost
  if (bytes >= sizeof whole) std::memcpy(&whole, of.in.message().data(), sizeof whole);
  news_ |= whole.news;
  if (news_ & loss) failure_.note(blocks_lost());
  of.in.message().resize(whole.bytes);
  if (whole.bytes <= first_bytes) return;
  const std::int64_t distance = (ticket / parts + 1) * distance_;
  const int from = static_cast<int>((over_.rank() - distance + over_.ranks()) % over_.ranks());
  over_.receive(from, tag_ + 1, of.in.message().data() + first_bytes, whole.bytes - first_bytes,
                ticket - first_in + rest_in);
  ++under_way_;
}

}  // namespace shoal
