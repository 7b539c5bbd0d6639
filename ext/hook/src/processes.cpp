// fork, vfork.
//
// A child of fork() runs the fiber that forked, and has no other thread to wake it. So the fiber is unhooked there: its
// calls block.
//
// vfork() acts as fork(). A child that shares its parent's memory would see the parent's fiber as hooked, and run the
// parent's coroutines while it waits. posix_spawn(), system() and popen() still share memory: libc calls no function of
// ours in between.
#include "watched_fds.hpp"

#include <hocket/fiber/await.hpp>
#include <hocket/fiber/detail/fiber_flag.hpp>

#include <pthread.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

void unhook_in_child() noexcept {
  forget_all_in_child();
  if (hocket::detail::control_block* const fiber = hocket::detail::running_fiber())
    fiber->header.reserved &= ~hocket::detail::hook_bit::hooked;
}

[[gnu::constructor]] void register_child() noexcept { ::pthread_atfork(nullptr, nullptr, &unhook_in_child); }

}  // namespace
}}}  // namespace hocket::hook

extern "C" pid_t vfork() noexcept { return fork(); }
