// The table "thread against fiber": what each hooked call returns, its errno, and what it writes.
#pragma once
#include "connection_calls.hpp"

#include <span>
#include <string>

namespace hooked_tests {

// What a caller sees. On success errno is what it was before, untouched.
struct outcome {
  static constexpr int untouched = 7777;
  long result = 0;
  int error = 0;
  std::string output;  // buffers, counts, positions, flags

  friend bool operator==(const outcome&, const outcome&) = default;
};

template <class Call>
outcome measure(Call call) {
  errno = outcome::untouched;
  const long result = static_cast<long>(call());
  return {result, errno, {}};
}
// The same, and the output that describe() reads afterwards.
template <class Call, class Describe>
outcome measure(Call call, Describe describe) {
  outcome observed = measure(call);
  observed.output = describe();
  return observed;
}

struct row {
  const char* call;  // as in hooked.list
  const char* variant;
  outcome (*run)();
  const char* difference = nullptr;  // the reason, if a fiber has another outcome
};

std::span<const row> socket_rows();
std::span<const row> descriptor_rows();
std::span<const row> other_rows();

}  // namespace hooked_tests
