#include <hocket/base/fatal.hpp>
#include <hocket/io/seam/io_driver.hpp>
#include <hocket/io/seam/open_descriptor.hpp>

#include "io/place.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;
using primitive::waiter;

namespace {

transfer& transfer_of(waiter& entry) noexcept { return *static_cast<transfer*>(entry.resource); }

}  // namespace

io_driver::io_driver(std::uint32_t turns_between_polls, const driver_owner& owner) noexcept
    : driver(turns_between_polls), owner_(current_owner()), is_guest_(owner.is_guest) {}

io_driver::~io_driver() { debug_expects(attached_.empty(), "a driver ended beside its waits", "call end_all_waits()"); }

int io_driver::attach(registration& one) noexcept {
  const int error = start_watching(one.of);
  if (error != 0 && error != EPERM) return error;
  locked guard(mutex_);
  attached_.push_back(one);
  return error;
}

void io_driver::detach(registration& one) noexcept {
  stop_watching(one.of);
  locked guard(mutex_);
  list<registration>::erase(one);
}

std::size_t io_driver::waiting() const noexcept {
  locked guard(mutex_);
  std::size_t count = 0;
  for (const registration& one : attached_) count += one.of.waiting();
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  for (const transfer* one = pending_.load(std::memory_order_relaxed); one; one = one->next) ++count;
  return count;
}

bool io_driver::has_waits() const noexcept {
  if (has_pending()) return true;
  locked guard(mutex_);
  return std::any_of(attached_.begin(), attached_.end(),
                     [](const registration& one) noexcept { return one.of.waiting() != 0; });
}

// --- pending transfers

void io_driver::add_pending(waiter& entry) noexcept {
  transfer& what = transfer_of(entry);
  what.next = nullptr;
  what.pending = &entry;
  {
    locked guard(mutex_);
    // ORDER: relaxed, pairs with nothing: guarded by the mutex.
    if (transfer* const first = pending_.load(std::memory_order_relaxed); first) last_pending_->next = &what;
    // ORDER: relaxed, pairs with nothing: guarded by the mutex; ring() orders it before the owner's next look.
    else pending_.store(&what, std::memory_order_relaxed);
    last_pending_ = &what;
  }
  if (is_guest_ || current_owner() != owner_) ring();
}

void io_driver::go_on_with(direction& of, waiter& entry) noexcept {
  if (waiter* const later = of.serve(entry)) add_pending(*later);
}

[[HOCKET_NOINLINE]] transfer* io_driver::take_all_pending() noexcept {
  locked guard(mutex_);
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  transfer* const first = pending_.load(std::memory_order_relaxed);
  // ORDER: relaxed, pairs with nothing: as above.
  pending_.store(nullptr, std::memory_order_relaxed);
  return first;
}

[[HOCKET_NOINLINE]] void io_driver::go_on_with_all(transfer* pending) noexcept {
  while (pending) {
    transfer& what = *std::exchange(pending, pending->next);
    go_on_with(*what.side, *what.pending);
  }
}

// --- the end

// When no descriptor is attached, nothing is added to what is pending.
void io_driver::end_all_waits() noexcept {
  while (registration* const one = first_attached()) one->of.detach_from(*this);
  for (transfer* next = take_pending(); next;) {
    transfer& what = *std::exchange(next, next->next);
    what.side->fail(*what.pending, ECANCELED);
  }
}

// A descriptor may be closed before the caller gets to it.
registration* io_driver::first_attached() noexcept {
  locked guard(mutex_);
  return attached_.empty() ? nullptr : &attached_.front();
}

}}}  // namespace hocket::detail
