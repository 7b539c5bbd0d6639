// or_return ends the task with an error: the task must be able to return one.
// expect: or_return\(\) is for tasks that return a result<T>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/task.hpp>

hocket::task<hocket::result<int>> gives();
hocket::task<hocket::result<int>> hands_on() { co_return co_await hocket::or_return(gives()); }
#ifdef SHOULD_FAIL
hocket::task<int> drops() { co_return co_await hocket::or_return(gives()); }
#endif
