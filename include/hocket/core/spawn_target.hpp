// What `spawn(where, ...)` needs of a *where*: a runtime, a loop, a scope, a task_manager.
//
// The life of a spawned coroutine as its target sees it:
//   1. enroll(member): before the first run. An error refuses it (a limit, a shut-down); nothing has been started.
//   2. home() runs it, under a child of surroundings().
//   3. leave(member): after it has ended and its result is stored, on the executor that ended it; the target must not
//      touch the member afterwards. A join waits until every enrolled member has left.
// An exception that no handle can receive any more goes to unhandled() before leave().
#pragma once
#include <hocket/base/list.hpp>
#include <hocket/core/context.hpp>
#include <concepts>
#include <exception>
#include <system_error>

namespace hocket::inline HOCKET_ABI {

class executor;

// The link by which a target lists a coroutine; embedded in what spawn allocates for it.
struct spawn_member : list_node {
  context_ptr ctx;
};

class spawn_target {
 public:
  virtual executor& home() noexcept = 0;
  virtual context& surroundings() noexcept = 0;
  [[nodiscard]] virtual std::error_code enroll(spawn_member& member) noexcept = 0;
  virtual void leave(spawn_member& member) noexcept = 0;
  virtual void unhandled(std::exception_ptr error, const context& ctx) noexcept = 0;

 protected:
  ~spawn_target() = default;
};

// A *where*: the target itself or an object that leads to one.
template <class W>
concept spawnable_on = requires(W& where) {
  { where.as_spawn_target() } -> std::convertible_to<spawn_target&>;
} || std::derived_from<W, spawn_target>;

}  // namespace hocket::inline HOCKET_ABI
