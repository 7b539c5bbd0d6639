// A condition variable for hocket::mutex.
//
//   auto held = co_await m.lock();             // result<mutex::guard>
//   while (queue.empty()) {
//     auto notified = co_await more.wait(*held);  // result<void>; a fiber and a thread say await(more.wait(*held))
//     if (!notified) return notified.error();     // cancelled, or timed out
//   }
//   use(queue.front());                        // the mutex is held
//   ...
//   queue.push(x);                             // under the mutex
//   more.notify_one();                         // with or without it
//
// Guarantees.
//   - wait() unlocks the mutex and starts to wait in one step. It holds the mutex again when it returns, whatever the
//     result (notified, cancelled, timed out), and while a kill unwinds. So the guard is valid all the time.
//   - After the notification, stop or deadline, the waiter queues for the mutex behind earlier lockers. Only the
//     handover of the mutex ends this part.
//   - There is no spurious wake-up: every success consumes a notification of its own.
//   - No notification is lost: if a stop or deadline ends the first wait at the same time, the next waiter is notified.
//   - Waiters are notified first come, first served.
//   - notify_one() and notify_all() neither suspend nor run foreign code.
//
// Test the predicate again after every wait: another coroutine may have held the mutex in between.
//
// Select. A wait may be in a select. The select holds the mutex again before it ends, whatever operation wins. If
// another operation of the select acquires a lock that a holder of the mutex waits for, both can deadlock, because the
// select relocks while it holds that lock. This holds for the mutex itself above all. A second condition in the select
// does not compile.
//
// Lifetime. A condition outlives the waits for it.
//
// Errors. All concurrent waits use the same mutex. These are fatal: a wait with an empty guard and, at check level
// `debug`, a second mutex and destroying a condition that has a waiter.
//
// Thread safety. notify_one() and notify_all() may be called from any thread. unsync::condition goes with
// unsync::mutex.
//
// Complexity. notify_one() takes O(1), notify_all() O(n). Each waiter is woken once.
#pragma once
#include <hocket/primitive.hpp>
#include <hocket/sync/detail/condition_core.hpp>
#include <hocket/sync/mutex.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_condition final : private detail::condition_core<Strength> {
  using base = detail::condition_core<Strength>;
  class waiting;

 public:
  using guard = typename basic_mutex<Strength>::guard;

  basic_condition() noexcept = default;

  using base::notify_all;
  using base::notify_one;

  // Waits for a notification: result<void>. The caller keeps the guard.
  [[nodiscard]] primitive::operation<waiting> wait(guard& lock, call_site site = this_call_site()) noexcept {
    detail::expects(lock.mutex_ != nullptr, "a condition was waited for without its mutex",
                    "lock the mutex, and pass the guard", nullptr, detail::location_of(site));
    return primitive::operation<waiting>(std::in_place, site, *this, *lock.mutex_);
  }

 private:
  const char* what() const noexcept override { return "a condition"; }
};

template <class Strength>
class basic_condition<Strength>::waiting {
 public:
  using value_type = void;
  static constexpr bool relocks = true;
  waiting(basic_condition& source, basic_mutex<Strength>& lock) noexcept : condition_(&source), mutex_(&lock) {}
  static constexpr bool try_now() noexcept { return false; }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    detail::debug_expects(!mutex_->is_free(), "a condition was waited for without its mutex",
                          "the mutex was unlocked between wait() and its await: await it where you ask for it");
    request_.lock = mutex_;
    condition_->enqueue(wait, entry, request_);
    mutex_->unlock();
  }
  result<void> take() noexcept { return {}; }
  void resumed() noexcept { mutex_->record_relock(); }

 private:
  basic_condition* condition_;
  basic_mutex<Strength>* mutex_;
  typename base::request request_{nullptr};
};

using condition = basic_condition<strength::shared>;
namespace unsync {
using condition = basic_condition<strength::unsync>;
}

}}  // namespace hocket
