#include "io_memory/memory_driver.hpp"

#include <hocket/io/seam/descriptor_table.hpp>

#include "io_memory/memory_object.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

direction& direction_of(open_descriptor& record, memory_side side) noexcept {
  return side == memory_side::in ? record.in : side == memory_side::out ? record.out : record.peer;
}

}  // namespace

memory_driver::memory_driver(std::shared_ptr<memory_medium> network, const driver_owner& owner)
    : io_driver(1, owner), medium_(std::move(network)) {
  medium_->add(*this);
}

memory_driver::~memory_driver() {
  end_all_waits();
  medium_->remove(*this);
}

// Hazard. If the owner sees the flag, it may destroy the driver before the wake. Prevented by `word`: the wake uses the
// address alone and does not read the memory, and an extra wake is harmless.
void memory_driver::set_flag(std::uint32_t flag) noexcept {
  auto& word = flags_;
  // ORDER: release, pairs with the fetch_and in clear_flag(): the caller's writes are visible to the owner.
  word.fetch_or(flag, std::memory_order_release);
  futex_wake_one(word);
}

bool memory_driver::clear_flag(std::uint32_t flag) noexcept {
  // ORDER: acquire, pairs with the fetch_or in set_flag().
  return (flags_.fetch_and(~flag, std::memory_order_acquire) & flag) != 0;
}

bool memory_driver::park(time_point until) noexcept {
  for (;;) {
    if (clear_flag(wake_flag)) return true;
    const bool must_poll = clear_flag(poll_flag) || has_pending();
    const time_point present = medium_->now(), next = std::min(until, medium_->next_arrival());
    if (must_poll || next <= present) return false;
    if (manual_clock* const clock = medium_->moved_clock()) {
      if (next != time_point::max()) clock->set(next);
      return false;
    }
    static_cast<void>(futex_wait_until(flags_, 0, next));
  }
}

// A driver that moves the clock moves it to timers, too. Without an arrival and without a timer nothing wakes it.
bool memory_driver::ends_sleep(time_point until) const noexcept {
  if (!medium_->moved_clock()) return has_waits();
  return has_pending() || std::min(until, medium_->next_arrival()) != time_point::max();
}

void memory_driver::await_wake() noexcept {
  while (!clear_flag(wake_flag)) {
    // ORDER: relaxed, pairs with nothing: clear_flag() follows.
    const std::uint32_t flags = flags_.load(std::memory_order_relaxed);
    if ((flags & wake_flag) == 0) futex_wait(flags_, flags);
  }
}

void memory_driver::poll() noexcept {
  transfer* const pending = take_pending();
  std::uint64_t tag = 0;
  memory_side side{};
  while (medium_->take_arrival(tag, side)) {
    if (open_descriptor* const record = descriptor_table::find(tag)) handle_edge(direction_of(*record, side));
  }
  serve_pending(pending);
}

// Edges of all directions, because the object may be ready already.
int memory_driver::start_watching(open_descriptor& record) noexcept {
  const primitive::locked guard = medium_->lock();
  object_of(record).schedule_all_edges();
  return 0;
}

void memory_driver::stop_watching(open_descriptor&) noexcept {}

}}}  // namespace hocket::detail
