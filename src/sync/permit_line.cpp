#include <hocket/sync/detail/permit_line.hpp>

namespace hocket::inline HOCKET_ABI::detail {

template <class Strength>
void permit_line<Strength>::begin(suspension& wait, waiter& entry, request& wish) noexcept {
  entry.resource = &wish;  // also of what is taken at once: pass_on() asks
  locked guard(mutex_);
  const word wanted = count(wish.wanted);
  // ORDER: relaxed, pairs with nothing: a hint that the exchanges below verify.
  word seen = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (!(seen & waited) && seen >= wanted) {
      // ORDER: acquire, pairs with the compare-exchange in give().
      if (!word_.compare_exchange_weak(seen, seen - wanted, std::memory_order_acquire, std::memory_order_relaxed))
        continue;
      // ORDER: release, pairs with the compare-exchange in try_take(): permits that are given back unused.
      if (!wait.take_now(entry, *this)) word_.fetch_add(wanted, std::memory_order_release);
      return;
    }
    // ORDER: relaxed, pairs with nothing: the line is read under the inner mutex only.
    if ((seen & waited) ||
        word_.compare_exchange_weak(seen, seen | waited, std::memory_order_relaxed, std::memory_order_relaxed))
      break;
  }
  entry.enlist(wait, *this);
  line_.push_back(entry);
}

// Under the mutex: takes those out of the line whose turn has come, and returns them chained, first come first.
template <class Strength>
waiter* permit_line<Strength>::serve() noexcept {
  // ORDER: acquire, pairs with the compare-exchange in give(): those who are granted are ordered after all releases
  // that they live on.
  const word seen = word_.load(std::memory_order_acquire);
  if (!(seen & waited)) return nullptr;
  waiter* first = nullptr;
  waiter** last = &first;
  word taken = 0;
  while (!line_.empty() && seen - waited - taken >= count(request::of(line_.front()).wanted)) {
    waiter& served = line_.pop_front();
    taken += count(request::of(served).wanted);
    *last = &served;
    last = &request::of(served).next;
  }
  *last = nullptr;
  // ORDER: relaxed, pairs with nothing: it belongs to the release sequences of those whose permits are left.
  if (word spent = taken + (line_.empty() ? waited : 0)) word_.fetch_sub(spent, std::memory_order_relaxed);
  return first;
}

// Returns how many permits could not be granted, because others had ended the waits for them. Inside of another grant
// none is made yet, and none is lost.
template <class Strength>
std::size_t permit_line<Strength>::grant_all(waiter* first) noexcept {
  if (!first) return 0;
  if (served_waits* under_way = served_waits::current()) {
    under_way->add(first);
    return 0;
  }
  served_waits meanwhile;
  std::size_t lost = 0;
  while (first) {
    const request wish = request::of(*first);
    if (!first->grant()) lost += wish.wanted;
    first = wish.next;
  }
  meanwhile.grant();
  return lost;
}

template <class Strength>
void permit_line<Strength>::give_to_waiters(std::size_t n) noexcept {
  while (n > 0) {
    waiter* first = nullptr;
    {
      locked guard(mutex_);
      // ORDER: release, pairs with the compare-exchange in try_take().
      word before = word_.fetch_add(count(n), std::memory_order_release);
      [[maybe_unused]] word checked = sum(before, n);
      first = serve();
    }
    n = grant_all(first);
  }
}

template <class Strength>
bool permit_line<Strength>::detach(waiter& entry) noexcept {
  waiter* first = nullptr;
  {
    locked guard(mutex_);
    if (!entry.linked()) return false;
    line_.erase(entry);
    first = serve();
  }
  if (std::size_t lost = grant_all(first)) give(lost);
  return true;
}

template <class Strength>
void permit_line<Strength>::pass_on(waiter& entry) noexcept {
  give(request::of(entry).wanted);
}

template class permit_line<strength::shared>;
template class permit_line<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI::detail
