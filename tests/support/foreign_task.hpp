// A task of an int that is not ours: it starts when it is awaited, by a transfer.
#pragma once
#include <coroutine>
#include <exception>
#include <utility>

namespace hocket_test {

class foreign_task {
 public:
  struct promise_type {
    struct end {
      static bool await_ready() noexcept { return false; }
      static std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().parent;
      }
      static void await_resume() noexcept {}
    };
    foreign_task get_return_object() { return foreign_task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    static end final_suspend() noexcept { return {}; }
    void return_value(int result) noexcept { value = result; }
    static void unhandled_exception() noexcept { std::terminate(); }
    std::coroutine_handle<> parent;
    int value = 0;
  };
  explicit foreign_task(std::coroutine_handle<promise_type> body) noexcept : body_(body) {}
  foreign_task(foreign_task&& other) noexcept : body_(std::exchange(other.body_, {})) {}
  foreign_task& operator=(foreign_task&&) = delete;
  ~foreign_task() {
    if (body_) body_.destroy();
  }
  static bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) noexcept {
    body_.promise().parent = parent;
    return body_;
  }
  int await_resume() const noexcept { return body_.promise().value; }

 private:
  std::coroutine_handle<promise_type> body_;
};

}  // namespace hocket_test
