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

int io_driver::attach(registration& attached) noexcept {
  const int error = start_watching(attached.record);
  if (error != 0 && error != EPERM) return error;
  locked guard(mutex_);
  attached_.push_back(attached);
  return error;
}

void io_driver::detach(registration& attached) noexcept {
  stop_watching(attached.record);
  locked guard(mutex_);
  list<registration>::erase(attached);
}

std::size_t io_driver::waiting() const noexcept {
  locked guard(mutex_);
  std::size_t count = 0;
  for (const registration& attached : attached_) count += attached.record.waiting();
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  for (const transfer* operation = pending_.load(std::memory_order_relaxed); operation; operation = operation->next)
    ++count;
  return count;
}

bool io_driver::has_waits() const noexcept {
  if (has_pending()) return true;
  locked guard(mutex_);
  return std::any_of(attached_.begin(), attached_.end(),
                     [](const registration& attached) noexcept { return attached.record.waiting() != 0; });
}

// --- pending transfers

void io_driver::add_pending(waiter& entry) noexcept {
  transfer& operation = transfer_of(entry);
  operation.next = nullptr;
  operation.pending = &entry;
  {
    locked guard(mutex_);
    // ORDER: relaxed, pairs with nothing: guarded by the mutex.
    if (transfer* const first = pending_.load(std::memory_order_relaxed); first) last_pending_->next = &operation;
    // ORDER: relaxed, pairs with nothing: guarded by the mutex; ring() orders it before the owner's next poll().
    else pending_.store(&operation, std::memory_order_relaxed);
    last_pending_ = &operation;
  }
  if (is_guest_ || current_owner() != owner_) ring();
}

void io_driver::serve(direction& side, waiter& entry) noexcept {
  if (waiter* const unfinished = side.serve(entry)) add_pending(*unfinished);
}

[[HOCKET_NOINLINE]] transfer* io_driver::take_all_pending() noexcept {
  locked guard(mutex_);
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  transfer* const first = pending_.load(std::memory_order_relaxed);
  // ORDER: relaxed, pairs with nothing: as above.
  pending_.store(nullptr, std::memory_order_relaxed);
  return first;
}

[[HOCKET_NOINLINE]] void io_driver::serve_all_pending(transfer* pending) noexcept {
  while (pending) {
    transfer& operation = *std::exchange(pending, pending->next);
    serve(*operation.side, *operation.pending);
  }
}

// --- the end

// After the last descriptor is detached, no thread adds a pending transfer.
void io_driver::end_all_waits() noexcept {
  while (registration* const attached = first_attached()) attached->record.detach_from(*this);
  for (transfer* next = take_pending(); next;) {
    transfer& operation = *std::exchange(next, next->next);
    operation.side->fail(*operation.pending, ECANCELED);
  }
}

// Another thread may close the descriptor before the caller uses it.
registration* io_driver::first_attached() noexcept {
  locked guard(mutex_);
  return attached_.empty() ? nullptr : &attached_.front();
}

}}}  // namespace hocket::detail
