#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/event.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// The waiter is enlisted, and the event was not just unset.
template <class Strength>
void event_core<Strength>::enqueue(waiter& entry) noexcept {
  if (is_set_or_push(entry)) entry.claim_popped().post();
}

// True: the event is set. False: the waiter is linked.
template <class Strength>
bool event_core<Strength>::is_set_or_push(waiter& entry) noexcept {
  locked guard(mutex_);
  // ORDER: relaxed, pairs with nothing: a hint that the exchange verifies.
  std::uintptr_t expected = word_.load(std::memory_order_relaxed);
  while (expected != queued) {
    const std::uintptr_t next = expected == is_set_word ? is_set_word : expected == unset ? address_of(entry) : queued;
    // ORDER: acquire, pairs with the compare-exchange in set(), and in begin() for the waiter that moves into the
    // queue; release, pairs with the compare-exchange in wake_all(), which reads `entry` complete.
    if (!word_.compare_exchange_weak(expected, next, std::memory_order_acq_rel, std::memory_order_relaxed)) continue;
    if (expected == is_set_word) return true;
    if (expected == unset) return false;
    waiters_.push_back(*reinterpret_cast<waiter*>(expected));
    break;
  }
  waiters_.push_back(entry);
  return false;
}

template <class Strength>
void event_core<Strength>::wake_all() noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that what follows verifies.
  std::uintptr_t expected = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (expected == queued) {
      if (wake_queue(expected)) return;
      continue;
    }
    // ORDER: release, pairs with the load in is_set() and the compare-exchange in reset(); acquire, pairs with the
    // compare-exchange in begin(): the waiter is complete.
    if (!word_.compare_exchange_weak(expected, is_set_word, std::memory_order_acq_rel, std::memory_order_relaxed))
      continue;
    if (expected > is_set_word) reinterpret_cast<waiter*>(expected)->claim_popped().post();
    return;
  }
}

// False: the word has changed to `seen`.
template <class Strength>
bool event_core<Strength>::wake_queue(std::uintptr_t& expected) noexcept {
  grants woken;
  {
    locked guard(mutex_);
    // ORDER: release, pairs with the load in is_set() and the compare-exchange in reset(); relaxed on failure.
    if (!word_.compare_exchange_strong(expected, is_set_word, std::memory_order_release, std::memory_order_relaxed))
      return false;
    waiters_.claim_all(woken);
  }
  woken.post();
  return true;
}

template <class Strength>
bool event_core<Strength>::detach(waiter& entry) noexcept {
  std::uintptr_t expected = address_of(entry);
  // ORDER: relaxed, pairs with nothing: after the exchange only this thread accesses the waiter.
  if (word_.compare_exchange_strong(expected, unset, std::memory_order_relaxed, std::memory_order_relaxed)) return true;
  locked guard(mutex_);
  return waiters_.take_out(entry);
}

template class event_core<strength::shared>;
template class event_core<strength::unsync>;

}  // namespace detail

template class basic_event<strength::shared>;
template class basic_event<strength::unsync>;
template class basic_auto_reset_event<strength::shared>;
template class basic_auto_reset_event<strength::unsync>;

}}  // namespace hocket
