// What an argument is converted to for a reference parameter is kept in a frame, which cannot align it.
// expect: hocket: an argument is converted to an over-aligned object
#include <hocket/coro/spawn.hpp>

struct alignas(64) block {
  block(const struct small&);
};
struct small {};
hocket::task<> keep(const block& all);
hocket::task<> keep_small(const small& one);

void spawned(hocket::spawn_target& on) {
#ifdef SHOULD_FAIL
  spawn(on, keep, small());
#endif
  spawn(on, keep_small, small());
}
