// invoke keeps the callable in the frame of a task.
// expect: over-aligned parameter, callable or argument would be misaligned
#include <hocket/coro/invoke.hpp>

struct alignas(64) line {
  char bytes[64];
};
hocket::task<char> first_of(const line& text);
inline auto use(const line& text) {
#ifdef SHOULD_FAIL
  return hocket::invoke(first_of, text);
#else
  return hocket::invoke([&text] { return first_of(text); });
#endif
}
