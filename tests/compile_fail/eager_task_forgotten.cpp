// An eager task that nobody keeps blocks at the semicolon until its end: dropping one is at least a warning.
// expect: nodiscard
#pragma GCC diagnostic error "-Wunused-result"
#include <hocket/coro/eager_task.hpp>

hocket::eager_task<> send() { co_return; }
hocket::eager_task<> forget() {
#ifdef SHOULD_FAIL
  send();
#endif
  co_await send();
}
