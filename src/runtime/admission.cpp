#include "runtime/admission.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// First the ends, then the entries: each coroutine that ended had entered before. So if the sums are equal, there was a
// moment in between at which all had ended.
std::size_t admission::others() const noexcept {
  // ORDER: acquire, pairs with the fetch_add in leave(): what the coroutines did is visible.
  std::size_t departed = departed_.load(std::memory_order_acquire);
  for (const auto& owner : workers) departed += owner->departed();
  // ORDER: relaxed, pairs with nothing: the acquire before it keeps it behind.
  std::size_t begun = entered_.load(std::memory_order_relaxed);
  for (const auto& owner : workers) begun += owner->entered();
  return begun - departed;
}

void admission::refuse(bool children) noexcept {
  const gate next = children ? gate::closed : gate::children_only;
  // ORDER: relaxed, pairs with nothing: the compare-exchange below verifies it, so it changes in this direction only.
  gate seen = admits_.load(std::memory_order_relaxed);
  // ORDER: relaxed, pairs with the loads in is_admitted() and notify_end(): a spawn that comes at the same time is one
  // of those that were there.
  while (seen < next &&
         !admits_.compare_exchange_weak(seen, next, std::memory_order_relaxed, std::memory_order_relaxed)) {
  }
  heavy_fence();
}

bool admission::wait_until(bool (admission::*condition)() const noexcept, time_point until) noexcept {
  bool in_time = true;
  for (;;) {
    // ORDER: acquire, pairs with the fetch_add in notify_end().
    const std::uint32_t before = ends_.load(std::memory_order_acquire);
    if ((this->*condition)()) return true;
    if (!in_time) return false;
    in_time = futex_wait_until(ends_, before, until);
  }
}

}}}  // namespace hocket::detail
