#include <hocket/core/context.hpp>
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

context& current_context() noexcept {
  context* ctx = this_thread().ctx;
  return ctx ? *ctx : context::root();
}

void at_thread_exit(thread_exit_hook& hook) noexcept {
  hook.next = hooks.first;
  hooks.first = &hook;
}

running_scope::running_scope(executor* on, context* ctx) noexcept
    : outer_executor_(this_thread().running_on), outer_context_(this_thread().ctx) {
  this_thread().running_on = on;
  this_thread().ctx = ctx;
}

running_scope::~running_scope() {
  this_thread().running_on = outer_executor_;
  this_thread().ctx = outer_context_;
}

}  // namespace hocket::inline HOCKET_ABI
