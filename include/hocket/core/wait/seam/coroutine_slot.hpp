// coroutine_slot: the state of an extension for one coroutine, a task or a fiber.
//
//   constexpr slot_kind tracing{.name = "tracing", .on_suspend = &leave_span, .on_resume = &enter_span};
//   struct span_slot : coroutine_slot {
//     span_slot() : coroutine_slot(tracing) {}
//     span current;
//   };
//   span_slot own;                                                // in the body of a coroutine
//   ...
//   auto* const found = static_cast<span_slot*>(current_coroutine_slot(tracing));    // in code that the body calls
//
// A slot is a local variable of the coroutine's code. Its constructor enters it, and its destructor leaves it. So a
// slot takes no memory of a coroutine that has none, and it ends when its scope ends: by a return, an exception or a
// kill.
//
// States
//
//   entered     the slot is in the list of its coroutine's context, the innermost slot first
//   unentered   no coroutine ran at the construction, or leave() was called. The slot is in no list
//
// Scope. Functions and tasks that the coroutine calls, awaits, or runs in a block (context_local, shielded) find the
// slot. Spawned coroutines, forks, children of when_all and eager bodies of a fiber begin without slots. A raw
// coroutine<> finds the slots of the code that resumes it. A plain thread finds no slot.
//
// Hooks. If its kind has hooks, a slot is informed where observers are (core/observer.hpp): when a wait of the
// coroutine suspends it, and before its code continues. A yield calls no hook, nor does a wait for a foreign awaitable.
//   - on_suspend() is called on the thread that the coroutine leaves, off the stack of a fiber, before any other thread
//     can resume the coroutine. The innermost slot is first.
//   - on_resume() is called on the thread that the coroutine continues on, before its code. The innermost slot is last.
//   - Each on_suspend() has one on_resume(), also if the wait ends by a stop, a deadline or a kill. A coroutine that is
//     killed leaves its slots while it unwinds, after on_resume().
//   - A hook must neither throw nor wait, and must not use the primitive of the wait, which may be locked.
//   - A task may have eager bodies, which share its slots. While the task waits, their waits call no hook.
//
// Cost. Without hooks: a slot is entered and left by some stores. With hooks: the constructor allocates one frame; that
// frame is queued in place of the coroutine when a wait ends, calls the hooks, and passes control on. While any slot
// with hooks exists, each wait of the process pays the calls that it pays while an observer is installed, less the
// frame. Otherwise a coroutine without slots pays nothing.
//
// Stacks. A slot with hooks keeps the stack of its fiber in place, even if the fiber may hibernate. On a copied stack
// it is fatal.
//
// Errors. A slot that is left by the code of another coroutine, or before a slot inside of it, is fatal. At check level
// `debug`, so is a coroutine that ends and has entered slots. The messages name the slot's kind and both coroutines.
//
// fork(). The child has the slots of the coroutine that forked.
//
// Thread safety. The coroutine's own code alone uses its slots.
#pragma once
#include <hocket/core/context.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <coroutine>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class coroutine_slot;

// A kind of slot, one object for each extension. Its address is its identity.
struct slot_kind {
  const char* name;  // for people; a literal
  void (*on_suspend)(coroutine_slot& slot) noexcept = nullptr;
  void (*on_resume)(coroutine_slot& slot) noexcept = nullptr;

  constexpr bool has_hooks() const noexcept { return on_suspend || on_resume; }
};

struct slot_resumer;

// See above. Other code derives from it.
class coroutine_slot {
 public:
  coroutine_slot(const coroutine_slot&) = delete;
  coroutine_slot& operator=(const coroutine_slot&) = delete;

  const slot_kind& kind() const noexcept { return *kind_; }
  bool is_entered() const noexcept { return owner_ != nullptr; }

  // The innermost slot of that kind, beginning with `innermost`; null: there is none. Constant time if `innermost` has
  // that kind; else linear in the slots of other kinds.
  static coroutine_slot* find(coroutine_slot* innermost, const slot_kind& kind) noexcept {
    while (innermost && innermost->kind_ != &kind) [[unlikely]]
      innermost = innermost->outer_;
    return innermost;
  }
  // The next slot of the same kind outwards; null: there is none.
  coroutine_slot* outer() const noexcept { return find(outer_, *kind_); }

 protected:
  // Enters the slot, if a coroutine runs. Throws bad_alloc if the kind has hooks.
  explicit coroutine_slot(const slot_kind& kind);
  ~coroutine_slot() {
    if (owner_) leave();
  }
  // For the destructor of a derived class: the slot is no longer found.
  void leave() noexcept;

 private:
  friend struct slot_resumer;
  void expect_own_code() const noexcept;

  const slot_kind* const kind_;
  coroutine_slot* outer_ = nullptr;   // the slot that was the innermost before
  context* owner_ = nullptr;          // where the slot is in the list; null: it is unentered
  const char* owner_name_ = nullptr;  // for messages: the owner may be gone
  slot_resumer* resumer_ = nullptr;   // owned; if the kind has hooks
};

// At check level `debug`: the coroutine of this context has ended, and has a slot.
[[noreturn, HOCKET_COLD]] void report_left_slot(const context& ended) noexcept;

// The running code's innermost slot of that kind; null: it has none.
inline coroutine_slot* current_coroutine_slot(const slot_kind& kind) noexcept {
  const context* const ctx = this_thread().ctx;
  return ctx ? coroutine_slot::find(ctx->slot(), kind) : nullptr;
}

}}}  // namespace hocket::detail
