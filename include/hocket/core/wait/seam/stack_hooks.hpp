// The hooks of the layer fiber in core, which knows no stacks: how to suspend a fiber, how to pin its stack, and the
// bounds of the stack at an address.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <coroutine>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using suspend_call = bool (*)(void* awaiter, std::coroutine_handle<> handle) noexcept;

struct stack_hooks {
  // Parks the running fiber and calls `call(awaiter, its handle)`. False: the caller runs on no fiber.
  bool (*suspend)(void* awaiter, suspend_call call) noexcept;
  // See stack_pin. Null: there is nothing to do.
  void* (*pin)(const void* object, const char* name) noexcept;
  void (*unpin)(void* pinned) noexcept;
};
// Called before the first spawned fiber. `hooks` is never destroyed. Any thread.
void register_stack_hooks(const stack_hooks& hooks) noexcept;

// False: the caller runs on no fiber. Otherwise returns when the fiber is resumed.
bool suspend_stack(void* awaiter, suspend_call suspend) noexcept;

// Keeps a stack in place while it contains an object that others write to: a scope, which its children notify at their
// end. A member of the object.
//
// Only the stack of a fiber that was spawned with `hibernate_after` moves and can be pinned. A copied stack must move,
// so such an object is fatal there: spawn the fiber with a stack of its own. Elsewhere (in a task's frame, on the heap,
// on an ordinary stack) this does nothing.
class stack_pin {
 public:
  // `name`: of the object, for the message.
  stack_pin(const void* object, const char* name) noexcept;
  stack_pin(const stack_pin&) = delete;
  stack_pin& operator=(const stack_pin&) = delete;
  ~stack_pin();

 private:
  void* const pinned_;
};

// The bounds of a stack, for a signal handler that reads the stack of the interrupted code. The thread itself knows the
// bounds of its own stack.
struct stack_bounds {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;  // one past the highest byte
  constexpr bool contains(std::uintptr_t address) const noexcept { return address >= low && address < high; }
};

// Async-signal-safe.
using stack_locator = stack_bounds (*)(std::uintptr_t address) noexcept;

// Called before the first fiber. Any thread.
void set_stack_locator(stack_locator locator) noexcept;

// The bounds of the fiber's stack, or of the called stack, with the address; empty for any other address.
// Async-signal-safe.
stack_bounds stack_bounds_at(std::uintptr_t address) noexcept;

}}}  // namespace hocket::detail
