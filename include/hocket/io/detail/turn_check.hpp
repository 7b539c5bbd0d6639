// An operation that is always possible: for loops over what never waits. It spends the budget (budget.hpp), so others
// run between, and a stop or a deadline that has passed ends the loop.
#pragma once
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct always_possible {
  using value_type = void;
  static constexpr bool try_now() noexcept { return true; }
  static void begin(suspension&, waiter&) noexcept {}  // never: it was tried
  static result<void> take() noexcept { return {}; }

  std::uintptr_t unused = 0;  // an operation has no padding
};

inline operation<always_possible> check_turn(call_site site = this_call_site()) noexcept {
  return operation<always_possible>(always_possible(), site);
}

}}}  // namespace hocket::detail
