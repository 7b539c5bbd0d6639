// A monitor: a reentrant lock with a condition.
//
//   monitor m;
//   auto lock = co_await m.enter();            // result<monitor::guard>; a fiber and a thread say await(m.enter())
//   while (!ready) {
//     auto notified = co_await m.wait(*lock);  // result<void>
//     if (!notified) return notified.error();  // cancelled, or timed out
//   }
//   ...
//   m.notify_one();                            // inside or outside of the monitor
//
// Guarantees.
//   - The owner is the coroutine (outside of coroutines the thread), not the thread that runs it. So a monitor may be
//     held over waits, and by a coroutine that moves between workers.
//   - The owner enters again without waiting, in any function that it calls. It has left when as many guards have
//     ended.
//   - First come, first served, as with a mutex.
//
// Limits. The children of a when_all and forked code (fork_join, parallel_for) run as parts of one coroutine. They
// exclude each other and the coroutine around them, but have one identity. So no part may enter again: it would wait
// for itself. An eager_task is a part of its caller: while one of the two is inside, so is the other.
//
// wait() leaves the monitor completely, at any depth, and waits for a notification. When it returns, whatever the
// result, it has entered again to the same depth. Otherwise waits and notifications work as in sync/condition.hpp.
//
// Errors. If a coroutine leaves or waits and is not the owner, the error is fatal. A guard stays with the coroutine
// that made it.
//
// Lifetime. The monitor outlives its guards and waits.
//
// Cost. An uncontended enter and leave are one atomic read-modify-write each, a nested one none. unsync::monitor is for
// the coroutines of one thread.
//
// Sources. C. A. R. Hoare, Monitors, 1974. Waits have Mesa's semantics: test the predicate again after every wait.
#pragma once
#include <hocket/primitive.hpp>
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

  basic_monitor() noexcept : base(base::free) {}
  ~basic_monitor() {
    detail::debug_expects(this->was_free(), "a monitor was destroyed while a coroutine is in it",
                          "let its guards end first");
  }

  // Waits for the monitor, unless the caller is its owner: result<guard>.
  [[nodiscard]] primitive::operation<entering> enter(call_site site = this_call_site()) noexcept {
    return primitive::operation<entering>(std::in_place, site, *this);
  }

  // Never suspends. The guard is empty (false) if the monitor has another owner.
  [[nodiscard]] guard try_enter() noexcept { return enter_now() ? guard(*this) : guard(); }

  // Waits for a notification: result<void>. The owner alone may call it; `lock` is one of its guards.
  [[nodiscard]] primitive::operation<waiting> wait(const guard& lock, call_site site = this_call_site()) noexcept {
    detail::expects(lock.monitor_ == this && is_mine(), "a coroutine waits for a monitor that it is not in",
                    "enter it, and pass the guard that this gave", nullptr, detail::location_of(site));
    return primitive::operation<waiting>(std::in_place, site, *this);
  }

  // Any thread. See condition.
  bool notify_one() noexcept { return changed_.notify_one(); }
  std::size_t notify_all() noexcept { return changed_.notify_all(); }

 private:
  struct condition final : detail::condition_core<Strength> {
    using detail::condition_core<Strength>::enqueue;
    const char* what() const noexcept override { return "a monitor's notification"; }
  };

  // Only the owner writes its own name. So a coroutine that reads its own name is the owner.
  bool is_mine() const noexcept {
    // ORDER: relaxed, pairs with nothing: see above.
    return owner_.load(std::memory_order_relaxed) == detail::current_owner();
  }
  void set_owner(const void* owner) noexcept {
    // ORDER: relaxed, pairs with nothing: the word of the baton orders one owner after the other.
    owner_.store(owner, std::memory_order_relaxed);
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
    detail::expects(is_mine(), "a monitor was left by a coroutine that is not in it",
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
  std::size_t depth_ = 0;  // owner only
  condition changed_;
};

// Ownership of a monitor. Move-only; leaves when it is destroyed.
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

  // Leaves the monitor before the guard ends. The guard is then empty.
  void leave() noexcept {
    detail::expects(monitor_ != nullptr, "an empty guard of a monitor was left", "it was moved from, or left before");
    std::exchange(monitor_, nullptr)->leave();
  }

 private:
  friend class basic_monitor;
  explicit guard(basic_monitor& monitor) noexcept : monitor_(&monitor) {}
  basic_monitor* monitor_ = nullptr;
};

template <class Strength>
class basic_monitor<Strength>::entering {
 public:
  using value_type = guard;
  explicit entering(basic_monitor& source) noexcept : monitor_(&source) {}
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
  explicit waiting(basic_monitor& source) noexcept : monitor_(&source) {}
  static constexpr bool try_now() noexcept { return false; }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    detail::debug_expects(
        monitor_->is_mine(), "a coroutine waits for a monitor that it is not in",
        "it was left between wait() and its await, or that is in another coroutine: await it where you ask");
    owner_ = detail::current_owner();
    depth_ = monitor_->depth_;
    request_.lock = monitor_;
    monitor_->changed_.enqueue(wait, entry, request_);
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
  const void* owner_ = nullptr;  // null unless the wait is in progress
  std::size_t depth_ = 0;
  detail::relock_request<Strength> request_{nullptr};
};

using monitor = basic_monitor<strength::shared>;
namespace unsync {
using monitor = basic_monitor<strength::unsync>;
}

}}  // namespace hocket
