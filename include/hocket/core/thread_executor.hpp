// The executor of a plain thread: it runs what is posted to it while the thread waits, and sleeps on a futex between.
//
// One word says it all: `inbox_` is null (empty, the thread runs), a list of runnables (last in first), or the marker
// `asleep`. A poster pushes by compare-exchange; the one that replaces the marker owes the wake-up.
//
//   thread: take()                                  any poster: post(work)
//   1. exchange inbox_ with null; a list -> run it  1. push work in place of what inbox_ holds (marker counts as null)
//   2. compare-exchange null -> asleep              2. if that was the marker: signal_ = 1, wake
//      (fails: something came, go to 1)
//   3. sleep until signal_ is 1; signal_ = 0; go to 1
//
// No wake-up is lost: the sleep is announced in the word that a poster must change, so a poster either comes before
// step 2, which then fails, or sees the marker. A poster that did not see the marker does not touch the executor after
// its push, and the thread does not leave step 3 before the store to signal_; the wake after it uses the address only.
// So the executor may be destroyed as soon as the last runnable has run. The marker is released and acquired, though it
// carries no data: else the thread's signal_ = 0 of one sleep could overwrite the signal_ = 1 of the next.
#pragma once
#include <hocket/base/atomic.hpp>
#include <hocket/core/executor.hpp>

namespace hocket::inline HOCKET_ABI {

class thread_executor final : public executor {
 public:
  thread_executor() noexcept = default;
  thread_executor(const thread_executor&) = delete;
  thread_executor& operator=(const thread_executor&) = delete;

  // Any thread; lock-free.
  void post(runnable& work) noexcept override;

  // The owning thread: resumes what is posted until a runnable without a handle arrives (the signal that the wait of
  // the thread itself is over). What was taken together with the signal is run, too: nothing is forgotten.
  void run_until_signal() noexcept;

  // The owning thread: blocks until something was posted and returns it, first posted first, linked by `next`.
  runnable* take() noexcept;

 private:
  runnable* asleep() noexcept { return &asleep_; }
  void sleep() noexcept;

  runnable asleep_{};  // only its address is used
  atomic<runnable*> inbox_{nullptr};
  atomic<std::uint32_t> signal_{0};  // 1: the marker was replaced
};

}  // namespace hocket::inline HOCKET_ABI
