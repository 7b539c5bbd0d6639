// The reader of a generator does not wait.
// expect: use async_generator<T> or task<T>
#include <hocket/coro/generator.hpp>
#include <hocket/coro/task.hpp>

hocket::task<int> one() { co_return 1; }
hocket::generator<int> numbers() {
#ifdef SHOULD_FAIL
  co_yield co_await one();
#endif
  co_yield 1;
}
