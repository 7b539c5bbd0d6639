// spawn for callables that return a task.
#pragma once
#include <hocket/core/spawn.hpp>
#include <hocket/coro/task.hpp>

namespace hocket::inline HOCKET_ABI::detail {

// The root of a spawned task: awaits it on behalf of its `scheduled`, and ends that when its own frame is gone.
class spawn_root {
 public:
  struct promise_type : roaming_header, recycled_frame {
    explicit promise_type(scheduled& of) noexcept : self(of) {
      kind = coroutine_kind::root;
      budget = transfer_budget;
      ctx = &of;
    }
    struct end {
      static bool await_ready() noexcept { return false; }
      static void await_suspend(std::coroutine_handle<promise_type> root) noexcept {
        scheduled& ended = root.promise().self;
        root.destroy();
        ended.finish();
      }
      static void await_resume() noexcept {}
    };
    spawn_root get_return_object() noexcept {
      return spawn_root(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    end final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }

    scheduled& self;
  };

  std::coroutine_handle<> handle() const noexcept { return handle_; }

 private:
  explicit spawn_root(std::coroutine_handle<> handle) noexcept : handle_(handle) {}
  std::coroutine_handle<> handle_;
};

template <class T, class F, class... Args>
class spawned_task final : public scheduled_result<T> {
 public:
  template <class... Given>
  explicit spawned_task(spawn_target& target, const spawn_options& options, Given&&... given)
      : scheduled_result<T>(target, coroutine_kind::task, options, &dispose_spawned<spawned_task>),
        call_(std::forward<Given>(given)...) {}

  std::coroutine_handle<> start_handle() { return run(*this).handle(); }
  void drop_call() noexcept { call_.reset(); }

 private:
  static spawn_root run(spawned_task& self) {
    if (!self.begin()) {
      self.drop_call();
      co_return;
    }
    try {
      task<T> body = self.call_();
      if constexpr (std::is_void_v<T>) {
        co_await std::move(body);
        self.slot.set_value();
      } else {
        self.slot.set_value(co_await std::move(body));
      }
      self.succeed();
    } catch (...) {
      self.fail();
    }
    self.drop_call();
  }
  spawned_call<F, Args...> call_;
};

template <>
struct spawner<true> {
  template <class F, class... Args>
  static auto start(spawn_target& target, const spawn_options& options, F&& f, Args&&... args) {
    using T = typename std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>::value_type;
    using body = spawned_task<T, std::decay_t<F>, std::decay_t<Args>...>;
    body* made = make_spawned<body>(target, options, std::forward<F>(f), std::forward<Args>(args)...);
    launch_spawned(*made);
    return join_handle<T>(*made);
  }
};

}  // namespace hocket::inline HOCKET_ABI::detail
