// The state of a oneshot, with the value, lies in memory of frames.
// expect: oneshot<T>: an over-aligned type: send it by std::unique_ptr
#include <hocket/coro/oneshot.hpp>
#include <memory>

struct alignas(64) line {
  char bytes[64];
};
auto right() { return hocket::make_oneshot<std::unique_ptr<line>>(); }
#ifdef SHOULD_FAIL
auto wrong() { return hocket::make_oneshot<line>(); }
#endif
