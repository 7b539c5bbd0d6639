// Another context for a block of code that runs on a stack: what it waits for and what it starts, inside of the
// block, has these (context_local, shielded).
//
// A fiber's own context is changed while the block runs: the fiber may be suspended in it, and its switch knows but
// that one context (static_cast of what stands in its control block; nothing is to be looked up there). Only code of
// the fiber's own reads what is changed: what it starts, eager bodies too, has a context of its own. Anything else has
// a context of the block's for the current one: a plain thread; and a task or an eager body, which may share its
// context with others that run meanwhile, and does not suspend in a block.
//
// For tasks that do suspend there is context_entry: awaited by a task as its first step, it gives that task, and what
// it awaits, a context of their own. It must be the task's alone (a local of the task), so that its end restores what
// was.
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
  context* own_;        // the fiber's; null: the code is that of no fiber
  inheritance before_;  // of a fiber
  context_ptr inner_;   // of others
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
  context* before_ = nullptr;  // the current one
};

// What shielded code inherits: no deadline, and of stops from outside only a kill. Lives as long as that code runs.
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
