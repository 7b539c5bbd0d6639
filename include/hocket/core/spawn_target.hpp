// The spawn target is the interface of the first argument of `spawn(target, ...)`: a runtime, a loop, a scope, a
// task_manager.
//
// The life of a spawned coroutine as its target sees it:
//   1. enroll(): on the spawning thread, for one coroutine or for several. An error refuses them all (a limit, a
//      shutdown); none has been started.
//   2. home() runs the coroutine, under a context below parent_context(). The context does not own its parent: home()
//      and parent_context() live until the coroutine's leave().
//   3. leave(): on the thread that ended the coroutine, after its result is stored and its joiner woken. The target
//      gets no later call for it. A target is joined when as many have left as were enrolled. It lives that long, and
//      so does the stop source of its parent_context().
// A daemon has the same life, with enroll_daemons() and leave_daemon(), under the context of its daemon_group.
//
// If no handle can receive an exception any more, the function that on_unhandled() returns receives it. The function
// has no state, because the last handle may outlive the target.
#pragma once
#include <hocket/core/context.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI {

class executor;

// Handles an exception of a coroutine whose handle was dropped unawaited. Called on the thread that ended the
// coroutine, or later on the thread that dropped the handle. In the second case the target may be destroyed, and only
// the name and the spawn's location of `ctx` may be used. Must not throw.
using unhandled_handler = void (*)(std::exception_ptr error, const context& ctx) noexcept;

// An owner of spawned coroutines; see above.
class spawn_target {
 public:
  virtual executor& home() noexcept = 0;
  virtual context& parent_context() noexcept = 0;
  [[nodiscard]] virtual std::error_code enroll(std::size_t count) noexcept = 0;
  // Like enroll(), for children of a scope below this target. They are a part of the running work, so a target that
  // accepts nothing new may still accept them.
  [[nodiscard]] virtual std::error_code enroll_children(std::size_t count) noexcept { return enroll(count); }
  virtual void leave() noexcept = 0;
  virtual unhandled_handler on_unhandled() const noexcept = 0;

  // The default target for spawns by the target's coroutines. Usually this target.
  virtual spawn_target& for_children() noexcept { return *this; }
  // The target below the scopes that the target's coroutines make.
  virtual spawn_target& for_scopes() noexcept { return for_children(); }

  // The target of this target's daemons (core/spawn/seam/daemon_group.hpp). Throws bad_alloc. The default: there are
  // none, and a daemon is a coroutine like any other.
  virtual spawn_target& daemons() { return *this; }
  // enroll(), enroll_children() and leave() for daemons. By their daemon_group.
  [[nodiscard]] virtual std::error_code enroll_daemons(std::size_t count, bool are_children) noexcept {
    return are_children ? enroll_children(count) : enroll(count);
  }
  virtual void leave_daemon() noexcept { leave(); }

  // For dumps: the id of the only coroutine of this target, until it has left. 0: no id.
  virtual std::uint64_t coroutine_id() const noexcept { return 0; }
  // Whether the target has threads of its own, so that a thread that waits for its coroutines need not run them.
  virtual bool runs_by_itself() const noexcept { return false; }

 protected:
  ~spawn_target() = default;
};

// The default unhandled_handler: fatal. The message names the coroutine and the exception.
[[noreturn]] void abort_on_unhandled(std::exception_ptr error, const context& ctx) noexcept;

namespace detail {
// A spawn target, or an object that leads to one.
template <class W>
concept spawnable_on = requires(W& target) {
  { target.as_spawn_target() } -> std::convertible_to<spawn_target&>;
} || std::derived_from<W, spawn_target>;
}  // namespace detail

}}  // namespace hocket
