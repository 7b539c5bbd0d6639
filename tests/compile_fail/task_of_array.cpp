// An array cannot be returned by value, by a task as little as by a function.
// expect: T is an object type, a reference or void
#include <hocket/coro/task.hpp>
#include <array>

using right = std::array<int, 3>;
#ifdef SHOULD_FAIL
using given = int[3];
#else
using given = right;
#endif
static_assert(sizeof(hocket::task<given>) == sizeof(void*));
