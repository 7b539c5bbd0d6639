// An executor for tests: a queue that the test itself empties, in one thread, and counts.
#pragma once
#include <hocket/core/awaitable.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include <atomic>
#include <deque>

namespace hocket_test {

class queue_executor final : public hocket::executor {
 public:
  void post_from_outside(hocket::detail::runnable& work) noexcept override {
    ++posts;
    queue_.push_back(&work);
  }

  // Resumes what is posted until nothing is left.
  void run() {
    hocket::detail::running_scope running({this}, hocket::detail::this_thread().ctx);
    while (!queue_.empty()) {
      auto handle = queue_.front()->handle;
      queue_.pop_front();
      handle.resume();
    }
  }
  bool empty() const { return queue_.empty(); }

  int posts = 0;

 private:
  std::deque<hocket::detail::runnable*> queue_;
};

// Suspends and goes on where `to` runs.
class hop_to : public hocket::detail::own_awaiter {
 public:
  explicit hop_to(hocket::executor& to) : to_(&to) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) noexcept {
    entry_.handle = handle;
    to_->post_from_outside(entry_);
  }
  void await_resume() const noexcept {}

 private:
  hocket::executor* to_;
  hocket::detail::runnable entry_{};
};

// A coroutine that is not hocket's: no header, no executor. It starts at once; its owner destroys it, at any point.
struct foreign {
  struct promise_type {
    foreign get_return_object() { return foreign(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() { throw; }
  };
  explicit foreign(std::coroutine_handle<promise_type> h) : body(h) {}
  foreign(foreign&& other) noexcept : body(std::exchange(other.body, {})) {}
  ~foreign() {
    if (body) body.destroy();
  }
  bool done() const { return body.done(); }
  std::coroutine_handle<promise_type> body;
};

// Counts its live instances. Any thread.
struct counted {
  static inline std::atomic<int> live{0};
  counted() { ++live; }
  counted(const counted&) { ++live; }
  counted(counted&&) noexcept { ++live; }
  counted& operator=(const counted&) = default;
  ~counted() { --live; }
};

// Suspends and leaves the handle in `at`.
class pause_at {
 public:
  explicit pause_at(std::coroutine_handle<>& at) : at_(&at) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { *at_ = handle; }
  void await_resume() const noexcept {}

 private:
  std::coroutine_handle<>* at_;
};

}  // namespace hocket_test
