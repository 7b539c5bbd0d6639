// What the layer fiber registers in core, which is blind to stacks: how a fiber is suspended, how its stack is pinned,
// and where the stack ends that an address is on.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <coroutine>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using suspend_call = bool (*)(void* awaiter, std::coroutine_handle<> handle) noexcept;

struct stack_hooks {
  // Parks the running fiber and has `call(awaiter, its handle)` called; false: the caller runs on no fiber.
  bool (*suspend)(void* awaiter, suspend_call call) noexcept;
  // See stack_pin. Null: nothing is to be done.
  void* (*pin)(const void* object, const char* name) noexcept;
  void (*unpin)(void* pinned) noexcept;
};
// Before the first fiber that is spawned. `hooks` lives for ever. Any thread.
void register_stack_hooks(const stack_hooks& hooks) noexcept;

// False: the caller runs on no fiber. Otherwise returns when the fiber is resumed.
bool suspend_stack(void* awaiter, suspend_call suspend) noexcept;

// Keeps a stack where it is while an object lives on it that others write to: a scope, whose children tell it that they
// have ended. A member of the object.
//
// Only a fiber that was spawned with `hibernate_after` has a stack that moves and can be pinned. On a copied stack,
// which must move, such an object is fatal: spawn the fiber with a stack of its own. Elsewhere (in a task's frame, on
// the heap, on an ordinary stack) this does nothing.
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

// Where the stack ends that an address is on, for a signal handler that reads the stack of the code that it
// interrupted. The bounds of the thread's own stack are known by the thread.
struct stack_bounds {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;  // one past the highest byte
  constexpr bool contains(std::uintptr_t address) const noexcept { return address >= low && address < high; }
};

// Async-signal-safe.
using stack_locator = stack_bounds (*)(std::uintptr_t address) noexcept;

// Before the first fiber. Any thread.
void set_stack_locator(stack_locator locator) noexcept;

// The bounds of the stack of a fiber, or of a called stack, that the address is on; empty for any other address.
// Async-signal-safe.
stack_bounds stack_bounds_at(std::uintptr_t address) noexcept;

}}}  // namespace hocket::detail
