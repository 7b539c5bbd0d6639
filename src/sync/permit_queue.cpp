#include <hocket/sync/detail/permit_queue.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Strength>
bool permit_queue<Strength>::begin(suspension& wait, waiter& entry, request& demand) noexcept {
  entry.resource = &demand;  // set even if the permits are taken at once: pass_on() reads it
  locked guard(mutex_);
  if (wait.decided()) return false;
  const word permits = count(demand.permits);
  // ORDER: relaxed, pairs with nothing: a hint that the exchanges below verify.
  word expected = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (!(expected & has_waiters) && expected >= permits) {
      // ORDER: acquire, pairs with the compare-exchange in give().
      if (!word_.compare_exchange_weak(expected, expected - permits, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        continue;
      // ORDER: relaxed, pairs with nothing: the permits were not used, and the write continues the release sequence of
      // their release.
      if (!wait.take_now(entry, *this)) word_.fetch_add(permits, std::memory_order_relaxed);
      return false;
    }
    // ORDER: relaxed, pairs with nothing: the queue is read under the inner mutex only.
    if ((expected & has_waiters) || word_.compare_exchange_weak(expected, expected | has_waiters,
                                                                std::memory_order_relaxed, std::memory_order_relaxed))
      break;
  }
  return waiters_.enlist(wait, *this, entry);
}

// Under the mutex. Claims waiters from the front as long as the permits suffice. Stops at a waiter if its wait
// has ended: its detach() serves the queue again.
template <class Strength>
void permit_queue<Strength>::serve(grants& served) noexcept {
  // ORDER: acquire, pairs with the compare-exchange in give(): the granted waiters are ordered after all releases of
  // their permits.
  const word current = word_.load(std::memory_order_acquire);
  if (!(current & has_waiters)) return;
  word taken = 0;
  while (!waiters_.empty()) {
    waiter& first = waiters_.front();
    const word permits = count(request_of(first).permits);
    if (current - has_waiters - taken < permits) break;
    grant claimed = first.claim();
    if (!claimed) break;
    waiters_.erase(first);
    taken += permits;
    served.add(std::move(claimed));
  }
  // ORDER: relaxed, pairs with nothing: it continues the release sequences of the remaining permits.
  if (word spent = taken + (waiters_.empty() ? has_waiters : 0)) word_.fetch_sub(spent, std::memory_order_relaxed);
}

template <class Strength>
void permit_queue<Strength>::give_to_waiters(std::size_t n) noexcept {
  grants served;
  {
    locked guard(mutex_);
    // ORDER: release, pairs with the compare-exchange in try_take().
    word before = word_.fetch_add(count(n), std::memory_order_release);
    [[maybe_unused]] word checked = sum(before, n);
    serve(served);
  }
  served.post_in_turn();
}

template <class Strength>
bool permit_queue<Strength>::detach(waiter& entry) noexcept {
  grants served;
  {
    locked guard(mutex_);
    if (!waiters_.take_out(entry)) return false;
    serve(served);
  }
  served.post_in_turn();
  return true;
}

template <class Strength>
void permit_queue<Strength>::pass_on(waiter& entry) noexcept {
  give(request_of(entry).permits);
}

template class permit_queue<strength::shared>;
template class permit_queue<strength::unsync>;

}}}  // namespace hocket::detail
