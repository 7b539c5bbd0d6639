// blocking: runs a callable that blocks its thread (a file, a library without another interface, a long computation) on
// a thread that is there for that, while the coroutine waits.
//
//   auto text = co_await blocking(read_file, path);                 // in a fiber: await(blocking(read_file, path))
//   if (!text) return text.error();                                 // result<std::string>
//   auto rows = await(within(2s, blocking(query, std::ref(db), statement)));
//   auto key = co_await blocking(crypto, derive_key, password);     // on a blocking_pool of one's own
//
// The callable and its arguments are stored by value: std::ref shows what is not. They run once, on a plain thread that
// runs no coroutines: what they await there blocks that thread. What they throw is rethrown by the await. T may be an
// object type, a reference or void; of a callable that returns result<T> the await gives that.
//
// Ending the wait early. As long as the call stands in line, a cancellation, a kill or a deadline ends it like any
// other wait: operation_canceled or timed_out, and the callable never runs; a coroutine that was cancelled or killed
// before begins none. A call that has begun cannot be stopped: the coroutine waits for its end, and gets its result,
// whatever else happens meanwhile. So a callable may refer to locals of the coroutine that awaits it (but not to those
// on a copied stack, which must move: that is fatal). To stop it give it something that it looks at: an atomic flag, a
// time-out of the library that it calls.
//
// Limits. A pool starts threads as they are needed, up to its limit, and ends those that have had nothing to do for a
// while; calls beyond that stand in line, first come, first served. When the line is full, a call is refused:
// resource_unavailable_try_again. So it is when the system starts no thread and the pool has none.
//
// Cost: two changes of threads (some 10 to 50 us, by the system), no allocation beyond what the callable needs.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/detail/return_slot.hpp>
#include <hocket/core/detail/spawn.hpp>
#include <hocket/runtime/blocking_pool.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// A call as the pool sees it.
struct blocking_job {
  void (*run)(blocking_job& self) noexcept;
  std::error_code refusal{};
  const executor* caller = nullptr;  // of the coroutine that waits
};

class blocking_operation {
 public:
  using value_type = void;
  blocking_operation(blocking_pool& pool, blocking_job* job) noexcept : pool_(&pool), job_(job) {}
  static constexpr bool try_now() noexcept { return false; }
  void begin(suspension& wait, waiter& entry) noexcept { line_ = pool_->enqueue(wait, entry, *job_); }
  result<void> take() {
    if (job_->refusal) return failure(job_->refusal);
    return {};
  }
  void resumed() noexcept {
    if (line_) blocking_pool::let_go(std::exchange(line_, nullptr));
  }
  blocking_pool& pool() const noexcept { return *pool_; }

 private:
  blocking_pool* pool_;
  blocking_pool::state* line_ = nullptr;  // once begun
  blocking_job* job_;
};

// Awaited once, where it was made or moved to.
template <class F, class... Args>
class [[nodiscard]] blocking_call : public awaitable_base<blocking_call<F, Args...>> {
  using returned = typename spawned_call<F, Args...>::returned;
  static_assert(!is_task<returned>, "hocket: a callable that returns a task does not block: await the task itself");

 public:
  using value_type = typename joined<returned>::type;
  static constexpr bool can_be_discarded = true;
  static constexpr bool is_run_by_others = true;  // for stacks that move: what it refers to must stay

  template <class... Given>
  explicit blocking_call(blocking_pool& pool, std::in_place_t, Given&&... given)
      : call_(std::forward<Given>(given)...), what_(blocking_operation(pool, nullptr)) {}

  blocking_call within(duration time) && { return {std::move(call_), std::move(what_).within(time)}; }
  blocking_call until(time_point deadline) && { return {std::move(call_), std::move(what_).until(deadline)}; }
  void discard() && noexcept { std::move(what_).discard(); }

  class awaiter : public body_awaiter, private blocking_job {
   public:
    explicit awaiter(blocking_call& of)
        : blocking_job{&awaiter::run_call},
          call_(of.call_),
          what_(blocking_operation(of.what_.op().pool(), this), of.what_.options()),
          wait_(std::move(what_).operator co_await()) {
      std::move(of.what_).discard();
    }
    bool await_ready() noexcept { return wait_.await_ready(); }
    bool await_suspend(std::coroutine_handle<> handle) noexcept { return wait_.await_suspend(handle); }
    result<value_type> await_resume() {
      auto done = wait_.await_resume();
      if (!done) return failure(done.error());
      if constexpr (std::is_void_v<returned>) {
        slot_.take();
        return {};
      } else {
        return slot_.take();
      }
    }

   private:
    // On a thread of the pool.
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
    limited_operation<blocking_operation> what_;
    wait<blocking_operation, wait_options> wait_;
  };
  awaiter operator co_await() && { return awaiter(*this); }

 private:
  blocking_call(spawned_call<F, Args...>&& call, limited_operation<blocking_operation>&& what)
      : call_(std::move(call)), what_(std::move(what)) {}

  spawned_call<F, Args...> call_;
  limited_operation<blocking_operation> what_;
};

template <bool IsPossible, class F, class... Args>
auto blocking_if(blocking_pool& pool, F&& f, Args&&... args) {
  if constexpr (IsPossible)
    return blocking_call<std::decay_t<F>, std::decay_t<Args>...>(pool, std::in_place, std::forward<F>(f),
                                                                 std::forward<Args>(args)...);
  else return misused();
}

}  // namespace detail

// On the pool of the process.
template <class F, class... Args>
  requires detail::meant_as_call<F, Args...>
auto blocking(F&& f, Args&&... args) {
  return detail::blocking_if<detail::checked_call<F, Args...>::is_possible>(
      blocking_pool::process_pool(), std::forward<F>(f), std::forward<Args>(args)...);
}
// On this one, which outlives the call.
template <class F, class... Args>
  requires detail::meant_as_call<F, Args...>
auto blocking(blocking_pool& pool, F&& f, Args&&... args) {
  return detail::blocking_if<detail::checked_call<F, Args...>::is_possible>(pool, std::forward<F>(f),
                                                                            std::forward<Args>(args)...);
}

}}  // namespace hocket
