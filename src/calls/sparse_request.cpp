#include "calls/sparse_request.hpp"

#include <optional>
#include <stdexcept>

#include "calls/arguments.hpp"
#include "calls/mpi_datatype.hpp"
#include "calls/process.hpp"
#include "team/boundary.hpp"
#include "team/devices.hpp"
#include "team/errors.hpp"

namespace shoal {

namespace {

struct wrong_argument {
  int error_class;
  const char* text;
};

// What the MPI would refuse in a send.
std::optional<wrong_argument> find_wrong(const sparse_call& call, const user_buffer& from, sparse_ranks& of) {
  if (call.blocks < 0) return {{MPI_ERR_COUNT, "a negative number of blocks"}};
  if (call.blocks > 0 && (!call.destinations || !call.counts || !call.displacements))
    return {{MPI_ERR_ARG, "destinations, counts or displacements are null"}};
  for (int i = 0; i < call.blocks; ++i) {
    const int to = call.destinations[i];
    if (to != MPI_PROC_NULL && (to < 0 || to >= of.ranks())) return {{MPI_ERR_RANK, "no such rank to send a block to"}};
    if (call.counts[i] < 0) return {{MPI_ERR_COUNT, "a negative count"}};
  }
  if (call.type == MPI_DATATYPE_NULL) return {{MPI_ERR_TYPE, "no datatype"}};
  if (!is_valid(from, call.type, call.blocks, of.own().get()))
    return {{MPI_ERR_BUFFER, "the send buffer is null, or the datatype is not committed"}};
  if (is_device_memory(call.send)) return {{MPI_ERR_BUFFER, "a send buffer in the memory of a device"}};
  return {};
}

std::exception_ptr error_of(const wrong_argument& what) {
  return std::make_exception_ptr(mpi_error(code_of(what.error_class, what.text), what.text));
}

// The blocks to send. If their type has gaps, they are packed into `packed`.
std::vector<outgoing_block> outgoing(const sparse_call& call, const user_buffer& from, std::vector<std::byte>& packed) {
  std::vector<outgoing_block> all;
  std::size_t total = 0;
  for (int i = 0; i < call.blocks; ++i) {
    if (call.destinations[i] == MPI_PROC_NULL) continue;
    all.push_back({call.destinations[i], from.block(i), from.bytes(i)});
    total += from.bytes(i);
  }
  if (!from.type.layout) return all;
  packed.resize(total);
  std::byte* at = packed.data();
  auto next = all.begin();
  for (int i = 0; i < call.blocks; ++i) {
    if (call.destinations[i] == MPI_PROC_NULL) continue;
    from.pack(i, at);
    next->data = at;
    at += next++->bytes;
  }
  return all;
}

}  // namespace

sparse_request::sparse_request(std::shared_ptr<sparse_ranks> of, const sparse_call& call, receiver give)
    : of_(std::move(of)), comm_(call.comm), give_(std::move(give)) {
  constexpr wrong_argument no_memory{MPI_ERR_NO_MEM, "no memory to pack the blocks in"};
  try {
    make_ready(call);
  } catch (const std::bad_alloc&) {
    wrong_ = error_of(no_memory);
  } catch (const std::length_error&) {
    wrong_ = error_of(no_memory);
  } catch (...) {
    wrong_ = std::current_exception();
  }
  turn_.failed = static_cast<bool>(wrong_);
}

void sparse_request::make_ready(const sparse_call& call) {
  user_buffer from;
  from.base = static_cast<std::byte*>(const_cast<void*>(call.send));
  describe(call.type, from, device_runtimes::loaded());
  from.counts = number_array(call.counts);
  from.displacements = number_array(call.displacements);
  type_size_ = from.type.size;
  std::optional<wrong_argument> wrong = find_wrong(call, from, *of_);
  if (!give_) wrong = {MPI_ERR_ARG, "no place for the blocks that arrive"};
  if (wrong) wrong_ = error_of(*wrong);
  else turn_.blocks = outgoing(call, from, turn_.packed);
}

void sparse_request::start() {
  progress::get().add(this);
  of_->start(turn_);
  active_ = true;
}

bool sparse_request::move() noexcept {
  const std::unique_lock alone(of_->lock(), std::try_to_lock);
  return alone && of_->move();
}

bool sparse_request::test() {
  if (active_) progress::get().move();
  if (active_ && turn_.is_done) end();
  return !active_;
}

void sparse_request::wait() {
  if (!active_) return;
  of_->wait_for(turn_);
  end();
}

void sparse_request::end() {
  progress::get().remove(this);
  active_ = false;
  shoal::raise(turn_.failure);
  shoal::raise(wrong_);
  if (!turn_.was_exchanged) throw std::runtime_error("another rank's arguments are wrong; nothing was exchanged");
  give_(std::move(turn_.arrived), type_size_);
}

int sparse_request::raise() { return of_->own().is_orphaned() ? of_->own().raise() : raise_current(comm_); }

}  // namespace shoal
