// The state of a thread, if a fiber runs on a thread of its own: the state of the logical thread
// (base/seam/logical_thread.hpp).
#include <hocket/base/seam/logical_thread.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include <new>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

struct carried_state {
  thread_state state;
  thread_exit_hook* hooks;
};
static_assert(sizeof(carried_state) <= logical_thread::room && std::is_trivially_destructible_v<carried_state>);

// Never constructed: all bytes are zero, which is an empty state.
carried_state& carried() noexcept {
  return *std::launder(reinterpret_cast<carried_state*>(this_logical_thread().state));
}

void run_hooks() noexcept {
  while (thread_exit_hook* hook = carried().hooks) {
    carried().hooks = hook->next;
    hook->run(*hook);
  }
}

}  // namespace

thread_state& this_thread() noexcept { return carried().state; }

bool at_thread_exit(thread_exit_hook& hook) noexcept {
  hook.next = carried().hooks;
  carried().hooks = &hook;
  this_logical_thread().at_end = &run_hooks;
  return true;
}

// Here the scope does not avoid the registration: each logical thread is registered with the system at its first use.
exit_hook_scope::exit_hook_scope() noexcept = default;
exit_hook_scope::~exit_hook_scope() { run_hooks(); }

}}}  // namespace hocket::detail
