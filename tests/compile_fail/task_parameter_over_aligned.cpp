// A parameter by value is kept in the frame, which has no stricter alignment than memory from operator new.
// expect: over-aligned parameter, callable or argument would be misaligned
#include <hocket/coro/task.hpp>

struct alignas(64) line {
  char bytes[64];
};
hocket::task<char> refers(const line& to) { co_return to.bytes[0]; }
#ifdef SHOULD_FAIL
hocket::task<char> keeps(int, line whole) { co_return whole.bytes[0]; }
#endif
