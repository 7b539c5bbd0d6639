// A task is awaited once, so a group owns it.
// expect: give it a task by std::move, and many in a container, not in a view
#include <hocket/coro/task.hpp>
#include <hocket/coro/when_all.hpp>

hocket::task<int> one();
hocket::task<int> owned() {
  auto t = one();
  auto all = co_await hocket::when_all(std::move(t));
  co_return std::get<0>(all);
}
#ifdef SHOULD_FAIL
hocket::task<int> referred() {
  auto t = one();
  auto all = co_await hocket::when_all(t);
  co_return std::get<0>(all);
}
#endif
