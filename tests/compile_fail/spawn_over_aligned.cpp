// What is spawned keeps its arguments in memory of frames.
// expect: an over-aligned callable or argument: pass it by std::unique_ptr
#include <hocket/coro/spawn.hpp>
#include <functional>

struct alignas(64) line {
  char bytes[64];
};
hocket::task<> print(const line& text);
inline void begin(hocket::spawn_target& on, const line& text) {
#ifdef SHOULD_FAIL
  hocket::spawn(on, print, text);
#endif
  hocket::spawn(on, print, std::cref(text));
}
