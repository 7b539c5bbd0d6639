// Nothing but handles.
// first: select takes operations: h.join\(\) for a join_handle
// alone
#include <hocket/stackless.hpp>

using namespace hocket;

#ifdef SHOULD_FAIL
task<> first(join_handle<int>& a, join_handle<>& b) { auto which = co_await select(a, b); }
#else
task<> first(join_handle<int>& a, join_handle<>& b) { auto which = co_await select(a.join(), b.join()); }
#endif
