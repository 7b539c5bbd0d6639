// A view that makes its elements when it is read.
// first: give it a task by std::move, and many in a container, not in a view
// alone
#include <hocket/stackless.hpp>
#include <ranges>
#include <vector>

using namespace hocket;

auto moved = [](task<int>& one) { return std::move(one); };
#ifdef SHOULD_FAIL
task<> all(std::vector<task<int>>& of) { auto got = co_await when_all(of | std::views::transform(moved)); }
#else
task<> all(std::vector<task<int>>& of) { auto got = co_await when_all(std::move(of)); }
#endif
