// Failures while blocks are under way. An exchange still goes on to its end, so that nothing of it stays behind, and
// then reports its first failure once.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

namespace shoal {

// A block is longer or shorter than its receiver expects.
class size_mismatch : public std::runtime_error {
 public:
  size_mismatch()
      : std::runtime_error(
            "a block does not have the size that its receiver expects; make send and receive counts match") {}
};

// Blocks did not get here, because something failed on a rank that they came through.
class blocks_lost : public std::runtime_error {
 public:
  blocks_lost()
      : std::runtime_error("blocks did not arrive because of an error on another rank; its message says why") {}
};

// The first failure of an exchange, which is the one that counts.
class first_failure {
 public:
  void note(std::exception_ptr what) {
    if (!first_) first_ = std::move(what);
  }
  template <typename Error>
  void note(const Error& error) {
    if (!first_) first_ = std::make_exception_ptr(error);
  }
  // Runs a step, and notes its failure. Returns whether the step succeeded. Lets std::bad_alloc through.
  template <typename Step>
  bool attempt(Step step) {
    try {
      step();
      return true;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {
      note(std::current_exception());
      return false;
    }
  }
  explicit operator bool() const { return static_cast<bool>(first_); }
  const std::exception_ptr& what() const { return first_; }
  void clear() { first_ = nullptr; }

 private:
  std::exception_ptr first_;
};

// Throws what failed. Null means that nothing did.
inline void raise(const std::exception_ptr& failure) {
  if (failure) std::rethrow_exception(failure);
}

// Runs `body`, which returns an error code or 0, and then `end`, whatever becomes of `body`. What goes wrong first
// counts. If `body` runs out of memory, `end` is not run: it may wait for other ranks, which wait for this one's
// blocks.
template <typename Body, typename End>
[[gnu::hot]] int ended_by(Body body, End end) {
  int code = 0;
  std::exception_ptr failed;
  try {
    code = body();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    failed = std::current_exception();
  }
  try {
    end();
  } catch (...) {
    if (!failed && code == 0) throw;
  }
  raise(failed);
  return code;
}

}  // namespace shoal
