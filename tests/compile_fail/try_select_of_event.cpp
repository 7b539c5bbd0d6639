// An event in the place of its wait.
// first: try_select takes operations: h.join\(\) for a join_handle
// alone
#include <hocket/stackless.hpp>
#include <functional>

using namespace hocket;

#ifdef SHOULD_FAIL
auto first(event& e, channel<int>& c) { return try_select(e, c.receive()); }
#else
auto first(event& e, channel<int>& c) { return try_select(e.wait(), c.receive()); }
#endif
