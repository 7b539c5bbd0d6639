// A task runs once: its result goes to one who awaits it. What many await is a shared_task.
// expect: deleted function|call to (implicitly-)?deleted
#include <hocket/coro/task.hpp>

hocket::task<int> one();
inline auto use() {
  auto mine = one();
#ifdef SHOULD_FAIL
  auto yours = mine;
#endif
  return mine;
}
