// How the thread of an executor sleeps and is woken: the seam for clocks that are not the machine's, for threads that
// sleep in another event loop (runtime/loop.hpp), and for the library's own drivers, which wait for I/O meanwhile.
//
// Wakes are not counted: any number of them before a park() make that one return at once, and no later one. One that
// comes while nobody is parked is kept.
#pragma once
#include <hocket/base/detail/atomic.hpp>
#include <hocket/base/detail/time_point.hpp>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI {

// How the thread of a loop or a worker sleeps, and is woken.
class parker {
 public:
  // One thread, always the same. True: a wake() came, and is taken. False: none did; `until` has come, or the parker
  // had a reason of its own to return (I/O that is ready). time_point::max() never comes; time_point::min() does not
  // sleep.
  [[nodiscard]] virtual bool park(time_point until) noexcept = 0;

  // The same thread: returns when a wake() has come that is known to be on its way, and takes it.
  virtual void await_wake() noexcept {
    while (!park(time_point::max())) {
    }
  }

  // Any thread. What the caller did before is visible after the park() that returns. As soon as park() may return
  // because of it, the call touches the parker no more: it may be destroyed then.
  virtual void wake() noexcept = 0;

  // The thread of the parker, awake: from now on the sleep ends when `descriptor` is readable, too: park() returns
  // false, and a host's wait returns. Until unwatch(), which comes before the descriptor is closed. One at a time. By
  // default an error, not_supported: then a loop that sleeps in this parker has no I/O.
  virtual std::error_code watch([[maybe_unused]] int descriptor) noexcept {
    return std::make_error_code(std::errc::not_supported);
  }
  virtual void unwatch([[maybe_unused]] int descriptor) noexcept {}

  // Whether a driver that follows the clock of the owner may take its place (a network in memory).
  virtual bool is_replaceable() const noexcept { return false; }

 protected:
  ~parker() = default;
};

// Sleeps on a futex, by the machine's monotonic clock.
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
