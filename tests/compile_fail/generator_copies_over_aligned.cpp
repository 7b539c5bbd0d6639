// `co_yield` of a variable copies it into the frame, where rvalues are given.
// expect: over-aligned value is not copied into a frame
#include <hocket/coro/generator.hpp>
#include <utility>

struct alignas(64) line {
  char bytes[64];
};
hocket::generator<line> lines(line& buffer) {
#ifdef SHOULD_FAIL
  co_yield buffer;
#endif
  co_yield std::move(buffer);
}
