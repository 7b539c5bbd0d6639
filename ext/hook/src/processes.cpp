// fork, vfork.
//
// A child by fork() has the fiber that forked and no other thread: nothing would wake it. So it is not hooked any more,
// and its calls block it, as they do without hooks.
//
// vfork() is fork() here. A child that shares the memory of its parent would find the parent's fiber hooked, and would
// run the parent's coroutines where it waits. posix_spawn(), system() and popen() share memory as before: libc calls
// nothing of ours in between.
#include "watched_numbers.hpp"

#include <hocket/fiber/await.hpp>
#include <hocket/fiber/detail/fiber_flag.hpp>

#include <pthread.h>
#include <unistd.h>

namespace hocket::inline HOCKET_ABI::hook {
namespace {

void unhook_in_child() noexcept {
  forget_all_in_child();
  if (hocket::detail::control_block* const fiber = hocket::detail::running_fiber())
    fiber->header.reserved &= ~hocket::detail::hook_bit::hooked;
}

[[gnu::constructor]] void register_child() noexcept { ::pthread_atfork(nullptr, nullptr, &unhook_in_child); }

}  // namespace
}  // namespace hocket::inline HOCKET_ABI::hook

extern "C" pid_t vfork() noexcept { return fork(); }
