// expectation<T>: a reply from outside, which arrives under an id.
//
//   auto reply = tm.expect<db_reply>({.within = 3s, .group = player});
//   db.send(load{reply.id(), player});         // the id travels with the request
//   auto r = co_await reply;                   // result<db_reply>; a fiber and a thread say await(reply)
//   ...
//   tm.complete(id, std::move(answer));        // the transport's callback, on any thread
//
// An await gives the reply once, as result<T>. T is an object type or void, move-only included.
//
// Errors. timed_out: the deadline of the reply passed first. operation_canceled: the reply, its group or the manager
// was cancelled; or the wait was. broken_pipe: an earlier wait took the reply. Other errors: the argument of
// fail(), or the reason of a refusal (task_manager.hpp).
//
// Cancellation. If a wait is cancelled, times out by a deadline of its own or loses a select, the reply stays, and the
// next wait gives it.
//
// Lifetime. The expectation owns the reply. If the expectation is destroyed, its id is forgotten, and a later reply
// counts as late and is dropped. The same holds for a second reply. The expectation may outlive its manager; it has
// failed then. It must outlive its waits.
//
// Thread safety. The expectation may move between threads. One thread at a time uses it.
#pragma once
#include <hocket/coro/oneshot.hpp>
#include <hocket/manager/detail/promise.hpp>

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

  // False: moved from.
  explicit operator bool() const noexcept { return bool(reply_); }

  // The id for complete(). `none`: the manager refused the reply, and the wait gives the error.
  task_id id() const noexcept { return id_; }

  // True: a wait does not suspend.
  bool is_ready() const noexcept { return reply_.is_ready(); }

  // Waits for the reply, under a deadline or in a select: result<T>.
  [[nodiscard]] receiving wait(call_site site = this_call_site()) noexcept { return reply_.receive(site); }

  template <class Room>
  class awaiter : public detail::own_awaiter {
   public:
    explicit awaiter(receiving operation) noexcept : operation_(std::move(operation)) {}
    bool await_ready() noexcept { return wait_.await_ready(); }
    bool await_suspend(std::coroutine_handle<> handle) noexcept { return wait_.await_suspend(handle); }
    bool leave_result() noexcept { return wait_.leave_result(); }
    auto await_resume() { return wait_.await_resume(); }

   private:
    receiving operation_;
    decltype(std::declval<receiving>().template wait_in<Room>()) wait_{std::move(operation_).template wait_in<Room>()};
  };
  awaiter<typename receiving::own_room> operator co_await() { return awaiter<typename receiving::own_room>(wait({})); }
  awaiter<typename receiving::room_in_task> await_in_task() {
    return awaiter<typename receiving::room_in_task>(wait({}));
  }

 private:
  friend class task_manager;
  using promised = detail::oneshot_state<result<T>, strength::shared>;
  static void fail(void* promise, std::error_code error) noexcept {
    static_cast<void>(static_cast<promised*>(promise)->send(failure(error)));
  }
  static constexpr detail::promise_kind kind{&fail};

  expectation(detail::manager_core& core, promised& promise) noexcept : core_(core), reply_(promise) {}

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
    std::error_code error;
    auto* promise = static_cast<promised*>(detail::take_promise(core, id, kind, error));
    if (!promise) return error;
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
