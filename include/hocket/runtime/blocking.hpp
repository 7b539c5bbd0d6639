// blocking: runs a callable that blocks its thread on a thread of a pool, while the coroutine waits.
//
//   auto text = co_await blocking(read_file, path);                 // in a fiber: await(blocking(read_file, path))
//   if (!text) return text.error();                                 // result<std::string>
//   auto rows = await(within(2s, blocking(query, std::ref(db), statement)));
//   auto key = co_await blocking(crypto, derive_key, password);     // on another blocking_pool
//
// Such callables are file I/O, calls of a library without another interface, and long computations.
//
// Guarantees.
//   - The callable and its arguments are stored by value. Pass std::ref for a reference.
//   - The callable runs once, on a plain thread that runs no coroutines: an await inside it blocks that thread.
//   - An exception of the callable is rethrown by the await.
//   - T may be an object type, a reference or void. If the callable returns result<T>, the await returns that result.
//
// Cancellation.
//   - While the call is queued, a cancellation, a kill or a deadline ends the wait with operation_canceled or
//     timed_out, and the callable never runs. A coroutine that is already cancelled or killed starts no call.
//   - A call that runs cannot be stopped: the coroutine waits for its end and receives its result in any case. So the
//     callable may refer to locals of the coroutine that awaits it. It is fatal if they lie on a copied stack, because
//     that stack must move. To stop a call, pass an atomic flag that the callable reads, or a time-out for the library
//     that it calls.
//
// Limits. A pool starts threads on demand, up to its limit, and ends idle threads after a while. Further calls are
// queued, first in, first out.
//
// Errors. resource_unavailable_try_again if the queue is full, or if the pool has no thread and the system starts none.
//
// Cost. Two thread switches (10 to 50 us, by the system). No allocation beyond the callable's own.
#pragma once
#include <hocket/core/spawn/seam/return_slot.hpp>
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/runtime/blocking_pool.hpp>
#include <hocket/runtime/detail/blocking_job.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

class blocking_operation {
 public:
  using value_type = void;
  blocking_operation(blocking_pool& pool, blocking_job* job) noexcept : pool_(&pool), job_(job) {}
  static constexpr bool try_now() noexcept { return false; }
  void begin(suspension& wait, waiter& entry) noexcept { state_ = pool_->enqueue(wait, entry, *job_); }
  result<void> take() {
    if (job_->refusal) return failure(job_->refusal);
    return {};
  }
  void resumed() noexcept {
    if (state_) blocking_pool::release(std::exchange(state_, nullptr));
  }
  blocking_pool& pool() const noexcept { return *pool_; }

 private:
  blocking_pool* pool_;
  blocking_pool::state* state_ = nullptr;  // set by begin()
  blocking_job* job_;
};

// The result of blocking(). Awaited once.
template <class F, class... Args>
class [[nodiscard]] blocking_call : public awaitable_base<blocking_call<F, Args...>> {
  using returned = typename spawned_call<F, Args...>::returned;
  static_assert(!is_task<returned>, "hocket: a callable that returns a task does not block: await the task itself");

 public:
  using value_type = typename joined<returned>::type;
  static constexpr bool can_be_discarded = true;
  static constexpr bool is_run_by_others = true;  // other threads use its memory, so its stack must not move

  template <class... CallArgs>
  explicit blocking_call(blocking_pool& pool, std::in_place_t, CallArgs&&... args)
      : call_(std::forward<CallArgs>(args)...), operation_(blocking_operation(pool, nullptr)) {}

  blocking_call within(duration timeout) && { return {std::move(call_), std::move(operation_).within(timeout)}; }
  blocking_call until(time_point deadline) && { return {std::move(call_), std::move(operation_).until(deadline)}; }
  void discard() && noexcept { std::move(operation_).discard(); }

  class awaiter : public body_awaiter, private blocking_job {
   public:
    explicit awaiter(blocking_call& call)
        : blocking_job{&awaiter::run_call},
          call_(call.call_),
          operation_(blocking_operation(call.operation_.op().pool(), this), call.operation_.options()),
          wait_(std::move(operation_).operator co_await()) {
      std::move(call.operation_).discard();
    }
    bool await_ready() noexcept { return wait_.await_ready(); }
    bool await_suspend(std::coroutine_handle<> handle) noexcept { return wait_.await_suspend(handle); }
    result<value_type> await_resume() {
      auto status = wait_.await_resume();
      if (!status) return failure(status.error());
      if constexpr (std::is_void_v<returned>) {
        slot_.take();
        return {};
      } else {
        return slot_.take();
      }
    }

   private:
    // Called on a thread of the pool.
    static void run_call(blocking_job& job) noexcept {
      auto& self = static_cast<awaiter&>(job);
      try {
        if constexpr (std::is_void_v<returned>) {
          self.call_();
          self.slot_.set_value();
        } else {
          self.slot_.set_value(self.call_());
        }
      } catch (...) {
        self.slot_.set_exception(std::current_exception());
      }
    }

    spawned_call<F, Args...>& call_;
    return_slot<returned> slot_;
    limited_operation<blocking_operation> operation_;
    wait<blocking_operation, wait_options> wait_;
  };
  awaiter operator co_await() && { return awaiter(*this); }

 private:
  blocking_call(spawned_call<F, Args...>&& call, limited_operation<blocking_operation>&& operation)
      : call_(std::move(call)), operation_(std::move(operation)) {}

  spawned_call<F, Args...> call_;
  limited_operation<blocking_operation> operation_;
};

template <bool IsPossible, class F, class... Args>
auto blocking_if(blocking_pool& pool, F&& f, Args&&... args) {
  if constexpr (IsPossible)
    return blocking_call<std::decay_t<F>, std::decay_t<Args>...>(pool, std::in_place, std::forward<F>(f),
                                                                 std::forward<Args>(args)...);
  else return misused();
}

}  // namespace detail

// Runs f(args...) on the pool of the process.
template <class F, class... Args>
  requires detail::meant_as_call<F, Args...>
auto blocking(F&& f, Args&&... args) {
  return detail::blocking_if<detail::checked_call<F, Args...>::is_possible>(
      blocking_pool::process_pool(), std::forward<F>(f), std::forward<Args>(args)...);
}
// Runs f(args...) on `pool`, which outlives the call.
template <class F, class... Args>
  requires detail::meant_as_call<F, Args...>
auto blocking(blocking_pool& pool, F&& f, Args&&... args) {
  return detail::blocking_if<detail::checked_call<F, Args...>::is_possible>(pool, std::forward<F>(f),
                                                                            std::forward<Args>(args)...);
}

}}  // namespace hocket
