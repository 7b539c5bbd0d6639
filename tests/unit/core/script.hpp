// What tests of core run on: a coroutine that does nothing by itself, an executor that is stepped by hand, and timers
// that fire when told.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/frame.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/core/wait/seam/operation.hpp>

#include "support/hand_timers.hpp"

#include <coroutine>
#include <utility>

namespace hocket_test {

// A queue of which the test takes one coroutine at a time. Any thread may post.
class stepped_executor final : public hocket::executor {
 public:
  // The budget of operations begins anew (core/wait/seam/budget.hpp): no test depends on earlier ones.
  explicit stepped_executor(hocket::detail::timer_service* timers = nullptr) noexcept : timers_(timers) {
    hocket::detail::refill_budget(hocket::detail::this_thread());
  }

  void post_from_outside(hocket::detail::runnable& work) noexcept override {
    hocket::primitive::locked guard(mutex_);
    work.next = nullptr;
    *last_ = &work;
    last_ = &work.next;
    ++posts_;
  }
  hocket::detail::timer_service* timers() noexcept override { return timers_; }

  // Takes the first without running it; null if there is none.
  hocket::detail::runnable* take() noexcept {
    hocket::primitive::locked guard(mutex_);
    hocket::detail::runnable* work = first_;
    if (!work) return nullptr;
    first_ = work->next;
    if (!first_) last_ = &first_;
    return work;
  }
  // Resumes the first, which must be a coroutine of hocket's, under its own context.
  bool step() {
    hocket::detail::runnable* work = take();
    if (!work) return false;
    std::coroutine_handle<> handle = work->handle;
    hocket::detail::running_scope running({this}, hocket::detail::header_of(handle).ctx);
    handle.resume();
    return true;
  }
  void run() {
    while (step()) {
    }
  }
  int posts() noexcept {
    hocket::primitive::locked guard(mutex_);
    return posts_;
  }

 private:
  hocket::detail::timer_service* const timers_;
  hocket::primitive::thread_mutex mutex_;
  hocket::detail::runnable* first_ = nullptr;
  hocket::detail::runnable** last_ = &first_;
  int posts_ = 0;
};

// A coroutine that a test starts, steps and destroys. An exception leaves through the resume.
class script {
 public:
  struct promise_type : hocket::detail::coroutine_header {
    hocket::detail::runnable start;

    promise_type() noexcept { kind = hocket::detail::coroutine_kind::root; }
    script get_return_object() noexcept { return script(handle_type::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() { throw; }
  };
  using handle_type = std::coroutine_handle<promise_type>;

  script(script&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  ~script() { destroy(); }

  // Posts it to `on`, to run under `ctx` (null: the root context).
  void start(hocket::executor& on, hocket::context* ctx = nullptr) noexcept {
    handle_.promise().ctx = ctx;
    handle_.promise().start = {nullptr, handle_, &on};
    on.post_from_outside(handle_.promise().start);
  }
  bool done() const noexcept { return handle_.done(); }
  handle_type handle() const noexcept { return handle_; }
  void destroy() noexcept {
    if (handle_) std::exchange(handle_, {}).destroy();
  }

 private:
  explicit script(handle_type handle) noexcept : handle_(handle) {}
  handle_type handle_;
};

}  // namespace hocket_test
