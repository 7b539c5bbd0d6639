// A thread's own state, where code on any stack runs on the thread itself.
#include <hocket/core/current.hpp>

namespace hocket::inline HOCKET_ABI {
namespace {

// Constant-initialised and trivially destructible: valid from the thread's first instruction to its last, so that a
// coroutine may be destroyed during thread exit and static destruction.
thread_local constinit thread_state state;

struct exit_hooks {
  thread_exit_hook* first = nullptr;
  ~exit_hooks() {
    while (thread_exit_hook* hook = first) {
      first = hook->next;
      hook->run(*hook);
    }
  }
};
thread_local exit_hooks hooks;

}  // namespace

thread_state& this_thread() noexcept {
  thread_state* here = &state;
  asm volatile("" : "+r"(here));
  return *here;
}

void at_thread_exit(thread_exit_hook& hook) noexcept {
  hook.next = hooks.first;
  hooks.first = &hook;
}

}  // namespace hocket::inline HOCKET_ABI
