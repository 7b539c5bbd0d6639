#include <hocket/sync/detail/baton.hpp>

namespace hocket::inline HOCKET_ABI::detail {

template <class Strength>
void baton<Strength>::begin(suspension& wait, waiter& entry) noexcept {
  locked guard(mutex_);
  // ORDER: relaxed, pairs with nothing: a hint that the exchanges below verify.
  std::uint32_t seen = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (seen == here) {
      // ORDER: acquire, pairs with the compare-exchange in put().
      if (!word_.compare_exchange_weak(seen, away, std::memory_order_acquire, std::memory_order_relaxed)) continue;
      // ORDER: release, pairs with the compare-exchange in try_take(): a baton that is given back unused.
      if (!wait.take_now(entry, *this)) word_.exchange(here, std::memory_order_release);
      return;
    }
    // ORDER: relaxed, pairs with nothing: the line is read under the inner mutex only.
    if (seen == wanted ||
        word_.compare_exchange_weak(seen, wanted, std::memory_order_relaxed, std::memory_order_relaxed))
      break;
  }
  entry.enlist(wait, *this);
  line_.push_back(entry);
}

template <class Strength>
void baton<Strength>::hand_over() noexcept {
  for (;;) {
    waiter* next = nullptr;
    {
      locked guard(mutex_);
      if (line_.empty()) {
        // ORDER: release, pairs with the compare-exchange in try_take().
        word_.exchange(here, std::memory_order_release);
        return;
      }
      next = &line_.pop_front();
      // ORDER: relaxed, pairs with nothing: the next holder is ordered after this one by its claim.
      if (line_.empty()) word_.exchange(away, std::memory_order_relaxed);
    }
    if (next->grant()) return;
  }
}

template <class Strength>
bool baton<Strength>::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  if (!entry.linked()) return false;
  line_.erase(entry);
  return true;
}

template <class Strength>
void baton<Strength>::pass_on(waiter&) noexcept {
  put();
}

template class baton<strength::shared>;
template class baton<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI::detail
