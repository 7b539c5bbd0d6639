// sync_wait: runs an awaitable to its end on the calling thread, and returns its result.
//
// Only a plain thread may call it. In a coroutine it is fatal, because it would block the worker that must finish the
// wait. Meanwhile the thread runs the work that is posted to it: an awaited task runs on this thread.
#pragma once
#include <hocket/core/context.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/frame.hpp>
#include <hocket/core/thread/seam/thread_executor.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <exception>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// An awaiter that can resume a thread directly: one of hocket's that needs only a handle.
template <class W>
concept waits_for_a_thread = trusted_awaiter<W> && !requires { requires std::remove_cvref_t<W>::needs_a_coroutine; } &&
                             requires(W& w, std::coroutine_handle<> handle) {
                               { w.await_suspend(handle) } -> std::same_as<bool>;
                             };

// The root of a thread's wait: a coroutine that awaits an awaiter and then signals the thread.
class thread_root {
 public:
  struct promise_type : coroutine_header {
    promise_type() noexcept {
      kind = coroutine_kind::root;
      budget = transfer_budget;
      ctx = &current_context();
    }
    struct end {
      static bool await_ready() noexcept { return false; }
      static void await_suspend(std::coroutine_handle<promise_type> root) noexcept {
        runnable& end_signal = root.promise().signal;
        end_signal.home->post_from_outside(end_signal);  // from now on the waiting thread may free the frame
      }
      static void await_resume() noexcept {}
    };
    thread_root get_return_object() noexcept {
      return thread_root(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    end final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { error = std::current_exception(); }

    runnable signal{};  // has no handle: it ends run_until_signal()
    std::exception_ptr error;
  };

  using handle = std::coroutine_handle<promise_type>;

  explicit thread_root(std::coroutine_handle<promise_type> root) noexcept : root_(root) {}
  thread_root(const thread_root&) = delete;
  thread_root& operator=(const thread_root&) = delete;
  ~thread_root() { root_.destroy(); }

  void run(thread_executor& executor) {
    runnable start{nullptr, root_, &executor};
    root_.promise().signal.home = &executor;
    executor.post_from_outside(start);
    executor.run_until_signal();
    if (root_.promise().error) std::rethrow_exception(root_.promise().error);
  }

 private:
  std::coroutine_handle<promise_type> root_;
};

// Awaits an awaiter that is not ready, and leaves the result in it. The awaiter's type is erased: otherwise each type
// would have a coroutine frame of its own with a member of the user's type, and g++ warns about them.
class erased_awaiter {
 public:
  template <class W>
  explicit erased_awaiter(W& awaiter) noexcept : awaiter_(&awaiter), suspend_(&suspend<W>) {}
  static bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(thread_root::handle root) { return suspend_(awaiter_, root); }
  static void await_resume() noexcept {}

 private:
  template <class W>
  static std::coroutine_handle<> suspend(void* object, thread_root::handle root) {
    W& awaiter = *static_cast<W*>(object);
    using answer = decltype(awaiter.await_suspend(root));
    if constexpr (std::is_void_v<answer>) {
      awaiter.await_suspend(root);
      return std::noop_coroutine();
    } else if constexpr (std::is_same_v<answer, bool>) {
      return awaiter.await_suspend(root) ? std::coroutine_handle<>(std::noop_coroutine()) : root;
    } else {
      return awaiter.await_suspend(root);
    }
  }

  void* awaiter_;
  std::coroutine_handle<> (*suspend_)(void* object, thread_root::handle root);
};

inline thread_root drive(erased_awaiter awaiter) { co_await awaiter; }

// Waits for an awaiter that is not ready. The caller calls await_resume().
template <class W>
void block_thread(W& awaiter) {
  expects(current_executor() == nullptr, "a coroutine was about to block its worker",
          "the worker must finish the wait: use co_await in a task, and await in a spawned fiber");
  thread_executor executor;
  if constexpr (waits_for_a_thread<W>) {
    bool suspended = false;
    {
      running_scope running({&executor}, this_thread().ctx);
      suspended = awaiter.await_suspend(std::coroutine_handle<>{});
    }
    if (suspended) executor.run_until_signal();
  } else {
    drive(erased_awaiter(awaiter)).run(executor);
  }
}

// The return type of sync_wait. An rvalue reference becomes a value, because its source may be destroyed.
template <class R>
struct sync_result {
  using type = R;
};
template <class R>
struct sync_result<R&&> {
  using type = std::remove_cv_t<R>;
};

}  // namespace detail

// Blocks the calling thread until `a` has ended. Returns the result of `co_await a`, or throws its exception. An
// operation (a primitive's wait) needs no frame; any other awaitable needs one.
template <class A>
  requires awaitable<A>
typename detail::sync_result<await_result_t<A>>::type sync_wait(A&& a) {
  detail::expects(current_executor() == nullptr, "sync_wait was called by a coroutine",
                  "it would block the worker that must finish the wait: use co_await (or await in a fiber); a job "
                  "spawns the code that waits");
  auto&& awaiter = detail::get_awaiter(std::forward<A>(a));
  if (!awaiter.await_ready()) detail::block_thread(awaiter);
  return awaiter.await_resume();
}

}}  // namespace hocket
