// The timer of a task manager: fires its deadlines by the time of its executor, with one timer there, for the first.
//
// The deadlines are in the wheels of the tables (shard.hpp). `first_deadline_` has the first of them, or an earlier
// time. A thread that sets an earlier deadline calls arm_by(). Phases, under the mutex:
//
//   phase       meaning                              next phases
//   idle        not armed                            armed by arm_by() on the home thread, posted by arm_by()
//   elsewhere;
//                                                    none if nothing is live any more
//   posted      posted to the executor               firing
//   armed       in the timers `timers_`              firing, when the timer fires; armed anew by an earlier arm_by() on
//                                                    the home thread, cancelling by one elsewhere; idle or cancelling
//                                                    by disarm_if_idle()
//   cancelling  detached from another thread; it     firing
//               fires soon, before its time
//   firing      on the executor: due deadlines pass  armed for the next deadline, or idle
//
// In every phase but `idle` the timer holds manager_core, and is enrolled at the target below, so both outlive it. It
// is disarmed as soon as the manager is empty, so a loop without other work does not wait for it. If only daemons are
// in the manager, it is enrolled among the daemons of the target below, because it must not hold a drain for them.
//
// Hazard: a deadline is set while the timer is disarmed, and never fires. arm_by() reads `first_deadline_`, and returns
// if that is early enough. disarm_if_idle() and the end of process_due() write `first_deadline_` = never, and then read
// the live count. The setter is counted as live before it reads. Both are sequentially consistent, so the timer sees
// the setter, or the setter reads `never` and locks the mutex. The counted coroutine may have ended by then, so
// arm_by() reads the count again under the lock before it leaves `idle`. The thread that ends the last coroutine later
// disarms the timer.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/thread/seam/stand_in.hpp>
#include <hocket/core/thread/seam/timer.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class spawn_target;

namespace detail {

// The interface of manager_core for its deadline timer.
class timed_work {
 public:
  virtual void retain() noexcept = 0;
  virtual void release() noexcept = 0;  // may free it
  virtual std::size_t live() const noexcept = 0;
  virtual bool is_empty() const noexcept = 0;
  virtual executor& home() const noexcept = 0;
  virtual spawn_target& target() const noexcept = 0;
  virtual spawn_target* daemons_below() const noexcept = 0;  // null: there was no daemon
  // On the executor: expires the due deadlines. Returns the time of the next deadline, or an earlier time.
  virtual time_point expire() noexcept = 0;

 protected:
  ~timed_work() = default;
};

class deadline_timer final : private timer_node, private stand_in {
 public:
  explicit deadline_timer(timed_work& work) noexcept;

  // Any thread, after a deadline was set. Throws bad_alloc in conforming mode.
  void arm_by(time_point deadline);
  // Any thread, after the live count was 0. It may free manager_core.
  void disarm_if_idle() noexcept;

 private:
  enum class phase : std::uint8_t { idle, posted, armed, cancelling, firing };

  void arm_by_locked(time_point deadline);
  void process_due() noexcept;
  void arm(time_point deadline) noexcept;
  void release_work() noexcept;
  bool cancel_timer() noexcept;
  spawn_target* join_daemons() noexcept;
  void set_first_deadline(time_point deadline) noexcept;
  time_point first_deadline() const noexcept;
  timer_service* timers_here() const noexcept;
  static void on_timer(timer_node& self, timer_call) noexcept;
  static const timer_kind node_kind;
  static std::coroutine_handle<> on_post(stand_in& self) noexcept;

  timed_work& work_;
  thread_mutex mutex_;
  phase phase_ = phase::idle;
  spawn_target* enrolled_ = nullptr;  // the target where it is enrolled; null while idle
  timer_service* timers_ = nullptr;   // the timers where it is armed
  runnable post_{};
  atomic<std::int64_t> first_deadline_;
};

}  // namespace detail

}}  // namespace hocket
