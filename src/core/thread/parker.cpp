#include <hocket/core/parker.hpp>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

bool futex_parker::park(time_point until) noexcept {
  // ORDER: acquire, pairs with the exchange in wake(): what the wakers did is visible.
  while (woken_.exchange(0, std::memory_order_acquire) == 0) {
    if (!futex_wait_until(woken_, 0, until)) return false;
  }
  return true;
}

void futex_parker::wake() noexcept {
  auto& word = woken_;  // after the exchange the parker may be gone
  // An exchange and not a store, so that the acquire in park() also reaches the wakers whose 1 this one covers.
  // ORDER: release, pairs with the exchange in park(): nothing of this call is left but the wake, by address only.
  if (word.exchange(1, std::memory_order_release) == 0) futex_wake_one(word);
}

}}  // namespace hocket
