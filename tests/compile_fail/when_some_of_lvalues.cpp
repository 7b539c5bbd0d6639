// As many as one likes of a container that the group does not own.
// first: give it a task by std::move, and many in a container, not in a view
// alone
#include <hocket/stackless.hpp>
#include <vector>

using namespace hocket;

#ifdef SHOULD_FAIL
task<> some(std::vector<task<int>>& of) { auto got = co_await when_some(1, of); }
#else
task<> some(std::vector<task<int>>& of) { auto got = co_await when_some(1, std::move(of)); }
#endif
