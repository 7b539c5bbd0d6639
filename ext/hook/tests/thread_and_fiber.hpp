// The table "thread against fiber": what each hooked call returns, its errno, and what it writes.
#pragma once
#include "connection_calls.hpp"

#include <span>
#include <string>

namespace hooked_tests {

// What a caller sees. On success errno is what it was before, untouched.
struct observation {
  static constexpr int untouched = 7777;
  long result = 0;
  int error = 0;
  std::string output;  // buffers, counts, positions, flags

  friend bool operator==(const observation&, const observation&) = default;
};

template <class Call>
observation measure(Call call) {
  errno = observation::untouched;
  const long result = static_cast<long>(call());
  return {result, errno, {}};
}
// The same, and the output that describe() reads afterwards.
template <class Call, class Describe>
observation measure(Call call, Describe describe) {
  observation observed = measure(call);
  observed.output = describe();
  return observed;
}

// Arguments that no compiler looks through.
inline void* bad_address() {
  static void* volatile address = reinterpret_cast<void*>(8);
  return address;
}
inline int negative_count() {
  static volatile int count = -1;
  return count;
}

struct row {
  const char* call;  // as in hooked.list
  const char* variant;
  observation (*run)();
  const char* difference = nullptr;  // the reason, if a fiber differs
};

std::span<const row> socket_rows();
std::span<const row> descriptor_rows();
std::span<const row> other_rows();

}  // namespace hooked_tests
