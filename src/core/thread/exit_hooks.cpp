// Runs hooks at the end of a thread, if code on any stack runs on the thread itself.
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

// Registers the end with the system, at its first use.
struct end_of_thread {
  ~end_of_thread() { run_hooks(); }
  void arm() noexcept { armed_ = true; }

 private:
  volatile bool armed_ = false;  // volatile: no compiler removes the use
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

// A hook that is registered later, as other objects of the thread end, is registered with the system.
exit_hook_scope::~exit_hook_scope() {
  run_hooks();
  in_scope = false;
}

}}}  // namespace hocket::detail
