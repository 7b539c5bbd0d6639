// A coroutine that runs once, with a result for any number of waiters.
//
//   shared_task<config> load(file& source);
//
//   auto ready = load(source);                    // nothing runs yet
//   const config& c = co_await ready;             // the first await starts it; in a fiber and a thread: await(ready)
//   auto r = co_await within(1s, ready.wait());   // result<const config&>: a wait that can be cancelled and timed
//
// T is an object type, a reference or void. Every waiter gets the same const T& (T itself if T is a reference), or the
// same exception object. The result is in the frame, which lives as long as any handle. So only a named handle can be
// awaited, never a temporary one. Parameters live as long as the frame, too: a body must not own a handle of itself.
//
// Thread safety. Handles are copied freely, to any thread. One thread at a time uses a handle. A handle must outlive
// the waits that it began: dropping the last handle during a wait is fatal. Everything that the body did is visible to
// each waiter that got the result.
//
// The body. It is a coroutine of its own, as if spawned, because it may outlive each waiter.
//   - Executor: the first waiter's, or the target of start(). An await starts the body on the loop itself, not in the
//     waiter's scope. The body is posted there, and never runs inside the await.
//   - Context: the loop's, or the target's in start(). Stops and deadlines of waiters do not apply to the body.
//   - End: the body returns, or the drop of the last handle cancels it, because no handle is left to ask for the
//     result. The loop counts the body: run() runs it to its end.
//   - A plain thread that is the first waiter has no executor for the others. So it runs the body itself, in wait() or
//     co_await, to its end, regardless of the options of its wait. Use start() to run the body elsewhere.
//   - An executor that is neither a loop nor a runtime does not count the body: the executor must outlive the body.
//   - If no wait ever begins and start() is not called, then the body never runs: the last handle destroys the frame.
//
// Cancellation. A wait that is cancelled or timed out leaves the body running, for other and later waits.
//
// Errors. A destroyed loop kills the body. Then, and if the loop refuses the body, awaiting fails with
// operation_canceled. If no waiter has received an exception when the last handle is dropped, the exception goes to
// on_unhandled, as with join_handle.
//
// Do not. If a body awaits itself, it would wait for ever. That is fatal. A cycle of several shared tasks is not
// found: it waits until a deadline ends one of the waits.
//
// Implementation. One word, changed under the mutex that guards the wait queue, too:
//
//   idle      not started                  -> started  begin(), start()  the caller launches the body, off the mutex
//   started   the body runs, or soon will  -> finished   wake_all()
//   finished  ending() and the result are final, and are read without the mutex
//
//   wait    1. reads the word; if `finished`, takes the result; 2. reads it again under the mutex; if it is not
//           `finished`, enters the wait queue; 3. if the word was `idle`, launches the body.
//   body    1. writes the result; 2. ends its run (core/spawn/seam/scheduled.hpp), which records whether there was an
//           exception; 3. under the mutex: sets `finished` and claims all waiters; 4. posts each granted waiter.
// Lost wake-up: a waiter enters the queue under the same mutex under which the word becomes `finished`.
// Lifetime: the frame contains the run, which is counted like any scheduled coroutine: one reference for the body
// until step 4, one for all handles together, one for each context below the run. The last reference destroys the
// frame. If the body never began, the last handle does. So a granted waiter may drop the last handle before all other
// waiters are posted.
#pragma once
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/coro/detail/shared_promise.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class T = void>
class [[nodiscard]] shared_task {
  static_assert(std::is_void_v<T> || std::is_lvalue_reference_v<T> || (std::is_object_v<T> && !std::is_array_v<T>),
                "shared_task<T>: T is an object type, an lvalue reference or void");

 public:
  using value_type = T;
  struct promise_type : detail::shared_promise<T> {
    shared_task get_return_object() noexcept {
      detail::shared_promise<T>& promise = *this;
      return shared_task(promise);
    }
  };

  // An empty handle: it can only be assigned to.
  shared_task() noexcept = default;
  shared_task(const shared_task& other) noexcept : promise_(other.promise_) {
    if (promise_) promise_->state.retain();
  }
  shared_task(shared_task&& other) noexcept : promise_(std::exchange(other.promise_, nullptr)) {}
  shared_task& operator=(shared_task other) noexcept {
    std::swap(promise_, other.promise_);
    return *this;
  }
  ~shared_task() {
    if (promise_) promise_->state.drop();
  }

  explicit operator bool() const noexcept { return promise_ != nullptr; }

  // Whether the body has ended, so that awaiting does not wait. False may be outdated at once. Any thread.
  bool is_ready() const noexcept { return checked().state.ended(); }

  // Starts the body on a target (a loop, a scope) or an executor, unless it was started before. Any thread.
  template <detail::spawnable_on Where>
  void start(Where& target) const noexcept {
    checked().state.start(detail::target_of(target));
  }
  void start(executor& home) const noexcept { checked().state.start(home); }

 private:
  class waiting {
   public:
    using value_type = typename detail::shared_promise<T>::await_result;
    static constexpr bool keeps_result = true;
    explicit waiting(detail::shared_promise<T>& promise) noexcept : promise_(&promise) {}
    bool try_now() noexcept { return promise_->state.try_now(); }
    void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { promise_->state.begin(wait, entry); }
    result<value_type> take() {
      if (std::error_code error = promise_->state.check()) return failure(error);
      if constexpr (std::is_void_v<T>) return {};
      else return promise_->value();
    }

   private:
    detail::shared_promise<T>* promise_;
  };

 public:
  // Waits for the end of the body: result<const T&>, or result<T> for a reference or void. Throws the body's exception.
  [[nodiscard]] primitive::operation<waiting> wait(call_site site = this_call_site()) const& {
    return primitive::operation<waiting>(std::in_place, site, checked());
  }
  void wait(call_site site = this_call_site()) && = delete;  // the result is in the frame

  template <class Room>
  class awaiter : public detail::own_awaiter {
   public:
    explicit awaiter(const shared_task& task) : operation_(task.wait({})) {}
    bool await_ready() noexcept { return wait_.await_ready(); }
    bool await_suspend(std::coroutine_handle<> handle) noexcept { return wait_.await_suspend(handle); }
    bool leave_result() noexcept { return wait_.leave_result(); }
    typename waiting::value_type await_resume() {
      auto result = wait_.await_resume();
      if (!result) detail::throw_error(result.error());
      if constexpr (!std::is_void_v<T>) return *result;
    }

   private:
    primitive::operation<waiting> operation_;
    hocket::detail::wait<waiting, detail::no_options, Room> wait_{std::move(operation_).template wait_in<Room>()};
  };
  awaiter<detail::own_room<1>> operator co_await() const& { return awaiter<detail::own_room<1>>(*this); }
  awaiter<detail::shared_room> await_in_task() const& { return awaiter<detail::shared_room>(*this); }
  void await_in_task() && = delete;
  void operator co_await() && = delete;  // name the handle: the result is in the frame

 private:
  explicit shared_task(detail::shared_promise<T>& promise) noexcept : promise_(&promise) {}

  detail::shared_promise<T>& checked() const noexcept {
    detail::expects(promise_ != nullptr, "an empty shared_task was used",
                    "it was moved from, or never came from a coroutine");
    return *promise_;
  }
  detail::shared_promise<T>* promise_ = nullptr;
};

}}  // namespace hocket
