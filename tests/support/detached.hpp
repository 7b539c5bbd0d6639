// A coroutine of which hocket knows nothing: it runs at once, and destroys itself at its end.
#pragma once
#include <coroutine>
#include <exception>

namespace hocket_test {

struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

}  // namespace hocket_test
