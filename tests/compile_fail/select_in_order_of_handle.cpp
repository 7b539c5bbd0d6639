// A handle in the place of its join.
// first: select_in_order takes operations: h.join\(\) for a join_handle
// alone
#include <hocket/stackless.hpp>
#include <functional>

using namespace hocket;

#ifdef SHOULD_FAIL
task<> first(join_handle<int>& h, event& e) { auto which = co_await select_in_order(h, e.wait()); }
#else
task<> first(join_handle<int>& h, event& e) { auto which = co_await select_in_order(h.join(), e.wait()); }
#endif
