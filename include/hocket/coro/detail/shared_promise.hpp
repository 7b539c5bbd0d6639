// The promise of a shared task (coro/shared_task.hpp has the protocol).
#pragma once
#include <hocket/base/seam/delayed.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/coro/detail/task_promise.hpp>
#include <hocket/primitive.hpp>
#include <cstddef>
#include <new>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The body as a spawned coroutine. It lies in the frame, and its last release frees the frame.
class shared_run final : public scheduled {
 public:
  shared_run(spawn_target& target, std::coroutine_handle<> frame) noexcept;

 private:
  std::coroutine_handle<> frame_;
};

// The target of a body on an executor without a target. Spawns of the body run under the body's context, which outlives
// them: each enrolled coroutine counts as a reference to it. A plain thread that runs the body stays until all enrolled
// coroutines have left: the last one posts `signal_`.
class lone_target final : public spawn_target {
 public:
  explicit lone_target(executor& home) noexcept : home_(home) {}
  void signal_at_end() noexcept { signal_.home = &home_; }
  void belongs_to(shared_run& body) noexcept { body_ = &body; }

  executor& home() noexcept override { return home_; }
  context& parent_context() noexcept override { return body_ ? static_cast<context&>(*body_) : context::root(); }
  std::error_code enroll(std::size_t count) noexcept override;
  void leave() noexcept override;
  unhandled_handler on_unhandled() const noexcept override { return &abort_on_unhandled; }

 private:
  executor& home_;
  shared_run* body_ = nullptr;
  runnable signal_{};
  atomic<std::size_t> live_{0};
};

// The part that does not depend on the result.
class shared_state final : private wait_source {
 public:
  shared_state(coroutine_header& header, std::coroutine_handle<> frame) noexcept : header_(header), frame_(frame) {}
  shared_state(const shared_state&) = delete;
  shared_state& operator=(const shared_state&) = delete;
  ~shared_state();

  // --- by handles
  void retain() noexcept;
  void drop() noexcept;  // may free the frame
  bool ended() const noexcept {
    // ORDER: acquire, pairs with the exchange in wake_all(): the result is visible.
    return word_.load(std::memory_order_acquire) == finished;
  }
  void start(spawn_target& target) noexcept;  // unless it has been started
  void start(executor& home) noexcept;

  // --- by waits
  bool try_now() noexcept;
  void begin(suspension& wait, waiter& entry) noexcept;
  // After the end: rethrows the exception of the body. Returns an error if there is neither an exception nor a value.
  std::error_code check();

  // --- by the body
  void enter();
  void succeed() noexcept { run().succeed(); }
  void fail() noexcept { run().fail(); }
  void finish() noexcept;  // may free the frame

 private:
  static constexpr std::uint32_t idle = 0, started = 1, finished = 2;

  shared_run& run() noexcept { return *std::launder(reinterpret_cast<shared_run*>(run_)); }
  bool claim_start() noexcept;
  void launch(spawn_target& target) noexcept;
  void launch(executor& home) noexcept;
  void run_here() noexcept;
  void wake_all() noexcept;
  void expect_other() const noexcept;

  const char* what() const noexcept override { return "a shared task"; }
  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  // Constant.
  coroutine_header& header_;
  const std::coroutine_handle<> frame_;
  // Any thread.
  atomic<std::uint32_t> word_{idle};  // changed under mutex_
  atomic<std::uint32_t> handles_{1};
  atomic<bool> received_{false};  // whether a wait has received the exception
  thread_mutex mutex_;
  wait_queue waiters_;  // guarded by mutex_
  // Used by the thread that starts the body, then by the body.
  delayed<lone_target> lone_;
  alignas(shared_run) std::byte run_[sizeof(shared_run)];  // constructed if the word is not `idle`
};

// The storage of the result. The exception is in the shared_run.
template <class T>
class shared_result {
 public:
  static constexpr bool refers = std::is_reference_v<T>;
  using stored = std::conditional_t<refers, std::remove_reference_t<T>*, std::remove_const_t<T>>;
  static_assert(alignof(stored) <= 2 * sizeof(void*),
                "hocket: an over-aligned result would be misaligned in a coroutine frame: return it through a "
                "std::unique_ptr, which aligns it");
  using await_result = std::conditional_t<refers, T, const T&>;

  template <class U = T>
    requires(std::is_constructible_v<T, U>)
  void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
    if constexpr (refers) value_.emplace(std::addressof(static_cast<T>(value)));
    else value_.emplace(std::forward<U>(value));
  }
  await_result value() const noexcept {
    if constexpr (refers) return static_cast<T>(**value_);
    else return *value_;
  }

 private:
  std::optional<stored> value_;
};
template <>
class shared_result<void> {
 public:
  using await_result = void;
  static void return_void() noexcept {}
};

// Its waits resume on the executor where the body began, because the registry of this executor records the end.
template <class T>
class shared_promise : public coroutine_header, public recycled_frame, public shared_result<T> {
 public:
  shared_promise() noexcept : state(*this, std::coroutine_handle<shared_promise>::from_promise(*this)) {
    kind = coroutine_kind::task;
    budget = transfer_budget;
  }

  struct first {
    shared_state& state;
    static constexpr bool await_ready() noexcept { return false; }
    static constexpr void await_suspend(std::coroutine_handle<>) noexcept {}
    void await_resume() const { state.enter(); }
  };
  first initial_suspend() noexcept { return {state}; }

  struct last {
    static constexpr bool await_ready() noexcept { return false; }
    template <class Promise>
    static void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      self.promise().state.finish();
    }
    static constexpr void await_resume() noexcept {}
  };
  last final_suspend() noexcept {
    if (!failed_) state.succeed();
    return {};
  }

  void unhandled_exception() noexcept {
    failed_ = true;
    state.fail();
  }

  template <class A>
  static decltype(auto) await_transform(A&& a) {
    return task_promise_base<void>::await_transform(std::forward<A>(a));
  }

  shared_state state;

 private:
  bool failed_ = false;
};

}}}  // namespace hocket::detail
