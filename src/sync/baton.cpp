#include <hocket/sync/detail/baton.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The waiter is enlisted, and the baton was not just held.
template <class Strength>
void baton<Strength>::enqueue(waiter& entry) noexcept {
  if (take_or_push(entry) && !give_to(entry)) put();
}

// True: the baton is taken. False: the waiter is linked.
template <class Strength>
bool baton<Strength>::take_or_push(waiter& entry) noexcept {
  locked guard(mutex_);
  // ORDER: relaxed, pairs with nothing: a hint that the exchanges below verify.
  std::uintptr_t expected = word_.load(std::memory_order_relaxed);
  while (expected != queued && expected != put_back_queued) {
    const std::uintptr_t put_back = expected & 1;  // if the word is a waiter's address
    const std::uintptr_t next = expected == free ? held : expected == held ? address_of(entry) : queued - put_back;
    // ORDER: acquire, pairs with the compare-exchange in put() if the baton is free, and in begin() for the waiter that
    // moves into the queue; release, pairs with the compare-exchange in hand_over(), which reads `entry` complete.
    if (!word_.compare_exchange_weak(expected, next, std::memory_order_acq_rel, std::memory_order_relaxed)) continue;
    if (expected == free) return true;
    if (expected == held) return false;
    waiters_.push_back(*reinterpret_cast<waiter*>(expected + put_back));
    break;
  }
  waiters_.push_back(entry);
  return false;
}

// There is a waiter. To other threads the caller holds the baton again, until the handover.
template <class Strength>
void baton<Strength>::hand_back() noexcept {
  // ORDER: relaxed, pairs with nothing: the claim orders the next holder after this one, or by hand_over().
  word_.fetch_add(held - free, std::memory_order_relaxed);
  hand_over();
}

template <class Strength>
bool baton<Strength>::hand_over() noexcept {
  // ORDER: relaxed, pairs with nothing: a hint that what follows verifies.
  std::uintptr_t expected = word_.load(std::memory_order_relaxed);
  for (;;) {
    waiter* next = nullptr;
    if (expected <= held) {
      // ORDER: release, pairs with the compare-exchange in try_take().
      if (word_.compare_exchange_weak(expected, free, std::memory_order_release, std::memory_order_relaxed))
        return false;
      continue;
    }
    if (expected != queued) {
      // ORDER: acquire, pairs with the compare-exchange in begin(): the waiter is complete. The claim orders the next
      // holder after this one.
      if (!word_.compare_exchange_weak(expected, held, std::memory_order_acquire, std::memory_order_relaxed)) continue;
      next = reinterpret_cast<waiter*>(expected);
    } else {
      if (put_or_pop(next)) return false;
    }
    if (next && give_to(*next)) return true;
    // ORDER: relaxed, pairs with nothing: as above.
    expected = word_.load(std::memory_order_relaxed);
  }
}

// True: the queue is empty, and the baton is free.
template <class Strength>
bool baton<Strength>::put_or_pop(waiter*& next) noexcept {
  locked guard(mutex_);
  // ORDER: relaxed, pairs with nothing: it leaves `queued` under the inner mutex only.
  if (word_.load(std::memory_order_relaxed) != queued) return false;
  if (waiters_.empty()) {
    // ORDER: release, pairs with the compare-exchange in try_take().
    word_.exchange(free, std::memory_order_release);
    return true;
  }
  next = &waiters_.pop_front();
  // ORDER: relaxed, pairs with nothing: the claim orders the next holder after this one.
  if (waiters_.empty()) word_.exchange(held, std::memory_order_relaxed);
  return false;
}

template <class Strength>
bool baton<Strength>::detach(waiter& entry) noexcept {
  const std::uintptr_t self = address_of(entry);
  for (std::uintptr_t expected = self; expected == self || expected == self - 1;) {
    const std::uintptr_t next = expected == self ? held : put_back_queued;
    // ORDER: relaxed, pairs with nothing: after the exchange only this thread accesses the waiter.
    if (word_.compare_exchange_strong(expected, next, std::memory_order_relaxed, std::memory_order_relaxed))
      return true;
  }
  locked guard(mutex_);
  return waiters_.take_out(entry);
}

template <class Strength>
void baton<Strength>::pass_on(waiter&) noexcept {
  put();
}

template class baton<strength::shared>;
template class baton<strength::unsync>;

}}}  // namespace hocket::detail
