#include <hocket/core/detail/current.hpp>
#include <hocket/core/detail/thread_executor.hpp>

namespace hocket::inline HOCKET_ABI::detail {

runnable* thread_executor::take() noexcept {
  for (;;) {
    timers_.fire_due();
    if (runnable* first = inbox_.take()) return first;
    inbox_.sleep(timers_.earliest());
  }
}

void thread_executor::run_until_signal() noexcept {
  context* const outside = this_thread().ctx;
  running_scope running({this}, outside);
  for (bool signalled = false; !signalled;) {
    for (runnable* work = take(); work;) {
      runnable* next = work->next;
      this_thread().ctx = outside;
      if (work->handle) work->handle.resume();
      else signalled = true;
      work = next;
    }
  }
}

}  // namespace hocket::inline HOCKET_ABI::detail
