// The parker: the sleep and wake-up of an executor's thread.
//
// It is an interface for other clocks than the machine's, for threads that sleep in another event loop
// (runtime/loop.hpp), and for the library's own drivers, which wait for I/O meanwhile.
//
// Guarantees. Wakes are not counted: any number of them before a park() makes that park() return at once, and no later
// one. A wake while no thread is parked is kept.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/time_point.hpp>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI {

// The sleep of a loop's or a worker's thread.
class parker {
 public:
  // Sleeps until a wake() or `until`. Called by one thread, always the same. True: a wake() is consumed. False: no
  // wake() was pending, and `until` has passed or the parker returned for a reason of its own (ready I/O).
  // time_point::max() never passes. time_point::min() does not sleep.
  [[nodiscard]] virtual bool park(time_point until) noexcept = 0;

  // Sleeps until a wake() that is known to be on its way, and consumes it. Called by the thread of park().
  virtual void await_wake() noexcept {
    while (!park(time_point::max())) {
    }
  }

  // Ends a park(). Any thread. Writes before wake() are visible after the park() that returns. Once park() may return
  // because of it, the call does not touch the parker, because the parker may be destroyed then.
  virtual void wake() noexcept = 0;

  // Ends sleeps also when `descriptor` is readable: park() returns false, and a host's wait returns. Holds until
  // unwatch(), which must precede the close of the descriptor. One descriptor at a time. Called by the parker's thread
  // while it is awake. The default is an error, not_supported: a loop that sleeps in this parker has no I/O.
  virtual std::error_code watch([[maybe_unused]] int descriptor) noexcept {
    return std::make_error_code(std::errc::not_supported);
  }
  virtual void unwatch([[maybe_unused]] int descriptor) noexcept {}

  // Whether a driver that follows the owner's clock (a network in memory) may replace the parker.
  virtual bool is_replaceable() const noexcept { return false; }

 protected:
  ~parker() = default;
};

// A parker that sleeps on a futex, by the machine's monotonic clock.
class futex_parker final : public parker {
 public:
  futex_parker() noexcept = default;
  futex_parker(const futex_parker&) = delete;
  futex_parker& operator=(const futex_parker&) = delete;

  [[nodiscard]] bool park(time_point until) noexcept override;
  void wake() noexcept override;

 private:
  primitive::atomic<std::uint32_t> woken_{0};
};

}}  // namespace hocket
