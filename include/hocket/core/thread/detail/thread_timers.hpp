// The timers of a plain thread: a sorted list under a mutex.
//
// A plain thread has as many timers as it has waits with a deadline: its own wait, or those of the few coroutines that
// it runs in sync_wait. So attach() is linear in their number, and all other functions take constant time.
//
// The owner attaches and fires. Other threads detach. Due nodes move to a list of their own before the first of them
// fires. So a node that a fire() attaches again waits for the next turn. A node can be detached from either list.
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

  // Owner: the time of the first timer; time_point::max() if there is none.
  time_point earliest() noexcept;

  // Owner: fires the timers that are due at `present`, without the lock. The earliest is first; timers of equal times
  // fire in the order of their attach().
  void fire_due(time_point present) noexcept;

  // Like fire_due(now()). Does not read the clock if there is no timer.
  void fire_due() noexcept;

 private:
  void collect_due(time_point present) noexcept;
  timer_node* pop_due() noexcept;

  bool used_ = false;  // owner only; false if both lists are empty
  thread_mutex mutex_;
  list<timer_node> waiting_;  // by time; guarded by mutex_
  list<timer_node> due_;      // guarded by mutex_
};

}}}  // namespace hocket::detail
