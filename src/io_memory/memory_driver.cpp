#include "io_memory/memory_driver.hpp"

#include <hocket/io/seam/descriptor_table.hpp>

#include "io_memory/memory_object.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

direction& side_of(open_descriptor& one, memory_side side) noexcept {
  return side == memory_side::in ? one.in : side == memory_side::out ? one.out : one.peer;
}

}  // namespace

memory_driver::memory_driver(std::shared_ptr<memory_medium> of, const driver_owner& owner)
    : io_driver(1, owner), of_(std::move(of)) {
  of_->add(*this);
}

memory_driver::~memory_driver() {
  end_all_waits();
  of_->remove(*this);
}

void memory_driver::note(std::uint32_t what) noexcept {
  auto& word = noted_;  // after the fetch_or the driver may be gone
  // ORDER: release, pairs with the fetch_and in take(): what the caller did is visible to the owner.
  word.fetch_or(what, std::memory_order_release);
  futex_wake_one(word);
}

bool memory_driver::take(std::uint32_t what) noexcept {
  // ORDER: acquire, pairs with the fetch_or in note().
  return (noted_.fetch_and(~what, std::memory_order_acquire) & what) != 0;
}

bool memory_driver::park(time_point until) noexcept {
  for (;;) {
    if (take(woken)) return true;
    const bool told = take(rung) || has_pending();
    const time_point present = of_->now(), next = std::min(until, of_->next_arrival());
    if (told || next <= present) return false;
    if (manual_clock* const time = of_->moved_clock()) {
      if (next != time_point::max()) time->set(next);
      return false;
    }
    static_cast<void>(futex_wait_until(noted_, 0, next));
  }
}

// If it moves the clock, it does so for timers, too. Where neither arrival nor timer is left, nothing will happen.
bool memory_driver::ends_sleep(time_point until) const noexcept {
  if (!of_->moved_clock()) return has_waits();
  return has_pending() || std::min(until, of_->next_arrival()) != time_point::max();
}

void memory_driver::await_wake() noexcept {
  while (!take(woken)) {
    // ORDER: relaxed, pairs with nothing: take() follows.
    const std::uint32_t seen = noted_.load(std::memory_order_relaxed);
    if ((seen & woken) == 0) futex_wait(noted_, seen);
  }
}

void memory_driver::poll() noexcept {
  transfer* const pending = take_pending();
  std::uint64_t tag = 0;
  memory_side side{};
  while (of_->take_arrival(tag, side)) {
    if (open_descriptor* const one = descriptor_table::find(tag)) tell(side_of(*one, side));
  }
  go_on_with(pending);
}

// Edges of all that is there, for a wait that begins.
int memory_driver::start_watching(open_descriptor& one) noexcept {
  const primitive::locked guard = of_->lock();
  object_of(one).tell_all();
  return 0;
}

void memory_driver::stop_watching(open_descriptor&) noexcept {}

}}}  // namespace hocket::detail
