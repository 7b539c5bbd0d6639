// With an allocator, too, and in a generator: what a frame keeps must fit its alignment.
// expect: over-aligned parameter, callable or argument would be misaligned
#include <hocket/coro/generator.hpp>
#include <memory>

struct alignas(64) line {
  char bytes[64];
};
using bytes = std::allocator<std::byte>;
hocket::generator<char> of(std::allocator_arg_t, bytes, const line& text) { co_yield text.bytes[0]; }
#ifdef SHOULD_FAIL
hocket::generator<char> of_copy(std::allocator_arg_t, bytes, line text) { co_yield text.bytes[0]; }
#endif
