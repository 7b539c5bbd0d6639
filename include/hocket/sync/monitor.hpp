// A monitor: a lock that whoever has it may take again, with a condition of its own.
//
//   monitor m;
//   auto in = co_await m.enter();              // result<monitor::guard>; a fiber and a thread say await(m.enter())
//   while (!ready) {
//     auto told = co_await m.wait(*in);        // result<void>
//     if (!told) return told.error();          // cancelled, or timed out
//   }
//   ...
//   m.notify_one();                            // in it, or from outside
//
// Guarantees. Its owner is the coroutine (or the thread, outside of coroutines) and not the thread that runs it: it may
// be held over waits, and by a coroutine that moves between workers. The owner enters again without waiting, in any
// function that it calls; it has left when as many guards have ended. First come, first served, as with a mutex.
//
// What runs beside others as a part of a coroutine. The children of a when_all, and what was forked (fork_join,
// parallel_for), exclude each other and the coroutine around them, but do not know themselves apart: there nobody
// enters again, and who tries to waits for himself. An eager_task is a part of its caller: while the one is in it, so
// is the other.
//
// wait() leaves the monitor altogether, however often it was entered, waits for a notification, and has entered as
// often again when it returns, whatever the result. For the rest waiting and notifying are as with a condition
// (sync/condition.hpp).
//
// Leaving and waiting by one who is not the owner are fatal. A guard stays with the coroutine that made it. The monitor
// outlives its guards and waits. An uncontended enter and leave are one atomic read-modify-write each, a repeated one
// none. unsync::monitor is for the coroutines of one thread. (C. A. R. Hoare, Monitors, 1974; the waiting is Mesa's:
// look again after every wait.)
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/sync/detail/condition_core.hpp>
#include <hocket/sync/detail/holder.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_monitor final : private detail::baton<Strength> {
  using base = detail::baton<Strength>;
  class entering;
  class waiting;

 public:
  class guard;

  basic_monitor() noexcept : base(base::here) {}
  ~basic_monitor() {
    detail::debug_expects(this->was_here(), "a monitor was destroyed while somebody is in it",
                          "let its guards end first");
  }

  // Waits for the monitor, unless the caller is in it: result<guard>.
  [[nodiscard]] primitive::operation<entering> enter(call_site at = this_call_site()) noexcept {
    return primitive::operation<entering>(std::in_place, at, *this);
  }

  // Never suspends. The guard is empty (false) if somebody else is in it.
  [[nodiscard]] guard try_enter() noexcept { return enter_now() ? guard(*this) : guard(); }

  // Waits to be notified: result<void>. By the owner; `in` is one of its guards.
  [[nodiscard]] primitive::operation<waiting> wait(const guard& in, call_site at = this_call_site()) noexcept {
    detail::expects(in.monitor_ == this && is_mine(), "a coroutine waits for a monitor that it is not in",
                    "enter it, and pass the guard that this gave", nullptr, detail::location_of(at));
    return primitive::operation<waiting>(std::in_place, at, *this);
  }

  // Any thread. See condition.
  bool notify_one() noexcept { return changed_.notify_one(); }
  std::size_t notify_all() noexcept { return changed_.notify_all(); }

 private:
  struct condition final : detail::condition_core<Strength> {
    using detail::condition_core<Strength>::get_in_line;
    const char* what() const noexcept override { return "a monitor's notification"; }
  };

  // Nobody but the owner writes the owner's name: so who reads his own is in it.
  bool is_mine() const noexcept {
    // ORDER: relaxed, pairs with nothing: see above.
    return owner_.load(std::memory_order_relaxed) == detail::current_owner();
  }
  void set_owner(const void* who) noexcept {
    // ORDER: relaxed, pairs with nothing: the word of the baton orders one owner after the other.
    owner_.store(who, std::memory_order_relaxed);
  }
  bool enter_now() noexcept {
    if (is_mine() && detail::current_owner_is_alone()) {
      ++depth_;
      return true;
    }
    if (!this->try_take()) return false;
    begin_ownership();
    return true;
  }
  void begin_ownership() noexcept {
    set_owner(detail::current_owner());
    depth_ = 1;
  }
  void leave() noexcept {
    detail::expects(is_mine(), "a monitor was left by one who is not in it",
                    "a guard ends in the coroutine that entered: do not hand it on");
    if (--depth_ == 0) leave_altogether();
  }
  void leave_altogether() noexcept {
    set_owner(nullptr);
    this->put_back();
  }

  const char* what() const noexcept override { return "a monitor"; }
  const void* holder() const noexcept override { return detail::coroutine_of(Strength::last(owner_)); }

  typename Strength::template word<const void*> owner_{nullptr};
  std::size_t depth_ = 0;  // the owner's
  condition changed_;
};

// Being in a monitor. Move-only; leaves when it is destroyed.
template <class Strength>
class [[nodiscard]] basic_monitor<Strength>::guard {
 public:
  guard() noexcept = default;
  guard(guard&& other) noexcept : monitor_(std::exchange(other.monitor_, nullptr)) {}
  guard& operator=(guard&& other) noexcept {
    guard old(std::move(other));
    std::swap(monitor_, old.monitor_);
    return *this;
  }
  ~guard() {
    if (monitor_) monitor_->leave();
  }

  explicit operator bool() const noexcept { return monitor_ != nullptr; }

  // Earlier than the end of the guard, which is empty then.
  void leave() noexcept {
    detail::expects(monitor_ != nullptr, "an empty guard of a monitor was left", "it was moved from, or left before");
    std::exchange(monitor_, nullptr)->leave();
  }

 private:
  friend class basic_monitor;
  explicit guard(basic_monitor& in) noexcept : monitor_(&in) {}
  basic_monitor* monitor_ = nullptr;
};

template <class Strength>
class basic_monitor<Strength>::entering {
 public:
  using value_type = guard;
  explicit entering(basic_monitor& in) noexcept : monitor_(&in) {}
  bool try_now() noexcept { return (entered_ = monitor_->enter_now()); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { monitor_->base::begin(wait, entry); }
  result<guard> take() noexcept {
    if (!entered_) monitor_->begin_ownership();
    return guard(*monitor_);
  }

 private:
  basic_monitor* monitor_;
  detail::op_flag entered_;
};

template <class Strength>
class basic_monitor<Strength>::waiting {
 public:
  using value_type = void;
  static constexpr bool relocks = true;
  explicit waiting(basic_monitor& in) noexcept : monitor_(&in) {}
  static constexpr bool try_now() noexcept { return false; }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    detail::debug_expects(
        monitor_->is_mine(), "a coroutine waits for a monitor that it is not in",
        "it was left between wait() and its await, or that is in another coroutine: await it where you ask");
    owner_ = detail::current_owner();
    depth_ = monitor_->depth_;
    request_.lock = monitor_;
    monitor_->changed_.get_in_line(wait, entry, request_);
    monitor_->leave_altogether();
  }
  result<void> take() noexcept { return {}; }
  void resumed() noexcept {
    if (!owner_) return;
    monitor_->set_owner(std::exchange(owner_, nullptr));
    monitor_->depth_ = depth_;
  }

 private:
  basic_monitor* monitor_;
  const void* owner_ = nullptr;  // while it waits
  std::size_t depth_ = 0;
  detail::relock_request<Strength> request_{nullptr};
};

using monitor = basic_monitor<strength::shared>;
namespace unsync {
using monitor = basic_monitor<strength::unsync>;
}

}}  // namespace hocket
