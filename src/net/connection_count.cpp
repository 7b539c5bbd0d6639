#include <hocket/net/detail/connection_count.hpp>

#include <algorithm>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// --- limits

namespace {

std::size_t reserve_of(std::size_t limit) noexcept { return limit == 0 ? 0 : std::max<std::size_t>(1, limit / 16); }

}  // namespace

void connection_count::set_limits(std::size_t limit, semaphore* shared, std::size_t shared_limit) noexcept {
  own_size_ = std::min(limit, semaphore::max);
  own_.release(own_size_);
  shared_ = shared;
  shared_reserve_ = reserve_of(shared_limit);
  // ORDER: relaxed, pairs with nothing: a number.
  own_reserve_.store(reserve_of(own_size_), std::memory_order_relaxed);
}

// A limit of 0 has no place that an eviction could free.
bool connection_count::is_scarce() const noexcept {
  // ORDER: relaxed, pairs with nothing: a number.
  const std::size_t reserve = own_reserve_.load(std::memory_order_relaxed);
  return (reserve != 0 && own_.available() <= reserve) || (shared_ && shared_->available() <= shared_reserve_);
}

void connection_count::change_limit(std::size_t limit) noexcept {
  const std::size_t before = std::exchange(own_size_, std::min(limit, semaphore::max));
  // ORDER: relaxed, pairs with nothing: a number.
  own_reserve_.store(reserve_of(own_size_), std::memory_order_relaxed);
  if (own_size_ >= before) {
    const std::size_t more = own_size_ - before;
    own_.release(more - pay_debt(more));
    return;
  }
  std::size_t fewer = before - own_size_;
  while (fewer != 0) {
    const std::size_t count = std::min(fewer, own_.available());
    semaphore::permits free = own_.try_acquire(count);
    if (count == 0 || !free) break;
    free.forget();
    fewer -= count;
  }
  // ORDER: relaxed, pairs with nothing: a number.
  debt_.fetch_add(fewer, std::memory_order_relaxed);
}

// Takes at most `most` of the debt; returns the number.
std::size_t connection_count::pay_debt(std::size_t most) noexcept {
  // ORDER: relaxed, pairs with nothing, twice: a number.
  std::size_t debt = debt_.load(std::memory_order_relaxed);
  while (!debt_.compare_exchange_weak(debt, debt - std::min(debt, most), std::memory_order_relaxed)) continue;
  return std::min(debt, most);
}

bool connection_count::try_acquire(connection_permits& permits) noexcept {
  if (!(permits.own = own_.try_acquire())) return false;
  return !shared_ || (permits.shared = shared_->try_acquire());
}

// --- connections

void connection_count::begin(connection_permits&& permits) noexcept {
  permits.own.forget();
  permits.shared.forget();
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
  if (pay_debt(1) == 0) own_.release();
  if (shared_) shared_->release();
  // ORDER: release, pairs with the load in size().
  live_.fetch_sub(1, std::memory_order_release);
  ended_.set();
}

}}}  // namespace hocket::detail
