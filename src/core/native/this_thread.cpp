// A thread's own state, where code on any stack runs on the thread itself.
#include <hocket/base/detail/atomic.hpp>
#include <hocket/core/detail/current.hpp>

namespace hocket::inline HOCKET_ABI::detail {

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

thread_local constinit thread_exit_hook* first_hook = nullptr;
thread_local constinit bool in_scope = false;

void run_hooks() noexcept {
  while (thread_exit_hook* hook = first_hook) {
    first_hook = hook->next;
    hook->run(*hook);
  }
}

// The system's way: a first use registers it.
struct end_of_thread {
  ~end_of_thread() { run_hooks(); }
  void arm() noexcept { asm volatile("" : : "r"(this)); }
};
thread_local end_of_thread at_end;

// Whether dlclose() has begun: the loader calls such functions before what destroys static objects. (At the end of a
// program it is the other way round.)
constinit atomic<bool> unloaded{false};
[[gnu::destructor]] void begin_to_unload() noexcept {
  // ORDER: relaxed, pairs with the load in at_thread_exit().
  unloaded.store(true, std::memory_order_relaxed);
}

}  // namespace

#if !defined(HOCKET_THREAD_STATE)
thread_state& this_thread() noexcept {
  thread_state* here = &state;
  asm volatile("" : "+r"(here));
  return *here;
}
#endif

bool at_thread_exit(thread_exit_hook& hook) noexcept {
  if (!in_scope) {
    // ORDER: relaxed, pairs with nothing: who unloads the library sees its own store, and nobody else is in there.
    if (unloaded.load(std::memory_order_relaxed)) return false;
    at_end.arm();
  }
  hook.next = first_hook;
  first_hook = &hook;
  return true;
}

exit_hook_scope::exit_hook_scope() noexcept { in_scope = true; }

// What registers one later, as the thread's other objects end, does so with the system.
exit_hook_scope::~exit_hook_scope() {
  run_hooks();
  in_scope = false;
}

}  // namespace hocket::inline HOCKET_ABI::detail
