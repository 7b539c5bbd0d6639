// The result is moved out of the frame.
// expect: the result is moved out of the frame
#include <hocket/coro/task.hpp>

struct fixed {
  fixed() = default;
  fixed(fixed&&) = delete;
};
fixed one;
hocket::task<fixed&> by_reference() { co_return one; }
#ifdef SHOULD_FAIL
hocket::task<fixed> by_value() { co_return {}; }
#endif
