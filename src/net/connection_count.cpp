#include <hocket/net/detail/connection_count.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void connection_count::begin(semaphore::permits&& permit) noexcept {
  permit.forget();
  // ORDER: relaxed, pairs with nothing: the party that waits for zero has joined the acceptors before.
  live_.fetch_add(1, std::memory_order_relaxed);
}

void connection_count::share() noexcept {
  // ORDER: relaxed, pairs with nothing: the holder that takes the share needs no more than the number.
  shares_.fetch_add(1, std::memory_order_relaxed);
}

void connection_count::end() noexcept {
  // ORDER: acquire, pairs with the compare-exchange below: what a holder did that has taken a share is visible to the
  // one that ends the connection, and so to the party that waits for zero.
  std::size_t seen = shares_.load(std::memory_order_acquire);
  while (seen != 0) {
    // ORDER: acq_rel, release pairs with the load above; acquire as there.
    if (shares_.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel, std::memory_order_acquire)) return;
  }
  if (permits_) permits_->release();
  // ORDER: release, pairs with the load in size().
  live_.fetch_sub(1, std::memory_order_release);
  ended_.set();
}

}}}  // namespace hocket::detail
