// The core of a condition and a monitor: a queue of waiters for a notification. Each waiter holds its lock (a baton)
// again when its wait returns, whatever ended the wait.
//
// The life of a wait
//   1. begin() links the waiter, and then releases the lock, both on the waiter's thread. The waiter read the guarded
//      data under the lock, so no thread can change the data and notify before the waiter is linked.
//   2. A notify claims and unlinks the waiter, under the inner mutex. A stop or a deadline unlinks it by detach(). A
//      notify skips a waiter whose wait has ended, so no notification is lost.
//   3. In both cases the lock adopts the wait (baton.hpp): the waiter moves to the queue of the lock, and the handover
//      of the lock posts its coroutine. A notified coroutine wakes once, and notify_all() causes no stampede.
//
// Hazards
//   - *detach() is called for a waiter that the lock has adopted*, by a registrar that a notify has overtaken.
//     Prevented by the flag `listed`: the waiter's links may belong to the queue of the lock.
//   - *A coroutine that the condition woke destroys it.* notify_all() unlinks all waiters first, and then touches their
//     grants and locks only.
//
// Source: wait morphing (Butenhof, Programming with POSIX Threads, 1997; also FUTEX_CMP_REQUEUE of Linux).
#pragma once
#include <hocket/sync/detail/baton.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// waiter::resource of a waiter in the queue of a condition.
template <class Strength>
struct relock_request {
  baton<Strength>* lock;
  op_flag listed{};  // in the queue of the condition; guarded by the inner mutex
};

template <class Strength>
class condition_core : public wait_source {
 public:
  condition_core() noexcept = default;
  condition_core(const condition_core&) = delete;
  condition_core& operator=(const condition_core&) = delete;

  // Any thread. Notifies the first waiter. False: there is none.
  bool notify_one() noexcept;
  // Any thread. Notifies all waiters in the queue; returns their number.
  std::size_t notify_all() noexcept;

 protected:
  using request = relock_request<Strength>;

  ~condition_core() {
    Strength::drain(mutex_);
    debug_expects(waiters_.empty(), "a condition was destroyed while it has a waiter", "end its waits first");
  }

  // Links the waiter, before the caller releases the lock.
  void enqueue(suspension& wait, waiter& entry, request& relock) noexcept;

 private:
  static request& request_of(waiter& entry) noexcept { return *static_cast<request*>(entry.resource); }
  static void requeue(grant claimed) noexcept { request_of(claimed.entry()).lock->adopt(std::move(claimed)); }

  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override { notify_one(); }

  typename Strength::mutex mutex_;
  wait_queue waiters_;  // guarded by mutex_
};

extern template class condition_core<strength::shared>;
extern template class condition_core<strength::unsync>;

}}}  // namespace hocket::detail
