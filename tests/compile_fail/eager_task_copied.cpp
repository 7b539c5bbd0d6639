// An eager task is awaited by one: what many await is a shared_task.
// expect: deleted function|call to (implicitly-)?deleted
#include <hocket/coro/eager_task.hpp>

hocket::eager_task<int> one() { co_return 1; }
int use() {
  auto mine = one();
#ifdef SHOULD_FAIL
  auto yours = mine;
#endif
  return mine.is_ready();
}
