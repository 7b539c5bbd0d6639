// How the thread of an executor sleeps and is woken: the seam for clocks that are not the machine's and for drivers
// that wait for I/O meanwhile (core/driver.hpp).
//
// Wakes are not counted: any number of them before a park() make that one return at once, and no later one. One that
// comes while nobody is parked is kept.
#pragma once
#include <hocket/base/detail/atomic.hpp>
#include <hocket/base/detail/time_point.hpp>

namespace hocket::inline HOCKET_ABI {

class driver;

// How the thread of a loop or a worker sleeps, and is woken.
class parker {
 public:
  // One thread, always the same. True: a wake() came, and is taken. False: none did; `until` has come, or the parker
  // had a reason of its own to return (I/O that is ready). time_point::max() never comes; time_point::min() does not
  // sleep.
  [[nodiscard]] virtual bool park(time_point until) noexcept = 0;

  // Any thread. What the caller did before is visible after the park() that returns. As soon as park() may return
  // because of it, the call touches the parker no more: it may be destroyed then.
  virtual void wake() noexcept = 0;

  // Itself, if it is a driver: then it is polled, too.
  virtual driver* as_driver() noexcept { return nullptr; }

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

}  // namespace hocket::inline HOCKET_ABI
