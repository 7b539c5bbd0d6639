// propagate() ends the task that awaits: anything else would have to go on.
// expect: propagate\(\) is for tasks
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/task.hpp>

hocket::task<int> one();
hocket::task<int> hands_on() { co_return co_await one().propagate(); }
hocket::async_generator<int> numbers() {
#ifdef SHOULD_FAIL
  int n = co_await one().propagate();
#else
  int n = co_await one();
#endif
  co_yield std::move(n);
}
