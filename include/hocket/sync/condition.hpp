// A condition variable for hocket::mutex: waits until somebody says that what the mutex guards has changed.
//
//   auto held = co_await m.lock();             // result<mutex::guard>
//   while (queue.empty()) {
//     auto told = co_await more.wait(*held);   // result<void>; a fiber and a thread say await(more.wait(*held))
//     if (!told) return told.error();          // cancelled, or timed out
//   }
//   use(queue.front());                        // the mutex is held
//   ...
//   queue.push(x);                             // under the mutex
//   more.notify_one();                         // with or without it
//
// Guarantees. wait() gives up the mutex and waits as one step, and has it again when it returns, whatever the result:
// notified, cancelled, timed out; and while a kill unwinds. So the guard is good all the time. Who is notified or ended
// early stands in line for the mutex like those who lock it; that part ends by being handed the mutex alone. No wait
// ends by itself: every success is a notification that nobody else got. A notification is never lost: if the first in
// line is ended by others at the same time, the next is notified. Neither notify suspends or runs foreign code; each
// may be called from any thread. First come, first served.
//
// Look again after every wait: others may have had the mutex in between.
//
// It may stand in a select, which has the mutex again before it ends, whatever was chosen. So the others are not to be
// locks that whoever has the mutex waits for, this mutex least of all; and a second condition does not compile.
//
// A condition outlives the waits for it. All who wait at a time have the same mutex; that, waiting with an empty guard,
// and destroying a condition for which somebody waits are fatal (the first and the last at check level `debug`).
// notify_one() takes O(1), notify_all() O(n), each wait is woken once. unsync::condition goes with unsync::mutex.
#pragma once
#include <hocket/core/detail/operation.hpp>
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

  // Waits to be notified: result<void>. The guard stays with the caller.
  [[nodiscard]] primitive::operation<waiting> wait(guard& held, call_site at = this_call_site()) noexcept {
    detail::expects(held.mutex_ != nullptr, "a condition was waited for without its mutex",
                    "lock the mutex, and pass the guard", nullptr, detail::location_of(at));
    return primitive::operation<waiting>(std::in_place, at, *this, *held.mutex_);
  }

 private:
  const char* what() const noexcept override { return "a condition"; }
};

template <class Strength>
class basic_condition<Strength>::waiting {
 public:
  using value_type = void;
  static constexpr bool relocks = true;
  waiting(basic_condition& what, basic_mutex<Strength>& held) noexcept : condition_(&what), mutex_(&held) {}
  static constexpr bool try_now() noexcept { return false; }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    detail::debug_expects(!mutex_->is_here(), "a condition was waited for without its mutex",
                          "the mutex was unlocked between wait() and its await: await it where you ask for it");
    request_.lock = mutex_;
    condition_->get_in_line(wait, entry, request_);
    mutex_->unlock();
  }
  result<void> take() noexcept { return {}; }
  void resumed() noexcept { mutex_->locked_again(); }

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
