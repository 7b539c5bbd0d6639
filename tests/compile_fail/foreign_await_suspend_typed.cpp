// hocket's coroutines have no promise of a type that somebody else's awaiter could name.
// expect: await_suspend of a foreign awaiter must accept a std::coroutine_handle
#include <hocket/coro/task.hpp>

struct request {
  bool await_ready() const noexcept;
#ifdef SHOULD_FAIL
  void await_suspend(std::coroutine_handle<hocket::task<int>::promise_type> whom);
#else
  void await_suspend(std::coroutine_handle<> whom);
#endif
  int await_resume();
};
hocket::task<int> sends() {
  request one;
  co_return co_await one;
}
