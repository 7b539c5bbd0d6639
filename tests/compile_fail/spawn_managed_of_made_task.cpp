// A made task on a manager, which has options of its own.
// first: this task was made by a call: pass the callable and its arguments
// alone
#include <hocket/stackless.hpp>
#include <functional>

using namespace hocket;

task<int> fetch(int n) { co_return n; }
#ifdef SHOULD_FAIL
auto begin(task_manager& on) { return spawn(on, {.name = "fetch"}, fetch(1)); }
#else
auto begin(task_manager& on) { return spawn(on, {.name = "fetch"}, fetch, 1); }
#endif
