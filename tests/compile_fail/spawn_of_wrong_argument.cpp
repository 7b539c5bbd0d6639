// A call that does not fit.
// first: the callable cannot be called with these arguments
// alone
#include <hocket/stackless.hpp>
#include <functional>

using namespace hocket;

task<> note(int n) { co_return static_cast<void>(n); }
#ifdef SHOULD_FAIL
auto begin(loop& on) { return spawn(on, note, "one"); }
#else
auto begin(loop& on) { return spawn(on, note, 1); }
#endif
