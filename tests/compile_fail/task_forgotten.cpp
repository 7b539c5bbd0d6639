// A task that nobody awaits never runs: dropping one is at least a warning.
// expect: nodiscard
#pragma GCC diagnostic error "-Wunused-result"
#include <hocket/coro/task.hpp>

hocket::task<> send() { co_return; }
hocket::task<> forget() {
#ifdef SHOULD_FAIL
  send();
#endif
  co_await send();
}
