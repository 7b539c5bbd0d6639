// What a condition and a monitor are made of: a line of those who wait to be notified, and who have a lock (a baton)
// again when they go on, whatever ended their wait.
//
// The life of such a wait:
//   1. begin(): its waiter gets in line, the holder's lock is given up. Both on the side of whoever waits: what it
//      looked at before was under the lock, so nobody who changes that and notifies can come before it is in line.
//   2. Somebody takes it out of the line, under the inner mutex: a notify, or whoever ends the wait (detach()). From
//      then on it is that one's.
//   3. A notify claims the wait (waiter::claim_grant()). If others have ended it meanwhile, the notification goes to
//      the next in line, so none is lost.
//   4. In any case the lock adopts the waiter (baton.hpp): it stands in the lock's line like those who lock, and goes
//      on when it is handed the lock. So a notification moves a coroutine from one line into another and wakes it once;
//      a notify of all is no stampede.
//
// Hazards. *A wait that is ended while a notify has its waiter*: detach() finds it out of the line and leaves it alone;
// the notify loses the claim, and lets the lock adopt it all the same. `listed` says which line it is in, since its
// links may stand in the line of the lock already. *The condition is gone*: a notify of all takes its waiters out in
// one go, chained through their requests, and then touches nothing but those and their locks.
//
// (Wait morphing: Butenhof, Programming with POSIX Threads, 1997; as Linux's FUTEX_CMP_REQUEUE does it.)
#pragma once
#include <hocket/core/op_flag.hpp>
#include <hocket/sync/detail/baton.hpp>

namespace hocket::inline HOCKET_ABI::detail {

// What a waiter in the line of a condition points to.
template <class Strength>
struct relock_request {
  baton<Strength>* lock;
  relock_request* next = nullptr;  // in the chain of those who are notified together
  waiter* entry = nullptr;
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
  void get_in_line(suspension& wait, waiter& entry, request& what) noexcept;

 private:
  static request& request_of(waiter& entry) noexcept { return *static_cast<request*>(entry.resource); }
  static bool notify(request& first) noexcept;
  request* pop() noexcept;
  request* pop_all() noexcept;

  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override { notify_one(); }

  typename Strength::mutex mutex_;
  list<waiter> line_;  // guarded by mutex_
};

extern template class condition_core<strength::shared>;
extern template class condition_core<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI::detail
