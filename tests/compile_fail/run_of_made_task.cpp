// run() takes what spawn() takes.
// first: this task was made by a call: pass the callable and its arguments
// alone
#include <hocket/stackless.hpp>
#include <functional>

using namespace hocket;

task<int> fetch(int n) { co_return n; }
#ifdef SHOULD_FAIL
int begin() { return run(fetch(1)); }
#else
int begin() { return run(fetch, 1); }
#endif
