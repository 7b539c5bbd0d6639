// The result of a shared task lies in its frame: awaiting a temporary handle would give a reference to what is freed.
// expect: deleted
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/task.hpp>

hocket::shared_task<int> shared() { co_return 1; }
hocket::task<int> use() {
  auto handle = shared();
#ifdef SHOULD_FAIL
  co_return co_await shared();
#endif
  co_return co_await handle;
}
