// Lets the deadlines of a task manager pass by the time of its executor: one timer there, for the first of them.
//
// The deadlines stand in the wheels of the tables (shard.hpp). The keeper has the time of the first in `first_`, or an
// earlier one; who sets a deadline that comes before it says so by want(). States, under the mutex:
//
//   resting   no timer, and none is wanted          want(): here -> armed, or posted from elsewhere; but not when
//                                                      nothing is live any more
//   posted    to the executor                       -> turning
//   armed     its timer stands in the wheel of `timers_`
//                                                   -> turning, when it fires; rearmed here by an earlier want();
//                                                      recalled by one from elsewhere; resting or recalled by rest()
//   recalled  taken back from another thread: it will fire soon, early -> turning
//   turning   on the executor: what is due passes   -> armed for the next, or resting
//
// In all but `resting` it holds the inside of the manager, and is enrolled at the target below, so neither ends before
// it. It rests as soon as nothing is in the manager: so a loop that has nothing else to do does not wait for it. If
// only daemons are in the manager, it is enrolled among the daemons of the target below, because it must hold no drain
// for them.
//
// A deadline that is set beside that: want() reads `first_`, and does nothing if that is early enough. rest() and the
// end of a turn write `first_` = never, and then look whether anything is live; the setter is counted as live before it
// reads. Both are sequentially consistent, so either the keeper sees the setter, or the setter sees `never` and takes
// the lock. What the setter was counted for may have ended by then: so want() looks again, under the lock, before it
// leaves `resting`. Whoever ends the last one later has the keeper rest.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/thread/seam/stand_in.hpp>
#include <hocket/core/thread/seam/timer.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class spawn_target;

namespace detail {

// The inside of a task manager, as its keeper sees it.
class timed_work {
 public:
  virtual void hold() noexcept = 0;
  virtual void let_go() noexcept = 0;  // may free it
  virtual std::size_t live() const noexcept = 0;
  virtual bool is_empty() const noexcept = 0;
  virtual executor& home() const noexcept = 0;
  virtual spawn_target& on() const noexcept = 0;
  virtual spawn_target* daemons_below() const noexcept = 0;  // null: there was no daemon
  // On the executor: the deadlines that are due pass. Returns when the next one passes, or an earlier time.
  virtual time_point expire() noexcept = 0;

 protected:
  ~timed_work() = default;
};

class keeper final : private timer_node, private stand_in {
 public:
  explicit keeper(timed_work& work) noexcept;

  // Any thread, after a deadline was set. Throws bad_alloc in conforming mode.
  void want(time_point deadline);
  // Any thread, when nothing was live. The inside may be gone afterwards.
  void rest() noexcept;

 private:
  enum class phase : std::uint8_t { resting, posted, armed, recalled, turning };

  void want_locked(time_point deadline);
  void turn() noexcept;
  void arm(time_point deadline) noexcept;
  void come_to_rest() noexcept;
  bool take_alarm_back() noexcept;
  spawn_target* join_daemons() noexcept;
  void set_first(time_point deadline) noexcept;
  time_point first() const noexcept;
  timer_service* timers_here() const noexcept;
  static void on_alarm(timer_node& self, timer_call) noexcept;
  static const timer_kind alarm_kind;
  static std::coroutine_handle<> on_post(stand_in& self) noexcept;

  timed_work& work_;
  thread_mutex mutex_;
  phase phase_ = phase::resting;
  spawn_target* enrolled_ = nullptr;  // where it is enrolled, unless it rests
  timer_service* timers_ = nullptr;   // where it is armed
  runnable post_{};
  atomic<std::int64_t> first_;
};

}  // namespace detail

}}  // namespace hocket
