// expectation<T>: a reply that was promised an id, and comes from outside with it.
//
//   auto reply = tm.expect<db_reply>({.within = 3s, .group = player});
//   db.send(load{reply.id(), player});         // the id travels with the request
//   auto r = co_await reply;                   // result<db_reply>; a fiber and a thread say await(reply)
//   ...
//   tm.complete(id, std::move(answer));        // the transport's callback, on any thread
//
// Awaiting gives the reply once, as result<T>; T is an object type or void, move-only included. timed_out: its deadline
// came first. operation_canceled: it, its group or the manager was cancelled; or the wait itself was. broken_pipe: it
// was taken before. What else fail() was told. A wait that was cancelled, timed out by a deadline of its own or lost a
// select leaves the reply, which the next wait gives.
//
// A reply belongs to whoever holds the expectation: when that is destroyed, its id is forgotten, and a reply that comes
// then is counted as late and dropped. So is a second one. The expectation may outlive its manager (it has failed
// then), and may move between threads; it is used by one thread at a time, and does not outlive a wait of its own.
#pragma once
#include <hocket/coro/oneshot.hpp>
#include <hocket/manager/detail/manager_core.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class task_manager;

template <class T = void>
class [[nodiscard]] expectation {
  static_assert(!detail::is_result<T>, "expect<result<T>>: say expect<T>; fail(id, error) gives the error");
  using receiver = oneshot_receiver<result<T>>;
  using receiving = decltype(std::declval<receiver&>().receive());

 public:
  using value_type = T;

  expectation() noexcept = default;
  expectation(expectation&&) noexcept = default;
  expectation& operator=(expectation&& other) noexcept {
    expectation old(std::move(other));
    std::swap(core_, old.core_);
    std::swap(id_, old.id_);
    std::swap(reply_, old.reply_);
    return *this;
  }
  ~expectation() {
    if (!core_ || !reply_ || reply_.is_ready()) return;
    if (void* promise = detail::drop_promise(*core_, id_)) static_cast<promised*>(promise)->drop_sender();
  }

  // Whether it was not moved from.
  explicit operator bool() const noexcept { return bool(reply_); }

  // What complete() is to be told; `none` if the manager could not take it (it has failed then, and says why).
  task_id id() const noexcept { return id_; }

  // Whether a wait would not suspend.
  bool is_ready() const noexcept { return reply_.is_ready(); }

  // The wait as an operation, to be timed or selected: result<T>.
  [[nodiscard]] receiving wait(call_site at = this_call_site()) noexcept { return reply_.receive(at); }

  template <class Room>
  class awaiter : public detail::own_awaiter {
   public:
    explicit awaiter(receiving what) noexcept : what_(std::move(what)) {}
    bool await_ready() noexcept { return wait_.await_ready(); }
    bool await_suspend(std::coroutine_handle<> handle) noexcept { return wait_.await_suspend(handle); }
    bool leave_result() noexcept { return wait_.leave_result(); }
    auto await_resume() { return wait_.await_resume(); }

   private:
    receiving what_;
    decltype(std::declval<receiving>().template wait_in<Room>()) wait_{std::move(what_).template wait_in<Room>()};
  };
  awaiter<typename receiving::own_room> operator co_await() { return awaiter<typename receiving::own_room>(wait({})); }
  awaiter<typename receiving::room_in_task> await_in_task() {
    return awaiter<typename receiving::room_in_task>(wait({}));
  }

 private:
  friend class task_manager;
  using promised = detail::oneshot_state<result<T>, strength::shared>;
  static void fail(void* promise, std::error_code why) noexcept {
    static_cast<void>(static_cast<promised*>(promise)->send(failure(why)));
  }
  static constexpr detail::promise_kind kind{&fail};

  expectation(detail::manager_core& core, promised& made) noexcept : core_(core), reply_(made) {}

  static expectation make(detail::manager_core& core, const expect_options& options) {
    auto* promise = new promised;
    expectation reply(core, *promise);
    try {
      reply.id_ = detail::add_promise(core, kind, promise, options);
    } catch (...) {
      promise->drop_sender();
      throw;
    }
    return reply;
  }

  template <class... Value>
  static std::error_code complete(detail::manager_core& core, task_id id, Value&&... value) {
    std::error_code why;
    auto* promise = static_cast<promised*>(detail::take_promise(core, id, kind, why));
    if (!promise) return why;
    try {
      static_cast<void>(promise->send(result<T>(std::forward<Value>(value)...)));
    } catch (...) {
      promise->drop_sender();
      throw;
    }
    return {};
  }

  detail::manager_ptr core_;
  task_id id_ = task_id::none;
  receiver reply_;
};

}}  // namespace hocket
