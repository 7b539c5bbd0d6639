// The interface between a wait (core) and the timers of its deadline (a timer wheel in time, thread_timers in core).
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/list.hpp>
#include <cstdint>
#include <source_location>

namespace hocket { inline namespace HOCKET_ABI {

class executor;

namespace detail {

// The cause of a call by the service: the node is due, or another thread has detached the node and its owner returns
// it.
enum class timer_call : std::uint8_t { due, given_back };

struct timer_node;

// The behaviour of a registration; a constant.
// fire(): runs at most once for each attach, without the service's lock. It runs at or after `when`; earlier only if
// another thread has detached the node (see there). It runs on the service's thread, or, if may_leave() returns true,
// on a thread that helps a stuck service. may_leave == null: never elsewhere.
struct timer_kind {
  void (*fire)(timer_node& self, timer_call why) noexcept;
  // Called under the service's lock, while the node is attached. `home` is the service's executor.
  bool (*may_leave)(const timer_node& self, const executor& home) noexcept = nullptr;
  // A hint; may be null. Prefetches the memory that fire() and the woken coroutine touch. Called under the service's
  // lock, while the node is attached and fires soon, if thousands are attached.
  void (*prefetch)(const timer_node& self) noexcept = nullptr;
};

// One registration. `when` does not change while the node is attached. `link` belongs to the service.
struct timer_node : list_node {
  const timer_kind* kind = nullptr;
  time_point when{};

 private:
  // The duration from attach_after() on, not negative then. Negative once it is attached: half an address,
  // complemented.
  std::int64_t term_ = duration::max().count();

 public:
  atomic<timer_node*> link{nullptr};

  // For the service.
  void fire(timer_call why) noexcept { kind->fire(*this, why); }
  void prefetch() const noexcept {
    if (kind->prefetch) kind->prefetch(*this);
  }

  // Called before each attach_after(), and before no other attach: the duration from then on. duration::max(): never.
  void set_after(duration from_then) noexcept { term_ = from_then.count(); }
  bool is_set_after() const noexcept { return term_ != duration::max().count(); }

  // The rest of that duration while the node is attached and has no time yet.
  duration after() const noexcept { return term_ < 0 ? duration::max() : duration(term_); }

  // For the service, in attach_after(): a time in the past counts as now.
  void begin_term() noexcept {
    if (term_ < 0) term_ = 0;
  }
  // Turns the term into a time by the clock.
  void limit(time_point present) noexcept {
    const time_point then = deadline_after(present, duration(term_));
    if (then < when) when = then;
    set_after(duration::max());
  }
  // For a node with a known time: sets the memory that the service is likely to need soon after this node. A hint,
  // because that memory may be freed.
  void expect_next(const void* memory) noexcept {
    term_ = ~static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory) >> 1);
  }
  const void* expected_next() const noexcept {
    return term_ < 0 ? reinterpret_cast<const void*>(static_cast<std::uintptr_t>(~term_) << 1) : nullptr;
  }
};

class timer_service {
 public:
  // Any thread: the clock of `when`.
  virtual time_point now() const noexcept = 0;

  // Called on the thread of the executor with these timers. `node` is in no service. A `when` in the past fires at the
  // next turn, never inside attach().
  virtual void attach(timer_node& node) noexcept = 0;

  // Like attach(), for the earlier of `when` and the duration of set_after() from now on, and writes that time to
  // `when`. A service whose clock advances by itself may read it at the next turn of its owner: then the duration
  // counts from there.
  virtual void attach_after(timer_node& node) noexcept {
    node.limit(now());
    attach(node);
  }

  // Any thread, at most once for each attach, by one party. True: the node is detached and will not fire. False: it was
  // popped, maybe by this call: it fires, is firing or has fired, so its memory is free only after fire() has released
  // it (in a wait: by dropping its hold).
  [[nodiscard]] virtual bool detach(timer_node& node) noexcept = 0;

  // Any thread: whether these timers fire on the calling thread. Then a node that detach() does not detach here was
  // popped before. May return false if that is unknown.
  virtual bool fire_here() const noexcept { return false; }

 protected:
  ~timer_service() = default;
};

// The time on the clock of the current executor's timers; without timers, of the machine.
time_point time_here() noexcept;

time_point deadline_by_timers(executor& home, duration within, const char* subject,
                              const std::source_location& at) noexcept;

// `within` from now, on the clock of `home`; duration::max() is never. Fatal if there are no timers; the message names
// `subject`.
inline time_point deadline_on(executor& home, duration within, const char* subject,
                              const std::source_location& at) noexcept {
  return within == duration::max() ? time_point::max() : deadline_by_timers(home, within, subject, at);
}

}  // namespace detail

}}  // namespace hocket
