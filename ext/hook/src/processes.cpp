// fork, vfork.
//
// A child of fork() runs the fiber that forked, and has no other thread to wake it. So the fiber is unhooked there: its
// calls block.
//
//   prepare    in the parent, before the fork: the forking fiber is unhooked
//   parent     it is hooked again, if it has a scope
//   child      it stays unhooked; there are no waits
//
// Hazard: a library's own handler for the child, registered before ours, runs before ours. If it slept or opened a file
// in a fiber that is still hooked, the child would run the parent's other fibers. Prevented by the handler in the
// parent: in the child no call is ever hooked. If it closes a number for which a fiber of the parent waits, then
// forget() finds itself in another process (watched_fds.cpp).
// Between the first and the second handler the calls of other handlers block the thread, in the parent, too.
//
// vfork() acts as fork(). A child that shares its parent's memory would see the parent's fiber as hooked, and run the
// parent's coroutines while it waits. posix_spawn(), system() and popen() still share memory: libc calls no function of
// ours in between.
#include "caller.hpp"
#include "watched_fds.hpp"

#include <pthread.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

[[gnu::constructor]] void register_handlers() noexcept {
  set_process();
  ::pthread_atfork(&scope_access::unhook, &scope_access::hook_again, &forget_all_in_child);
}

}  // namespace
}}}  // namespace hocket::hook

extern "C" pid_t vfork() noexcept { return fork(); }
