// The executor of a plain thread: it runs what is posted to it while the thread waits, and sleeps between.
//
// It is an inbox, a futex to sleep on, a list of timers, and the thread's driver if one was made; each has its own
// essay. The turn of the thread:
//   1. poll the driver, fire the timers that are due: both settle waits and post coroutines, here or elsewhere;
//   2. take what was posted; something -> run it;
//   3. sleep until the earliest timer at most; go to 1.
// Driver and timers go first, so that a thread which is kept busy does not starve them.
//
// The driver belongs to the thread: it stays from one wait to the next, and ends with the thread.
//
// It may be destroyed as soon as the last runnable has run that can be posted to it (inbox.hpp). By then no timer is
// attached: a timer belongs to a wait, and that ends by a post.
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

  // A place is made at the first call; none, if there is no memory or the thread ends.
  driver_access drivers() noexcept override;

  // The owning thread: resumes what is posted until a runnable without a handle arrives (the signal that the wait of
  // the thread itself is over). What was taken together with the signal is run, too: nothing is forgotten.
  void run_until_signal() noexcept;

  // The owning thread: blocks until something was posted and returns it, first posted first, linked by `next`.
  [[nodiscard]] runnable* take() noexcept;

 private:
  futex_parker parker_;
  inbox inbox_{parker_};
  thread_timers timers_;
  driver_slot* drivers_;  // the thread's; null if none was asked for
};

}}}  // namespace hocket::detail
