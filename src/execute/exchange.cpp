#include "execute/exchange.hpp"

#include <algorithm>

#include "execute/sizes.hpp"

namespace shoal {

void exchange::start(const linked_schedule& steps, const payload& what) {
  steps_ = &steps;
  what_ = what;
  temp_.assign(steps.temp_slots, {});
  may_get_old_messages_ = abandoned_;
  if (!may_get_old_messages_) failure_.clear();
  lost_recv_.clear();
  send_packed_ = true;
  if (free_buffers_.size() != buffers_.size()) forget_buffers();
  if (!done()) abandon_cuts();
  if (steps_->parts > 1) cut_blocks();
  counters_ = {};
  taken_.clear();
  remaining_ = steps_->operations.size();
  before_.assign(steps_->before.begin(), steps_->before.end());
  running_.assign(remaining_, {});
  ready_.clear();
  ready_.reserve(remaining_);
  held_back_.clear();  // left from a run that an error while waiting has ended
  std::fill(awaits_sizes_.begin(), awaits_sizes_.end(), 0);
  ended_.reserve(steps_->most_transfers);
  over_.reserve(steps_->most_transfers);
  lap(phase::prepare);
  run_those_that_wait_for_nothing();
  run_ready();
  if (done()) finish();
}

std::size_t exchange::bytes_for(const linked_schedule& steps) {
  const std::size_t operations = steps.operations.size(), temps = steps.temp_slots;
  return operations * (sizeof before_[0] + sizeof running_[0] + sizeof ready_[0]) + temps * sizeof temp_[0] +
         steps.most_transfers * sizeof ended_[0];
}

// How many buffers are held at once depends on what arrives first. So this prepares enough for any order in the next
// run.
void exchange::finish() {
  pool_.make_ready(taken_);
  buffers_.reserve(taken_.buffers());
  free_buffers_.reserve(taken_.buffers());
  if (steps_->parts > 1) join_blocks();
}

// After this call a block of what_ is a part.
void exchange::cut_blocks() {
  const int parts = steps_->parts;
  what_.send = cut_send_.cut(what_.send, steps_->send_blocks, *steps_);
  send_packed_ = failure_.attempt([&] { cut_send_.pack(); });
  what_.recv = cut_recv_.cut(what_.recv, steps_->recv_blocks, *steps_);
  if (!what_.uniform) return;
  const bool even = steps_->last_part == 0 && *what_.uniform % static_cast<std::size_t>(parts) == 0;
  what_.uniform = even ? std::optional(*what_.uniform / static_cast<std::size_t>(parts)) : std::nullopt;
}

void exchange::join_blocks() {
  if (!failure_) failure_.attempt([&] { cut_recv_.unpack(); });
  cut_recv_.release();
  cut_send_.release();
}

bool exchange::progress(bool& moved) {
  if (done()) {
    moved = false;
    return true;
  }
  ended_.clear();
  over_.poll(ended_);
  moved = !ended_.empty();
  for (const ended_transfer& one : ended_) ended(one);
  run_ready();
  if (done()) finish();
  return done();
}

void exchange::run_to_end(waiting& wait) {
  for (bool moved = true; !done();) {
    progress(moved);
    moved ? wait.progressed() : wait.idle();
  }
}

// All of them run before any other operation, even one that becomes ready meanwhile: check_order() counts on that.
void exchange::run_those_that_wait_for_nothing() {
  for (op_id id = 0; id < static_cast<op_id>(steps_->before.size()); ++id)
    if (steps_->before[id] == 0) run(id);
}

// If one operation makes several ready, the lowest id runs first, so that receives are posted before the sends that
// answer them.
void exchange::run_ready() {
  while (!ready_.empty()) {
    const op_id id = ready_.back();
    ready_.pop_back();
    run(id);
  }
}

void exchange::run(op_id id) {
  switch (op(id).kind) {
    case op_kind::send: return start_send(id);
    case op_kind::recv: return start_receive(id);
    case op_kind::copy: run_copy(op(id)); return complete(id);
  }
}

void exchange::complete(op_id id) {
  --remaining_;
  const auto next = steps_->successors(id);
  for (auto it = next.rbegin(); it != next.rend(); ++it)
    if (--before_[*it] == 0) ready_.push_back(*it);
}

void exchange::ended(const ended_transfer& one) {
  const op_id id = one.ticket / 2;
  const auto which = static_cast<part>(one.ticket % 2);
  --running_[id].transfers;
  if (one.failure) failure_.note(one.failure);
  if (one.abandoned) abandon();
  if (op(id).kind == op_kind::send) {
    lap(id, which);
    if (running_[id].transfers == 0) end_send(id);
  } else if (which == part::data) {
    data_arrived(id, one);
  } else {
    sizes_arrived(id, one);
  }
}

void exchange::abandon_cuts() {
  cut_send_.abandon();
  cut_recv_.abandon();
}

void exchange::abandon() {
  abandoned_ = true;
  for (buffer& p : buffers_) p.abandoned = true;
  abandon_cuts();
}

// ---- copies ------------------------------------------------------------------------------------------------

void exchange::run_copy(const operation& op) {
  const auto slots = steps_->slots_of(op);
  if (slots.empty()) return;  // a join
  const slot from = slots[0], to = slots[1];
  const condition is = condition_of(from);
  const std::size_t bytes = bytes_of(from);
  const std::byte* source = address_of(from);
  if (is != condition::whole) {
    lose(to, bytes, is);
  } else if (to.at() == place::temp && what_.uniform && bytes != *what_.uniform) {  // this rank's own two sizes differ
    failure_.note(size_mismatch());
    lose(to, *what_.uniform, condition::lost);
  } else if (to.at() == place::recv && source) {
    unpack(to, source, bytes);
  } else {
    const int copy = take_buffer(bytes, 1);
    if (!failure_.attempt([&] { pack(from, buffers_[copy].data); })) lose(to, bytes, condition::lost);
    else if (to.at() == place::recv) unpack(to, buffers_[copy].data, bytes);
    else hold(to, copy, 0, bytes);
    release_buffer(copy);
  }
  read_done(from);
  lap(to.at() == place::recv ? phase::rearrange : phase::replace);
}

// ---- sending -----------------------------------------------------------------------------------------------

void exchange::start_send(op_id id) {
  const std::size_t total = total_bytes(id);
  const condition are = worst(id);
  const data_at where = are == condition::unknown ? data_at::nowhere_nor_sizes
                        : are == condition::lost  ? data_at::nowhere
                        : total > inline_bytes_   ? data_at::next_message
                                                  : data_at::behind;
  if (announced(id)) send_sizes(id, where);
  if (!announced(id) || where == data_at::next_message) send_data(id, total);
  if (running_[id].transfers == 0) end_send(id);
}

void exchange::send_sizes(op_id id, data_at where) {
  const std::size_t total = where == data_at::behind ? total_bytes(id) : 0;
  const int message = take_buffer(1 + steps_->announced[id] * most_size_bytes + total, 1);
  std::byte* const begin = buffers_[message].data;
  std::byte* end = begin + 1;
  for (slot s : blocks(id))
    if (steps_->announces(s)) end = write_size(end, bytes_of(s));
  if (where == data_at::behind) {
    if (gather(id, end)) end += total;
    else where = data_at::nowhere;
    lap(phase::replace);
  } else if (where != data_at::next_message) {
    release_sources(id);
  }
  *begin = static_cast<std::byte>(where);
  running_[id].sizes = message;
  ++running_[id].transfers;
  ++counters_.messages;
  counters_.bytes += end - begin;
  over_.send(op(id).peer, tag(id, part::sizes), begin, static_cast<std::size_t>(end - begin), ticket(id, part::sizes));
  lap(id, part::sizes);
}

// Both sides know if there is nothing to send: then there is no message, unless it is a token. But if a block is
// unknown here, only its receiver knows whether it has bytes, so the receiver gets a message.
void exchange::send_data(op_id id, std::size_t total) {
  running& state = running_[id];
  const condition are = worst(id);
  const bool nothing = total == 0 && op(id).slot_count > 0;
  if (nothing || are != condition::whole) release_sources(id);
  if (nothing && are != condition::unknown) return;
  if (are != condition::whole) total = 0;
  const std::byte* source = total > 0 ? contiguous_source(id) : nullptr;
  state.direct = source;
  if (total > 0 && !source) {
    state.data = take_buffer(total, 1);
    source = buffers_[state.data].data;
    if (!gather(id, buffers_[state.data].data)) total = 0;
    lap(phase::replace);
  }
  ++running_[id].transfers;
  counters_.messages += op(id).slot_count > 0;
  counters_.bytes += static_cast<std::int64_t>(total);
  over_.send(op(id).peer, tag(id, part::data), source, total, ticket(id, part::data));
  lap(id, part::data);
}

void exchange::end_send(op_id id) {
  running& state = running_[id];
  if (state.direct) release_sources(id);
  if (state.sizes != none) release_buffer(state.sizes);
  if (state.data != none) release_buffer(state.data);
  complete(id);
}

// Packs the blocks of a message one behind the other; they then leave their temp slots. False: one of them cannot be
// packed.
bool exchange::gather(op_id id, std::byte* out) {
  const bool packed = failure_.attempt([&] {
    for (slot s : blocks(id)) {
      pack(s, out);
      out += bytes_of(s);
    }
  });
  release_sources(id);
  return packed;
}

void exchange::release_sources(op_id id) {
  for (slot s : blocks(id)) read_done(s);
}

// ---- receiving ---------------------------------------------------------------------------------------------

// If messages match by order alone, a receive waits for sizes that are still to come on an earlier one: it must not
// take the data that these sizes may announce.
void exchange::start_receive(op_id id) {
  const bool by_order = over_.matches_by_order(op(id).peer);
  if (by_order && awaits_sizes_[op(id).peer]) return held_back_.push_back(id);
  if (!announced(id)) return receive_data(id, total_bytes(id));
  awaits_sizes_[op(id).peer] = by_order;
  const int message = take_buffer(1 + steps_->announced[id] * most_size_bytes + inline_bytes_, 1);
  running_[id].sizes = message;
  ++running_[id].transfers;
  over_.receive(op(id).peer, tag(id, part::sizes), buffers_[message].data, buffers_[message].bytes,
                ticket(id, part::sizes));
}

// `surely`: a message comes, even if it has no bytes.
void exchange::receive_data(op_id id, std::size_t total, bool surely) {
  running& state = running_[id];
  if (total == 0 && op(id).slot_count > 0 && !surely) return complete(id);
  std::byte* target = contiguous_target(id);
  state.total = total;
  state.direct = total > 0 && target;
  if (total > 0 && !target) {
    state.data = take_buffer(total, 1);
    target = buffers_[state.data].data;
  }
  ++state.transfers;
  over_.receive(op(id).peer, tag(id, part::data), target, total, ticket(id, part::data));
  lap(id, part::data);
}

void exchange::sizes_arrived(op_id id, const ended_transfer& message) {
  const int buffer = running_[id].sizes;
  const std::byte* const begin = buffers_[buffer].data;
  const std::byte* in = begin;
  data_at where = data_at::nowhere_nor_sizes;
  if (!message.failure && message.bytes > 0)  // else the memory holds an earlier message
    failure_.attempt([&] { where = read_sizes(id, in, begin + message.bytes); });
  if (message.failure) abandoned_ = true;  // the data may come in a message that nobody receives in this run
  const std::size_t total = total_bytes(id), read = static_cast<std::size_t>(in - begin);
  lap(id, part::sizes);
  if (where == data_at::behind && message.bytes == read + total) {
    deliver(id, buffer, read);
  } else if (where != data_at::next_message) {
    where == data_at::behind ? failure_.note(size_mismatch()) : failure_.note(blocks_lost());
    lose(id, where == data_at::nowhere_nor_sizes ? condition::unknown : condition::lost);
  }
  release_buffer(buffer);
  where == data_at::next_message ? receive_data(id, total, true) : complete(id);
  receive_next(op(id).peer);
}

// Starts the receives that were held back until these sizes arrived, up to the next receive that awaits sizes.
void exchange::receive_next(int peer) {
  awaits_sizes_[peer] = false;
  for (auto it = held_back_.begin(); it != held_back_.end() && !awaits_sizes_[peer];) {
    const op_id id = *it;
    if (op(id).peer != peer) {
      ++it;
      continue;
    }
    it = held_back_.erase(it);
    start_receive(id);
  }
}

exchange::data_at exchange::read_sizes(op_id id, const std::byte*& in, const std::byte* end) {
  const auto where = static_cast<data_at>(*in++);
  for (slot s : blocks(id)) {
    if (!steps_->announces(s)) continue;
    std::uint64_t size = 0;
    in = read_size(in, end, size);
    if (s.at() == place::temp) temp_[s.index].bytes = size;
  }
  return where;
}

void exchange::data_arrived(op_id id, const ended_transfer& message) {
  const running state = running_[id];
  lap(id, part::data);
  if (message.failure || message.bytes != state.total) {
    message.bytes == 0 ? failure_.note(blocks_lost()) : failure_.note(size_mismatch());
    lose(id, condition::lost);
  } else if (state.data != none) {
    deliver(id, state.data, 0);
  }
  if (state.data != none) release_buffer(state.data);
  complete(id);
}

// Blocks that arrive go to the user; blocks that pass through stay in the message until they have left.
void exchange::deliver(op_id id, int from, std::size_t offset) {
  for (slot s : blocks(id)) {
    const std::size_t bytes = bytes_of(s);
    if (s.at() == place::temp) hold(s, from, offset, bytes);
    else unpack(s, buffers_[from].data + offset, bytes);
    offset += bytes;
  }
  lap(phase::rearrange);
}

void exchange::unpack(slot to, const std::byte* from, std::size_t bytes) {
  const bool fits = bytes == bytes_of(to);
  if (!fits) failure_.note(size_mismatch());
  if (!fits || !failure_.attempt([&] { what_.recv.unpack(static_cast<int>(to.index), from); }))
    lose(to, bytes_of(to), condition::lost);
}

// ---- blocks that are lost ----------------------------------------------------------------------------------

exchange::condition exchange::condition_of(slot s) const {
  if (s.at() == place::temp) return temp_[s.index].is;
  const bool is_lost = s.at() == place::send
                           ? !send_packed_ && bytes_of(s) > 0
                           : std::find(lost_recv_.begin(), lost_recv_.end(), s.index) != lost_recv_.end();
  return is_lost ? condition::lost : condition::whole;
}

exchange::condition exchange::worst(op_id id) const {
  if (may_get_old_messages_) return condition::lost;
  condition all = condition::whole;
  if (!failure_) return all;
  for (slot s : blocks(id)) all = std::max(all, condition_of(s));
  return all;
}

void exchange::lose(op_id id, condition left_as) {
  for (slot s : blocks(id)) lose(s, bytes_of(s), left_as);
}

// A block without bytes cannot be lost. A block for a recv slot has the size that this rank expects.
void exchange::lose(slot s, std::size_t bytes, condition left_as) {
  if (s.at() == place::recv && bytes_of(s) > 0) lost_recv_.push_back(s.index);
  if (s.at() != place::temp) return;
  const bool is_whole = bytes == 0 && left_as == condition::lost;
  temp_[s.index] = {nullptr, bytes, none, steps_->temp_readers[s.index], is_whole ? condition::whole : left_as};
}

// ---- blocks ------------------------------------------------------------------------------------------------

std::size_t exchange::bytes_of(slot s) const {
  const int i = static_cast<int>(s.index);
  switch (s.at()) {
    case place::send: return what_.send.bytes(i);
    case place::recv: return what_.recv.bytes(i);
    default: return what_.uniform ? *what_.uniform : temp_[s.index].bytes;
  }
}

std::size_t exchange::total_bytes(op_id id) const {
  std::size_t sum = 0;
  for (slot s : blocks(id)) sum += bytes_of(s);
  return sum;
}

void exchange::pack(slot s, std::byte* out) const {
  const int i = static_cast<int>(s.index);
  if (s.at() == place::send) return what_.send.pack(i, out);
  if (s.at() == place::recv) return what_.recv.pack(i, out);
  const held_block& block = temp_[s.index];
  if (block.data && block.bytes > 0) std::memcpy(out, block.data, block.bytes);
}

// Where the packed bytes of a block lie already; null if the block has to be packed first.
const std::byte* exchange::address_of(slot s) const {
  if (s.at() == place::temp) return temp_[s.index].data;
  const user_buffer& user = s.at() == place::send ? what_.send : what_.recv;
  const int i = static_cast<int>(s.index);
  return user.packs(i) ? nullptr : user.block(i);
}

// Where the blocks of a message lie one behind the other; null if they do not.
const std::byte* exchange::contiguous_source(op_id id) const {
  const std::byte *begin = nullptr, *end = nullptr;
  for (slot s : blocks(id)) {
    const std::size_t bytes = bytes_of(s);
    if (bytes == 0) continue;
    const std::byte* at = address_of(s);
    if (!at || (end && at != end)) return nullptr;
    if (!begin) begin = at;
    end = at + bytes;
  }
  return begin;
}

// The same for a receive; null also if a block of it passes through.
std::byte* exchange::contiguous_target(op_id id) const {
  std::byte *begin = nullptr, *end = nullptr;
  for (slot s : blocks(id)) {
    const int i = static_cast<int>(s.index);
    if (s.at() != place::recv) return nullptr;
    const std::size_t bytes = bytes_of(s);
    if (bytes == 0) continue;
    if (what_.recv.packs(i)) return nullptr;
    std::byte* at = what_.recv.block(i);
    if (end && at != end) return nullptr;
    if (!begin) begin = at;
    end = at + bytes;
  }
  return begin;
}

// ---- scratch memory ----------------------------------------------------------------------------------------

int exchange::take_buffer(std::size_t bytes, int users) {
  if (free_buffers_.empty()) {
    free_buffers_.push_back(static_cast<int>(buffers_.size()));
    buffers_.emplace_back();
  }
  std::byte* data = pool_.take(bytes, taken_);
  const int index = free_buffers_.back();
  free_buffers_.pop_back();
  buffers_[index] = {data, bytes, users, false};
  return index;
}

void exchange::release_buffer(int index) {
  buffer& p = buffers_[index];
  if (--p.users > 0) return;
  if (!p.abandoned) pool_.give_back(p.data, p.bytes);
  free_buffers_.push_back(index);
}

// Forgets the buffers of a run that did not end. Others may still read and write those in use, so their memory is never
// used for anything else.
void exchange::forget_buffers() {
  buffers_.clear();
  free_buffers_.clear();
}

void exchange::hold(slot s, int from, std::size_t offset, std::size_t bytes) {
  const int readers = steps_->temp_readers[s.index];
  temp_[s.index] = {buffers_[from].data + offset, bytes, from, readers, condition::whole};
  if (readers > 0) ++buffers_[from].users;
}

void exchange::read_done(slot s) {
  if (s.at() != place::temp) return;
  held_block& block = temp_[s.index];
  if (--block.readers == 0 && block.buffer != none) release_buffer(block.buffer);
}

int exchange::tag(op_id id, part which) const {
  return tags_.first + (steps_->sequence[id] % (tags_.count / 2)) * 2 + (which == part::data);
}

}  // namespace shoal
