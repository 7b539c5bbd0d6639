// What many await is read-only.
// expect: const
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/task.hpp>

hocket::shared_task<int> shared() { co_return 1; }
hocket::task<int> use() {
  auto handle = shared();
#ifdef SHOULD_FAIL
  int& mine = co_await handle;
  co_return mine;
#endif
  const int& ours = co_await handle;
  co_return ours;
}
