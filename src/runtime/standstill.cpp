#include "runtime/standstill.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// --- a worker

void standstill::wait(mark& self) noexcept {
  // ORDER: acquire, pairs with the fetch_add in next_phase().
  const std::uint32_t phase = phase_.load(std::memory_order_acquire);
  if (phase % 2 == 0) return;
  // ORDER: release, pairs with the load in wait_stopped(): the writes of this worker are visible.
  self.store(phase, std::memory_order_release);
  futex_wake_all(self);
  // ORDER: acquire, pairs with the fetch_add in next_phase(): the writes of the requester are visible.
  while (phase_.load(std::memory_order_acquire) == phase) futex_wait(phase_, phase);
}

// --- the requester

std::uint32_t standstill::try_begin() noexcept { return mutex_.try_lock() ? next_phase() : 0; }

std::uint32_t standstill::begin() noexcept {
  mutex_.lock();
  return next_phase();
}

bool standstill::wait_stopped(const mark& worker, std::uint32_t phase, time_point until) noexcept {
  bool in_time = true;
  for (;;) {
    // ORDER: acquire, pairs with the store in wait().
    const std::uint32_t stopped = worker.load(std::memory_order_acquire);
    if (stopped == phase) return true;
    if (!in_time) return false;
    in_time = futex_wait_until(worker, stopped, until);
  }
}

void standstill::end() noexcept {
  next_phase();
  futex_wake_all(phase_);
  mutex_.unlock();
}

std::uint32_t standstill::next_phase() noexcept {
  // ORDER: release, pairs with the loads in wait().
  return phase_.fetch_add(1, std::memory_order_release) + 1;
}

}}}  // namespace hocket::detail
