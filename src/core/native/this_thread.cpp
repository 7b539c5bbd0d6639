// A thread's own state, where code on any stack runs on the thread itself.
#include <hocket/core/current.hpp>

namespace hocket::inline HOCKET_ABI {

// Constant-initialised and trivially destructible: valid from the thread's first instruction to its last, so that a
// coroutine may be destroyed during thread exit and static destruction.
#if defined(HOCKET_THREAD_STATE)
extern thread_local thread_state own_thread_state asm(HOCKET_THREAD_STATE);
[[gnu::used]] thread_local constinit thread_state own_thread_state;
#else
namespace {
thread_local constinit thread_state state;
}
#endif

namespace {

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

#if !defined(HOCKET_THREAD_STATE)
thread_state& this_thread() noexcept {
  thread_state* here = &state;
  asm volatile("" : "+r"(here));
  return *here;
}
#endif

void at_thread_exit(thread_exit_hook& hook) noexcept {
  hook.next = hooks.first;
  hooks.first = &hook;
}

}  // namespace hocket::inline HOCKET_ABI
