// What a call would have done without Shoal.
#pragma once

namespace shoal {

// The MPI's own collective with the caller's arguments; returns its code. A reference, not a copy.
class native_call {
 public:
  template <typename Call>
  native_call(const Call& call)  // NOLINT: implicit on purpose
      : call_(&call), invoke_([](const void* c) { return (*static_cast<const Call*>(c))(); }) {}
  int operator()() const { return invoke_(call_); }

 private:
  const void* call_;
  int (*invoke_)(const void*);
};

}  // namespace shoal
