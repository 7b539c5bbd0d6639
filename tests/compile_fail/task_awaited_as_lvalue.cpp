// A task is awaited once, so it must be given away.
// expect: write co_await std::move
#include <hocket/coro/task.hpp>

hocket::task<int> one() { co_return 1; }
hocket::task<int> twice() {
  auto t = one();
#ifdef SHOULD_FAIL
  co_await t;
#endif
  co_return co_await std::move(t);
}
