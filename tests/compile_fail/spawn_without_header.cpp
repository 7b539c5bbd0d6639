// How a kind starts is in a header of the kind.
// expect: include <hocket/coro/spawn.hpp> to spawn
// alone
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/coro/task.hpp>
#ifndef SHOULD_FAIL
#include <hocket/coro/spawn.hpp>
#endif

hocket::task<> work();
void begin(hocket::spawn_target& on) { hocket::spawn(on, work); }
