// Another context for a block of code that runs on a stack (context_local, shielded): the waits and spawns in the block
// use it.
//
// In a fiber, the fiber's own context is changed while the block runs. The fiber may be suspended in the block, and its
// switch knows only that context (its control block points to it). Only the fiber's own code reads the changed state:
// coroutines and eager bodies that it starts have contexts of their own. Other code gets a context of the block as the
// current one: a plain thread; and a task or an eager body, which may share its context with others that run meanwhile,
// and does not suspend in a block.
//
// context_entry is for tasks that do suspend. A task awaits it as its first step; then that task, and the tasks that it
// awaits, have the inner context. It must be a local of the task, so that its end restores the outer context.
#pragma once
#include <hocket/core/awaitable.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/context/seam/stop_link.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/frame.hpp>
#include <hocket/core/wait/seam/stack_hooks.hpp>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class context_block {
 public:
  // Throws bad_alloc, but not in a fiber.
  explicit context_block(inheritance inherited);
  context_block(const context_block&) = delete;
  context_block& operator=(const context_block&) = delete;
  // Fatal if the block was left in another order than it was entered, by a raw coroutine that yielded in it.
  ~context_block();

 private:
  context* own_;        // of the fiber; null: the code runs in no fiber
  inheritance before_;  // for a fiber
  context_ptr inner_;   // for other code
  context* outer_ = nullptr;
  const context_binding* bound_;
  const stop_source* stop_;
};

class context_entry : public own_awaiter {
 public:
  explicit context_entry(context_ptr inner) noexcept : inner_(std::move(inner)) {}
  context_entry(const context_entry&) = delete;
  context_entry& operator=(const context_entry&) = delete;
  ~context_entry() {
    if (header_) leave();
  }

  static bool await_ready() noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> task) noexcept {
    enter(task.promise());
    return false;
  }
  static void await_resume() noexcept {}

 private:
  void enter(coroutine_header& task) noexcept;
  void leave() noexcept;

  const context_ptr inner_;
  coroutine_header* header_ = nullptr;
  context* outer_ = nullptr;
  context* before_ = nullptr;  // the context that was current before
};

// The inheritance of shielded code: no deadline, and of outer stops only a kill. It lives as long as that code runs.
class stop_shield {
 public:
  explicit stop_shield(const context& outer) noexcept;
  inheritance inherited() noexcept { return {link_ ? &stop_ : nullptr, time_point::max(), bindings_}; }

 private:
  const stack_pin pin_{this, "shielded code"};
  const binding_ptr bindings_;
  stop_source stop_;
  std::optional<stop_link> link_;
};

}}}  // namespace hocket::detail
