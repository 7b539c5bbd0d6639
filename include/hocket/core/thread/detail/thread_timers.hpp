// The timers of a plain thread: a sorted list under a mutex.
//
// A thread that waits has as many deadlines as there are waits under way on it: one, or the few coroutines that it runs
// in sync_wait. So attaching is linear in their number, and all else takes constant time.
//
// The owner attaches and fires; others take back. Due nodes are moved to a list of their own before the first of them
// fires, so that one which a fire() attaches anew waits for the next turn; in both lists they can still be taken back.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/thread/seam/timer.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class thread_timers final : public timer_service {
 public:
  thread_timers() noexcept = default;
  thread_timers(const thread_timers&) = delete;
  thread_timers& operator=(const thread_timers&) = delete;

  // By the machine's clock.
  time_point now() const noexcept override;
  void attach(timer_node& node) noexcept override;
  [[nodiscard]] bool detach(timer_node& node) noexcept override;

  // Owner: when the first is due; time_point::max() if there is none.
  time_point earliest() noexcept;

  // Owner: fires, without the lock, what is due at `present`, the earliest first and those of one time in the order of
  // their attaching.
  void fire_due(time_point present) noexcept;

  // The same at now(); does not ask the clock if there is no timer.
  void fire_due() noexcept;

 private:
  void collect_due(time_point present) noexcept;
  timer_node* pop_due() noexcept;

  bool used_ = false;  // the owner's: false if both lists are empty
  thread_mutex mutex_;
  list<timer_node> waiting_;  // by time; guarded by mutex_
  list<timer_node> due_;      // guarded by mutex_
};

}}}  // namespace hocket::detail
