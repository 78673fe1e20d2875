// Radix algorithms: a block travels its offset digit by digit. A rank sends K messages instead of P-1, with D blocks.
//
// Source: TuNA (configurable non-uniform all-to-all), two-phase Bruck, parameterized radix-r Bruck (basic and
// modified), corrected (docs/papers/tuna.md, docs/papers/radix-bruck.md). Mixed radices, and several
// steps in flight together, are Shoal's own.
// Cost (one port): alpha * K + beta * n * D for blocks of n bytes, with K and D as in digits.hpp; K_meta further
// messages if sizes are not uniform.
// Applies: any number of ranks; bruck only to uniform exchanges.
#include "algorithms/radix.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "algorithms/families.hpp"
#include "algorithms/waves.hpp"
#include "schedule/builder.hpp"

namespace shoal {

namespace {

constexpr int most = 1 << 20;

// The walk that all radix algorithms share. held_[i] is the slot in which this rank holds a block of offset i: at first
// its own block for the rank i further on, later a block of another rank that has part of its way behind it.
class digit_walk {
 public:
  digit_walk(builder& b, const digit_system& system, std::vector<slot> held, int inflight)
      : b_(b), system_(system), held_(std::move(held)), steps_(inflight) {}

  // `arrive(origin)` returns the slot for the block from `origin` that arrives at this rank.
  template <typename Arrive>
  void run(Arrive arrive) {
    int number = 0;
    for (int x = 0; x < system_.digits(); ++x)
      for (int z = 1; z <= system_.steps_of_digit(x); ++z) {
        b_.step(number++);
        step(x, z, arrive);
      }
  }

 private:
  // Blocks of the offsets whose digit x is z travel z * weight(x) ranks on. They arrive, or pass through the receiver.
  template <typename Arrive>
  void step(int x, int z, Arrive arrive) {
    const std::int64_t distance = z * system_.weight(x);
    out_.clear();
    in_.clear();
    system_.for_each_offset(x, z, [&](std::int64_t i) {
      in_.push_back(i < system_.weight(x + 1) ? arrive(modulo(b_.rank() - i, b_.ranks())) : b_.new_temp());
      out_.push_back(in_.back().at() == place::temp ? passing(held_[i]) : held_[i]);
      held_[i] = in_.back();
    });
    steps_.add(b_.send(modulo(b_.rank() + distance, b_.ranks()), out_, steps_.before()));
    steps_.add(b_.recv(modulo(b_.rank() - distance, b_.ranks()), in_, steps_.before()));
    steps_.next_group();
  }

  builder& b_;
  const digit_system& system_;
  std::vector<slot> held_;
  window steps_;
  std::vector<slot> out_, in_;
};

std::vector<slot> own_blocks(const builder& b) {
  std::vector<slot> held;
  held.reserve(b.ranks());
  for (int i = 0; i < b.ranks(); ++i) held.push_back(send_slot(modulo(std::int64_t{b.rank()} + i, b.ranks())));
  return held;
}

schedule tuna(const problem& at, int rank, const digit_system& system, int inflight, bool announce_all) {
  builder b(at.ranks, rank);
  if (announce_all) b.announce_all_sizes();
  b.copy(send_slot(rank), recv_slot(rank));
  digit_walk(b, system, own_blocks(b), inflight).run(recv_slot);
  return b.finish();
}

schedule generate_tuna(const problem& at, int rank, const arguments& with) {
  const digit_system system = chosen_system(at.ranks, with);
  const int everything = static_cast<int>(system.steps()) + 1;
  return tuna(at, rank, system, std::min(everything, with.number("inflight", everything)), false);
}

schedule generate_two_phase(const problem& at, int rank, const arguments&) {
  return tuna(at, rank, {at.ranks, 2}, 1, true);
}

// The published uniform algorithm works on a rotated copy of the send buffer. `basic` keeps arriving blocks in the copy
// and rotates back at the end; `modified` starts from the permutation with which blocks arrive in their final places.
schedule generate_bruck(const problem& at, int rank, const arguments& with) {
  builder b(at.ranks, rank);
  const digit_system system = chosen_system(at.ranks, with);
  std::vector<slot> held = own_blocks(b);
  for (slot& block : held) {
    const slot start = b.new_temp();
    b.copy(block, start);
    block = start;
  }
  const slot own = held[0];
  if (with.word("variant") == "modified") {
    digit_walk(b, system, held, 1).run(recv_slot);
    b.copy(own, recv_slot(rank));
    return b.finish();
  }
  std::vector<slot> by_origin(at.ranks);
  by_origin[rank] = own;
  digit_walk(b, system, held, 1).run([&](int origin) { return by_origin[origin] = b.new_temp(); });
  for (int origin = 0; origin < at.ranks; ++origin) b.copy(by_origin[origin], recv_slot(origin));
  return b.finish();
}

std::optional<std::string> refuses_radices(const problem& at, const arguments& with) {
  try {
    chosen_system(at.ranks, with);
  } catch (const std::exception& error) {
    return error.what();
  }
  return std::nullopt;
}

std::optional<std::vector<wave>> tuna_waves(const equal_nodes& at, const arguments& with) {
  const int inflight = at.in_rounds ? 1 : with.number("inflight", at.ranks());
  return digit_waves(chosen_system(at.ranks(), with), at, inflight);
}

std::string with_radix(const char* name, int radix) { return std::string(name) + ":radix=" + std::to_string(radix); }

// Radix 2, which gives the fewest messages, and about two digits.
std::vector<std::string> tuna_tried(const problem& at) {
  if (largest_node(at) == at.ranks) return {};
  std::vector<std::string> specs{with_radix("tuna", 2)};
  if (at.ranks >= 16) specs.push_back(with_radix("tuna", static_cast<int>(std::lround(std::sqrt(at.ranks)))));
  return specs;
}

std::vector<std::string> tuna_measured(const problem& at) {
  std::vector<std::string> specs;
  for (const int radix : std::set{2, 3, 4, 8, 16, 32, square_radix(at.ranks), (at.ranks + 1) / 2})
    if (radix >= 2 && radix < at.ranks) specs.push_back(with_radix("tuna", radix));
  return specs;
}

std::vector<std::string> bruck_measured(const problem& at) {
  return at.ranks > 2 ? std::vector{with_radix("bruck", 2)} : std::vector<std::string>{};
}

parameter radix_parameter() {
  return {"radix", "base of the digits; larger than P-1 means linear; auto: the square root of P", "auto", {"auto"}, 2,
          most};
}

algorithm tuna_entry() {
  algorithm a;
  a.name = "tuna";
  a.alike = around_one_ring;
  a.summary = "radix-r exchange of blocks of any size, sizes sent ahead only for blocks that pass through";
  a.source = "Configurable Non-uniform All-to-all Algorithms (TuNA)";
  a.parameters = {radix_parameter(),
                  {"radices", "one radix per digit, lowest first, instead of radix", "none", {"none"}, 2, most, true},
                  {"inflight", "steps in flight together; 1 gives the paper's rounds", "all", {"all"}, 1, most}};
  a.refuses = refuses_radices;
  a.generate = generate_tuna;
  a.tried = tuna_tried;
  a.turn = 2;
  a.measured = tuna_measured;
  a.waves = tuna_waves;
  return a;
}

algorithm bruck_entry() {
  algorithm a;
  a.name = "bruck";
  a.alike = around_one_ring;
  a.uniform_only = true;
  a.summary = "radix-r Bruck for equal blocks, in rounds, through a rotated copy";
  a.source = "Parameterized Radix-r Bruck Algorithm";
  a.parameters = {
      radix_parameter(),
      {"variant", "basic rotates at both ends, modified only at the start", "modified", {"basic", "modified"}}};
  a.generate = generate_bruck;
  a.measured = bruck_measured;
  return a;
}

algorithm two_phase_entry() {
  algorithm a;
  a.name = "two_phase";
  a.alike = around_one_ring;
  a.summary = "radix 2 in rounds with the sizes of all blocks sent ahead";
  a.source = "two-phase Bruck, the published baseline of TuNA";
  a.generate = generate_two_phase;
  return a;
}

}  // namespace

digit_system chosen_system(int ranks, const arguments& with) {
  const bool mixed = with.values().count("radices") && with.word("radices") != "none";
  if (mixed) return {ranks, with.list("radices")};
  return {ranks, with.number("radix", square_radix(ranks))};
}

std::vector<algorithm> radix_family() { return {tuna_entry(), bruck_entry(), two_phase_entry()}; }

}  // namespace shoal
