// What a condition and a monitor are made of: a line of those who wait to be notified, and who have a lock (a baton)
// again when they go on, whatever ended their wait.
//
// The life of such a wait:
//   1. begin(): its waiter gets in line, the holder's lock is given up. Both on the side of whoever waits: what it
//      looked at before was under the lock, so nobody who changes that and notifies can come before it is in line.
//   2. A notify claims and unlinks the waiter, under the inner mutex. A stop or a deadline unlinks it by detach().
//      A notify skips a waiter if its wait has ended, so no notification is lost.
//   3. In both cases the lock adopts the wait (baton.hpp): the waiter is linked in the line of the lock, and its
//      coroutine is posted when the lock is handed over. So a notification moves a coroutine from one line to another
//      and wakes it once. A notify of all causes no stampede.
//
// Hazards. *detach() is called for a waiter that the lock has adopted* (by a registrar that a notify has overtaken):
// the flag `listed` tells, because the waiter's links may be in the line of the lock. *The condition is destroyed by a
// coroutine that it woke*: notify_all() unlinks all waiters first, and then touches only their grants and their locks.
//
// (Wait morphing: Butenhof, Programming with POSIX Threads, 1997; as Linux's FUTEX_CMP_REQUEUE does it.)
#pragma once
#include <hocket/sync/detail/baton.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// What a waiter in the line of a condition points to.
template <class Strength>
struct relock_request {
  baton<Strength>* lock;
  op_flag listed{};  // in the line; guarded by the inner mutex
};

template <class Strength>
class condition_core : public wait_source {
 public:
  condition_core() noexcept = default;
  condition_core(const condition_core&) = delete;
  condition_core& operator=(const condition_core&) = delete;

  // Any thread. Lets the first in line go on; returns whether there was one.
  bool notify_one() noexcept;
  // Any thread. Lets all go on who are in line now; returns how many.
  std::size_t notify_all() noexcept;

 protected:
  using request = relock_request<Strength>;

  ~condition_core() {
    Strength::drain(mutex_);
    debug_expects(line_.empty(), "a condition was destroyed while somebody waits for it", "end its waits first");
  }

  // Before the lock is given up.
  void enqueue(suspension& wait, waiter& entry, request& relock) noexcept;

 private:
  static request& request_of(waiter& entry) noexcept { return *static_cast<request*>(entry.resource); }
  static void requeue(grant won) noexcept { request_of(won.entry()).lock->adopt(std::move(won)); }

  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override { notify_one(); }

  typename Strength::mutex mutex_;
  wait_queue line_;  // guarded by mutex_
};

extern template class condition_core<strength::shared>;
extern template class condition_core<strength::unsync>;

}}}  // namespace hocket::detail
