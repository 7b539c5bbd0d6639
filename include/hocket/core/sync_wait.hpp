// sync_wait: runs an awaitable to its end on the calling thread, and returns its result.
#pragma once
#include <hocket/core/awaitable.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/current.hpp>
#include <hocket/core/frame.hpp>
#include <hocket/core/return_slot.hpp>
#include <hocket/core/thread_executor.hpp>

namespace hocket::inline HOCKET_ABI {

namespace detail {

// The root of a sync_wait: a coroutine that awaits the awaitable and signals the thread when it has the result.
template <class T>
class sync_root {
 public:
  struct promise_type;

  explicit sync_root(std::coroutine_handle<promise_type> root) noexcept : root_(root) {}
  sync_root(const sync_root&) = delete;
  sync_root& operator=(const sync_root&) = delete;
  ~sync_root() { root_.destroy(); }

  T run() {
    thread_executor here;
    runnable start{nullptr, root_, &here};
    root_.promise().signal.home = &here;
    here.post(start);
    here.run_until_signal();
    return root_.promise().slot.take();
  }

 private:
  std::coroutine_handle<promise_type> root_;
};

template <class T>
struct sync_root_base : coroutine_header {
  return_slot<T> slot;
  runnable signal{};  // has no handle: it ends run_until_signal()

  sync_root_base() noexcept {
    kind = coroutine_kind::root;
    budget = transfer_budget;
    ctx = &current_context();
  }
  struct end {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> root) noexcept {
      runnable& over = root.promise().signal;
      over.home->post(over);  // from here on the waiting thread may free the frame
    }
    void await_resume() noexcept {}
  };
  std::suspend_always initial_suspend() noexcept { return {}; }
  end final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { slot.set_exception(std::current_exception()); }
};

template <class T>
struct sync_root<T>::promise_type : sync_root_base<T> {
  sync_root get_return_object() noexcept { return sync_root(std::coroutine_handle<promise_type>::from_promise(*this)); }
  template <class U>
  void return_value(U&& value) {
    this->slot.set_value(std::forward<U>(value));
  }
};

template <>
struct sync_root<void>::promise_type : sync_root_base<void> {
  sync_root get_return_object() noexcept { return sync_root(std::coroutine_handle<promise_type>::from_promise(*this)); }
  void return_void() noexcept { slot.set_value(); }
};

// The awaiter is named because g++ 12 would move an awaiter that is an rvalue into the frame, and hocket's cannot move.
template <class T, class A>
sync_root<T> make_sync_root(A&& a) {
  auto&& waits = get_awaiter(std::forward<A>(a));
  co_return co_await waits;
}

}  // namespace detail

// Awaits `a` and blocks the calling thread until it has ended; meanwhile the thread runs what is posted to it. Returns
// the result by value (or the reference that `a` yields), or throws what it threw. Allocates one frame.
// Only for plain threads: inside a coroutine it would block the worker, so there it is a fatal error.
template <class A>
  requires awaitable<A>
decltype(auto) sync_wait(A&& a) {
  using T = std::conditional_t<std::is_rvalue_reference_v<await_result_t<A>>, std::remove_cvref_t<await_result_t<A>>,
                               await_result_t<A>>;
  expects(current_executor() == nullptr, "sync_wait was called by a coroutine",
          "it would block the worker that must finish the wait: use co_await (or await in a fiber)");
  return detail::make_sync_root<T, A>(std::forward<A>(a)).run();
}

}  // namespace hocket::inline HOCKET_ABI
