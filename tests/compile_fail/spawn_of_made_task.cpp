// A task that a call has made, in the place of the callable.
// first: this task was made by a call: pass the callable and its arguments
// alone
#include <hocket/stackless.hpp>
#include <functional>

using namespace hocket;

task<int> fetch(int n) { co_return n; }
#ifdef SHOULD_FAIL
auto begin(loop& on) { return spawn(on, fetch(1)); }
#else
auto begin(loop& on) { return spawn(on, fetch, 1); }
#endif
