// The executor of a plain thread: it runs posted work while the thread waits, and sleeps meanwhile.
//
// It consists of an inbox, a futex_parker, a list of timers, and the thread's driver if there is one; each has its own
// essay. The turn of the thread:
// 1. poll the driver, and fire the timers that are due. Both settle waits and post coroutines, here or elsewhere;
// 2. take the posted work; if there is any, run it;
// 3. sleep until the earliest timer at most; continue with 1. The driver and the timers are first, so a busy thread
//    does not starve them.
//
// The driver belongs to the thread: it stays from one wait to the next, and ends with the thread.
//
// The executor may be destroyed as soon as the last runnable has run that can be posted to it (inbox.hpp). By then no
// timer is attached: a timer belongs to a wait, and a wait ends by a post.
#pragma once
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/detail/thread_timers.hpp>
#include <hocket/core/thread/seam/inbox.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class thread_executor final : public executor {
 public:
  thread_executor() noexcept;
  thread_executor(const thread_executor&) = delete;
  thread_executor& operator=(const thread_executor&) = delete;

  // Any thread; lock-free, unless it must wake the owner.
  void post_from_outside(runnable& work) noexcept override { inbox_.post(work); }

  // By the machine's clock.
  timer_service* timers() noexcept override { return &timers_; }

  // The first call creates the driver_slot; null, if there is no memory or the thread ends.
  driver_access drivers() noexcept override;

  // The owning thread: resumes posted coroutines until a runnable without a handle arrives, the signal that the wait of
  // the thread itself is over. The runnables that were taken together with the signal are run, too.
  void run_until_signal() noexcept;

  // The owning thread: blocks until a post. Returns the runnables, first posted first, linked by `next`.
  [[nodiscard]] runnable* take() noexcept;

 private:
  futex_parker parker_;
  inbox inbox_{parker_};
  thread_timers timers_;
  driver_slot* drivers_;  // the thread's; null until it is needed
};

}}}  // namespace hocket::detail
