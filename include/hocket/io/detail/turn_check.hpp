// An operation that always completes at once, for loops whose other operations never wait. It spends the budget
// (budget.hpp), so other coroutines run in between, and a stop or a passed deadline ends the loop.
#pragma once
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct always_possible {
  using value_type = void;
  static constexpr bool try_now() noexcept { return true; }
  static void begin(suspension&, waiter&) noexcept {}  // never called: try_now() returns true
  static result<void> take() noexcept { return {}; }

  std::uintptr_t unused = 0;  // an operation has no padding
};

inline operation<always_possible> check_turn(call_site site = this_call_site()) noexcept {
  return operation<always_possible>(always_possible(), site);
}

}}}  // namespace hocket::detail
