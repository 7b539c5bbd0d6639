#include <hocket/core/thread/seam/inbox.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

static_assert(alignof(runnable) > 2, "the address of a runnable differs from the marks");

}  // namespace

void inbox::post_all(const runnables& works) noexcept {
  for (std::size_t i = 1; i < works.size(); ++i) works[i].next = &works[i - 1];
  push(works[works.size() - 1], works[0]);
}

void inbox::push(runnable& newest, runnable& oldest) noexcept {
  // ORDER: relaxed, pairs with nothing: the exchange below verifies it, and the list is not followed here.
  word expected = word_.load(std::memory_order_relaxed);
  do {
    oldest.next = expected > nudged ? reinterpret_cast<runnable*>(expected) : nullptr;
    // ORDER: acq_rel, pairs with the exchange in take(): the runnables and all that led to their wake-up are visible;
    // and with the first compare-exchange in sleep(): the owner's last park() ended before the wake below.
  } while (!word_.compare_exchange_weak(expected, reinterpret_cast<word>(&newest), std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  if (expected == asleep) parker_->wake();
}

void inbox::nudge() noexcept {
  // ORDER: relaxed, pairs with nothing: the exchange below verifies it.
  word expected = word_.load(std::memory_order_relaxed);
  // ORDER: acq_rel, pairs with the exchange in take() and the first one in sleep(), as in post().
  while (!word_.compare_exchange_weak(expected,
                                      expected == empty    ? nudged
                                      : expected == asleep ? empty
                                                           : expected,
                                      std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
  if (expected == asleep) parker_->wake();
}

runnable* inbox::take() noexcept {
  // ORDER: relaxed, pairs with nothing: a post that this load misses makes sleep() fail.
  if (word_.load(std::memory_order_relaxed) == empty) return nullptr;
  // ORDER: acquire, pairs with the compare-exchange in post() and nudge().
  word taken = word_.exchange(empty, std::memory_order_acquire);
  return taken > nudged ? reversed(reinterpret_cast<runnable*>(taken)) : nullptr;
}

bool inbox::begin_sleep() noexcept {
  word expected = empty;
  // ORDER: release, pairs with the compare-exchange in post() and nudge(): the last park() ended before the
  // announcement is visible; relaxed on failure: the owner takes next.
  return word_.compare_exchange_strong(expected, asleep, std::memory_order_release, std::memory_order_relaxed);
}

bool inbox::end_sleep() noexcept {
  word expected = asleep;
  // ORDER: relaxed, pairs with nothing: no thread has replaced it; or, on failure, the wake orders the rest.
  if (word_.compare_exchange_strong(expected, empty, std::memory_order_relaxed, std::memory_order_relaxed))
    return false;
  parker_->await_wake();
  return true;
}

bool inbox::sleep(time_point until) noexcept {
  if (!begin_sleep()) return true;
  const bool woken = parker_->park(until) || end_sleep();
  wakes_ += woken;
  return woken;
}

}}}  // namespace hocket::detail
