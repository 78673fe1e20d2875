// Who sends what to whom when n members, each with a message of its own, gather all n messages.
//
// Source: recursive doubling, Bruck, ring.
// Cost: recursive doubling and Bruck L(n) rounds, ring n-1; all of volume n-1.
// Applies: any n; recursive doubling to powers of two.
#pragma once

#include <string>

namespace shoal {

class allgather_pattern {
 public:
  enum class kind { recursive_doubling, bruck, ring };
  // Recursive doubling if it applies, else Bruck.
  static kind standard(int members);
  // The word of a spec; "auto" means the standard.
  static kind parse(const std::string& word, int members);

  allgather_pattern(kind which, int members) : kind_(which), members_(members) {}

  int rounds() const;

  // In a round a member sends `count` messages to the member `to` and receives as many from `from`. It sends the
  // messages of the members first_out, first_out + 1, ... (mod n), and receives those of first_in, ... (mod n).
  struct exchange {
    int to, from, first_out, first_in, count;
  };
  exchange at(int round, int member) const;

  // Which members a copy serves: from `member`, the message of `origin` goes on to the members
  // member - stride * c (mod n), c = 1..count.
  struct copies_served {
    int stride, count;
  };
  copies_served served_by_copy(int member, int origin) const;

 private:
  int wrap(int position) const { return (position % members_ + members_) % members_; }

  kind kind_;
  int members_;
};

}  // namespace shoal
