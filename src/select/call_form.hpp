// The forms that a collective of MPI has.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace shoal {

enum class call_form : std::uint8_t {
  any_sizes,  // MPI_Alltoallv: blocks of any sizes
  equal,      // MPI_Alltoall: blocks of one size
  any_types   // MPI_Alltoallw: a datatype for each block
};

constexpr std::array call_forms = {call_form::equal, call_form::any_sizes, call_form::any_types};

// An array with a value for each form.
template <typename Value>
class by_form {
 public:
  Value& operator[](call_form of) { return values_[static_cast<std::size_t>(of)]; }
  const Value& operator[](call_form of) const { return values_[static_cast<std::size_t>(of)]; }

 private:
  std::array<Value, call_forms.size()> values_{};
};

// The name of a collective's form, as in alltoall, alltoallv, alltoallw.
inline std::string name_of(const char* collective, call_form form) {
  constexpr std::array suffixes = {"v", "", "w"};
  return collective + std::string(suffixes[static_cast<std::size_t>(form)]);
}

}  // namespace shoal
