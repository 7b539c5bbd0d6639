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
  duration after = duration::max();  // of attach_after()
  atomic<timer_node*> link{nullptr};

  // Turns `after` into a time by the clock.
  void limit(time_point present) noexcept {
    const time_point then = deadline_after(present, after);
    if (then < when) when = then;
    after = duration::max();
  }
};

class executor;

class timer_service {
 public:
  // Any thread: the time that `when` is compared with.
  virtual time_point now() const noexcept = 0;

  // The thread of the executor whose timers these are. `node` is in no service. A `when` in the past fires at the next
  // turn, never inside attach().
  virtual void attach(timer_node& node) noexcept = 0;

  // The same for the earlier of `when` and `after` from now on, which it writes to `when`. A service whose clock goes
  // on by itself may look at it later, at its owner's next turn: then the time is counted from there.
  virtual void attach_after(timer_node& node) noexcept {
    node.limit(now());
    attach(node);
  }

  // Any thread, at most once for an attach: one party takes a registration back. True: the node is out and will not
  // fire. False: it was popped, if only by this call; it fires, is firing or has fired, so its memory is free only when
  // fire() has said so (in a wait: by dropping its hold).
  [[nodiscard]] virtual bool detach(timer_node& node) noexcept = 0;

  // Any thread: whether it is the one that these timers fire on, so that one which detach() does not take back there
  // was popped before. May say no where it is not known.
  virtual bool fire_here() const noexcept { return false; }

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
