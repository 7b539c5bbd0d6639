// The options of a loop, for a manager.
// first: these are the options of another target
// alone
#include <hocket/stackless.hpp>

using namespace hocket;

task<> work();
#ifdef SHOULD_FAIL
auto begin(task_manager& on) { return spawn(on, spawn_options{}, work); }
#else
auto begin(task_manager& on) { return spawn(on, task_options{}, work); }
#endif
