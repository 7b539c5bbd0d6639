#include <hocket/core/current.hpp>
#include <hocket/core/thread_executor.hpp>

namespace hocket::inline HOCKET_ABI {
namespace {

runnable* reverse(runnable* last) noexcept {
  runnable* first = nullptr;
  while (last) {
    runnable* next = last->next;
    last->next = first;
    first = last;
    last = next;
  }
  return first;
}

}  // namespace

void thread_executor::post(runnable& work) noexcept {
  // ORDER: relaxed, pairs with nothing: the exchange below verifies it, and the list is not followed here.
  runnable* seen = inbox_.load(std::memory_order_relaxed);
  do {
    work.next = seen == asleep() ? nullptr : seen;
    // ORDER: acq_rel, pairs with the exchange in take(): the runnable and all that led to its wake-up are visible; and
    // with the compare-exchange in take(): the thread's last store to signal_ comes before the one below.
  } while (!inbox_.compare_exchange_weak(seen, &work, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (seen != asleep()) return;
  // ORDER: release, pairs with the load in sleep(): nothing of this call is left but the wake.
  signal_.store(1, std::memory_order_release);
  futex_wake_one(signal_);
}

runnable* thread_executor::take() noexcept {
  for (;;) {
    // ORDER: acquire, pairs with the exchange in post().
    if (runnable* last = inbox_.exchange(nullptr, std::memory_order_acquire)) return reverse(last);
    runnable* empty = nullptr;
    // ORDER: release, pairs with the compare-exchange in post(): signal_ is 0 before the marker is seen; relaxed on
    // failure: what came is taken above.
    if (inbox_.compare_exchange_strong(empty, asleep(), std::memory_order_release, std::memory_order_relaxed)) sleep();
  }
}

void thread_executor::sleep() noexcept {
  // ORDER: acquire, pairs with the store in post(): the poster no longer touches this object.
  while (signal_.load(std::memory_order_acquire) == 0) futex_wait(signal_, 0);
  // ORDER: relaxed, pairs with nothing: the next store to it, in post(), is ordered after this one by the marker.
  signal_.store(0, std::memory_order_relaxed);
}

void thread_executor::run_until_signal() noexcept {
  running_scope running(this, this_thread().ctx);
  for (bool signalled = false; !signalled;) {
    for (runnable* work = take(); work;) {
      runnable* next = work->next;
      if (work->handle) work->handle.resume();
      else signalled = true;
      work = next;
    }
  }
}

}  // namespace hocket::inline HOCKET_ABI
