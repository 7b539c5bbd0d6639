// What `spawn(where, ...)` needs of a *where*: a runtime, a loop, a scope, a task_manager.
//
// The life of a spawned coroutine as its target sees it:
//   1. enroll(): on the spawning thread, for one or for several. An error refuses them all (a limit, a shut-down);
//      nothing has been started.
//   2. home() runs it, under a context below parent_context(), which it does not count: they are there until it has
//   left.
//   3. leave(): on the thread that ended it, after its result is stored and its joiner woken; the target does not hear
//      of it any more. A target is joined when as many have left as were enrolled; it lives that long,
//      and so does the stop source of its parent_context().
// An exception that no handle can receive any more goes to on_unhandled(), a function without state, because the last
// handle may outlive the target.
#pragma once
#include <hocket/core/context.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI {

class executor;

// What to do with an exception that left a coroutine and that nobody can receive: its handle was dropped unawaited.
// Runs on the thread that ended the coroutine, or later on that which dropped the handle: then the target may be gone,
// and of the context only its name and the place of the spawn may be used. Must not throw.
using unhandled_handler = void (*)(std::exception_ptr error, const context& ctx) noexcept;

// Where coroutines are spawned; see above.
class spawn_target {
 public:
  virtual executor& home() noexcept = 0;
  virtual context& parent_context() noexcept = 0;
  [[nodiscard]] virtual std::error_code enroll(std::size_t count) noexcept = 0;
  // The same for children of a scope below this target: a part of what is there already, which a target that takes
  // nothing new may still let go on.
  [[nodiscard]] virtual std::error_code enroll_children(std::size_t count) noexcept { return enroll(count); }
  virtual void leave() noexcept = 0;
  virtual unhandled_handler on_unhandled() const noexcept = 0;

  // Where what its coroutines spawn belongs, when they do not say where: usually here.
  virtual spawn_target& for_children() noexcept { return *this; }
  // For dumps: the id of the one coroutine that it is for; 0 if it gives none. Until that has left.
  virtual std::uint64_t coroutine_id() const noexcept { return 0; }
  // Whether it has threads of its own, so that a thread which waits for its coroutines need not run them.
  virtual bool runs_by_itself() const noexcept { return false; }

 protected:
  ~spawn_target() = default;
};

// What a target does about an exception that nobody can receive unless it was told otherwise: fatal, naming the
// coroutine and the exception.
[[noreturn]] void abort_on_unhandled(std::exception_ptr error, const context& ctx) noexcept;

namespace detail {
// A *where*: the target itself or an object that leads to one.
template <class W>
concept spawnable_on = requires(W& where) {
  { where.as_spawn_target() } -> std::convertible_to<spawn_target&>;
} || std::derived_from<W, spawn_target>;
}  // namespace detail

}}  // namespace hocket
