// The value that is bound lies in memory of frames.
// expect: context_local<T>: an over-aligned type: bind a std::unique_ptr
#include <hocket/coro/context_local.hpp>
#include <memory>

struct alignas(64) line {
  char bytes[64];
};
hocket::context_local<std::unique_ptr<line>> right;
#ifdef SHOULD_FAIL
hocket::context_local<line> wrong;
#endif
