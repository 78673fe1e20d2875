#include "learn/service.hpp"

#include <stdexcept>
#include <utility>

namespace shoal {

using stage = standing::stage;

service::service(job_state& job, const owner& whose, standing& stands, agreements& agrees, waiting& wait)
    : job_(job),
      whose_(whose),
      stands_(stands),
      agrees_(agrees),
      wait_(wait),
      offered_(whose.what == collective::alltoall ? node_exchange::room::of_direct
                                                  : node_exchange::room::of_schedules) {}

std::vector<std::int64_t> service::agree(std::vector<std::int64_t> mine) {
  return agrees_.agree(std::move(mine), state_ ? &state_->all() : nullptr);
}

// ---- memory ----------------------------------------------------------------------------------------------------

void service::offer(std::span<std::int64_t> said) {
  offered_.make(stands_.agreed.room(whose_.ranks), whose_.ranks, said);
}

void service::take_offer(std::span<const std::int64_t> heard) {
  if (!offered_memory::is_made(heard) || !worth_.pays_at_once(stands_.agreed)) return offered_.drop();
  offered_.map(stands_.agreed.room(whose_.ranks), whose_.ranks, whose_.rank, heard);
}

void service::write(rank_terms& mine) const {
  mine.memory_error = offered_.error();
  mine.is_unreadable = offered_.is_unreadable();
}

// The first rank makes memory, and all ranks map it.
void service::share(std::size_t most) {
  std::vector<std::int64_t> said(offered_memory::terms, unsaid);
  if (whose_.rank == 0) offered_.make(most, whose_.ranks, said);
  offered_.map(most, whose_.ranks, whose_.rank, agree(std::move(said)));
}

// `error`: the largest of what the ranks said, so 0 if all of them have the memory.
void service::take_memory(std::int64_t error, bool unreadable) {
  node_exchange::mapped memory = offered_.take(error, unreadable);
  if (!make_state()) return;
  if (error == 0) state_->all().memory().take(std::move(memory));
  if (stands_.now == stage::known) return serve();
  cannot_grow_ = error != 0;
  if (cannot_grow_) return;  // what serves goes on as before
  for (auto& [key, f] : whose_.fields) f.trials.try_anew();
}

void service::share_more(const agreed_terms& all) {
  if (cannot_grow_ || has_room(all.load()) || !worth_.pays(all)) return;
  share(all.room(whose_.ranks));
}

// Whether exchanges of this load, in bytes, fit into the memory that the ranks share, if they share any. Parts of
// larger exchanges would take a longer way, and the candidates would seem slow.
bool service::has_room(double load) const {
  return offered_.largest_exchange() == 0 || load <= static_cast<double>(offered_.largest_exchange());
}

// ---- the state -------------------------------------------------------------------------------------------------

void service::set_up(const agreed_terms& all) {
  if (&all != &stands_.agreed) stands_.agreed = all;
  if (job_.is_on_one_node(whose_.ranks, all.same_node())) return share(all.room(whose_.ranks));
  if (make_state()) serve();
}

void service::set_up_whole(const agreed_terms& all) {
  set_up(all);
  if (!offered_.is_mapped()) return;
  const std::vector<std::int64_t> heard = agree({offered_.error(), offered_.is_unreadable()});
  take_memory(heard[0], heard[1]);
}

bool service::make_state() {
  try {
    if (!state_) state_ = make_communicator(whose_.comm, whose_.what, whose_.ranks, job_, stands_.agreed, wait_);
  } catch (const std::invalid_argument& error) {
    stands_.refuse(whose_.comm, error.what(), true);
  }
  if (state_ && state_->all().is_open() && !std::exchange(is_counted_, true)) job_.count_open(1);
  return static_cast<bool>(state_);
}

void service::open_state() {
  constexpr const char* none_left = "the MPI library has no communicator left for Shoal";
  is_counted_ = state_->all().open();
  if (is_counted_) return job_.count_open(1);
  if (stands_.now == stage::served) return void(stands_.why = none_left);
  state_.reset();
  stands_.refuse(whose_.comm, none_left, false);
}

// ---- candidates ------------------------------------------------------------------------------------------------

// From now on the candidates may serve.
void service::serve() {
  if (nodes() > 1 && !state_->all().is_open()) open_state();
  if (!state_) return;
  stands_.now = stage::served;
  candidates_.list(whose_.what, state_->all());
  for (auto& [key, f] : whose_.fields) open_if_known(f);
}

void service::open_if_known(exchange_field& f) {
  const bool is_known = whose_.fields.are_known_sizes(f.shape.form);
  const double load = is_known ? f.load : stands_.load;
  if (offered_.largest_exchange() > 0 && (load == 0 || !has_room(load))) return;
  if (is_known && f.copied > most_copied) return;  // the same on every rank, as MPI_IN_PLACE is
  const agreements::payment paying(agrees_);
  open(f);
}

void service::open_if_roomy(exchange_field& f, const agreed_terms& all) {
  if (stands_.now == stage::served && has_room(all.load())) open(f);
}

void service::open(exchange_field& f) {
  if (f.is_open) return;
  f.is_open = true;
  f.shape.nodes = nodes();
  const bool is_known = whose_.fields.are_known_sizes(f.shape.form);
  if (!is_known && stands_.load > 0) f.shape = whose_.fields.shape_of(f.shape.form, f.load = stands_.load, nodes());
  const bool same_size = is_known || stands_.load > 0;  // on every rank
  const auto known = same_size && f.trials.calls() == 0 ? expected(f) : std::nullopt;
  candidates_.add_levels(f, state_->all().where(), stands_.agreed);
  // Nobody asked for an algorithm, so only the report tells if the ranks can make no graph of their neighbours.
  neighborhood* const among = candidates_.are_several() || known ? make_among(f.shape.form) : nullptr;
  if (!among) return;
  if (known) candidates_.assume(f, *known);
  candidates_.open(f, among->algorithms());
}

void service::close(exchange_field& f) {
  for (int i = contest::native + 1; i < contest::most_candidates; ++i) f.trials.close(i);
  f.is_open = false;
}

void service::close_all() {
  for (auto& [key, f] : whose_.fields) close(f);
  offered_.drop();
}

std::optional<knowledge::shape_times> service::expected(const exchange_field& f) const {
  return stands_.knows ? worth_.expected(f, state_->fitting_profile().get(), stands_.agreed) : std::nullopt;
}

}  // namespace shoal
