// What a deadline registers with: the seam between a wait (core) and a timer wheel (time).
#pragma once
#include <hocket/base/atomic.hpp>
#include <hocket/base/clock.hpp>
#include <hocket/base/list.hpp>
#include <source_location>

namespace hocket::inline HOCKET_ABI {

// One registration. `fire` runs on the service's own thread, without its lock, at or after `when`, at most once for an
// attach; before `when` only if another thread has detached it meanwhile (see there). `when` stays as it is while the
// node is attached. `link` belongs to the service.
struct timer_node : list_node {
  void (*fire)(timer_node& self) noexcept = nullptr;
  time_point when{};
  atomic<timer_node*> link{nullptr};
};

class executor;

class timer_service {
 public:
  // Any thread: the time that `when` is compared with.
  virtual time_point now() const noexcept = 0;

  // The thread of the executor whose timers these are. `node` is in no service. A `when` in the past fires at the next
  // turn, never inside attach().
  virtual void attach(timer_node& node) noexcept = 0;

  // Any thread, at most once for an attach: one party takes a registration back. True: the node is out and will not
  // fire. False: it was popped, if only by this call; it fires, is firing or has fired, so its memory is free only when
  // fire() has said so (in a wait: by dropping its hold).
  [[nodiscard]] virtual bool detach(timer_node& node) noexcept = 0;

 protected:
  ~timer_service() = default;
};

namespace detail {
time_point deadline_by_timers(executor& home, duration within, const char* what,
                              const std::source_location& at) noexcept;
}

// `within` from now on the clock of `home`; never, for duration::max(). Fatal if there are no timers, naming `what`.
inline time_point deadline_on(executor& home, duration within, const char* what,
                              const std::source_location& at) noexcept {
  return within == duration::max() ? time_point::max() : detail::deadline_by_timers(home, within, what, at);
}

}  // namespace hocket::inline HOCKET_ABI
