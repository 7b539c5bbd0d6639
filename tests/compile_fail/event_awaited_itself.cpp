// A primitive in the place of one of its waits.
// first: say what to wait for: co_await e.wait\(\)
// alone
#include <hocket/stackless.hpp>
#include <functional>

using namespace hocket;

#ifdef SHOULD_FAIL
task<> until(event& e) { co_await e; }
#else
task<> until(event& e) { static_cast<void>(co_await e.wait()); }
#endif
