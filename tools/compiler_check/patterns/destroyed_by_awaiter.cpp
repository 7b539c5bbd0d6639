// An awaiter destroys the coroutine that awaits it.
#include "support.hpp"

struct detached {
  struct promise_type {
    detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};
struct destroying {
  tracked last;
  explicit destroying(int value) : last(value) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    int before = last.value();
    handle.destroy();
    if (before != 5) blame("a local of await_suspend lies in the frame");
  }
  void await_resume() const noexcept {}
};
detached ends() {
  tracked local(1);
  co_await destroying(5);
}
task<int> pattern() {
  ends();
  co_return 1;
}

int main() { return verdict(pattern, 1); }
