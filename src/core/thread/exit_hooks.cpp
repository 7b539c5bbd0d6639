// What runs at the end of a thread, where code on any stack runs on the thread itself.
#include "core/thread/unloading.hpp"

#include <hocket/core/thread/seam/current.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
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
  void arm() noexcept { armed_ = true; }

 private:
  volatile bool armed_ = false;  // volatile: no compiler takes the use away
};
thread_local end_of_thread at_end;

}  // namespace

bool at_thread_exit(thread_exit_hook& hook) noexcept {
  if (!in_scope) {
    if (unloading()) return false;
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

}}}  // namespace hocket::detail
