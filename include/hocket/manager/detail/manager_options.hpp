// Options, snapshots and totals of a task manager (task_manager.hpp).
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/core/spawn_options.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/core/thread/seam/frame.hpp>
#include <hocket/coro/outcome.hpp>
#include <hocket/manager/task_id.hpp>
#include <source_location>

namespace hocket { inline namespace HOCKET_ABI {

// Options for task_manager.
struct manager_options {
  literal_name name = "task manager";        // for coroutines without a name of their own
  std::size_t limit = 0xffff'ffff;           // the maximum of coroutines and expected replies together
  const clock_source* clock = nullptr;       // deadlines pass in tick(); outlives the manager. Null: executor's timers
  unhandled_handler on_unhandled = nullptr;  // null: that of the loop or runtime
};
static_assert(detail::owns_nothing<manager_options>);

// Options for a managed coroutine. spawn_options describes the members without a comment.
struct task_options {
  literal_name name{};
  duration within = duration::max();  // the deadline, counted from the spawn; may be moved
  task_group group{};
  void* data = nullptr;  // the program's own; find() returns it
  std::size_t stack_size = 0;
  stack_kind stack = stack_kind::own;
  duration hibernate_after = duration::max();
  bool own_floating_point = false;
  bool daemon = false;  // does not count for the limit of the manager
  std::source_location location = std::source_location::current();
};
static_assert(detail::owns_nothing<task_options>);

// Options for an expected reply.
struct expect_options {
  duration within = duration::max();
  task_group group{};
  void* data = nullptr;
  std::source_location location = std::source_location::current();
};
static_assert(detail::owns_nothing<expect_options>);

// A snapshot of the work behind an id.
struct task_info {
  task_id id = task_id::none;
  bool expected = false;          // true: a reply; false: a coroutine
  detail::coroutine_kind kind{};  // of a coroutine: task or fiber
  const char* name = "";          // of a coroutine
  task_group group{};
  void* data = nullptr;
  time_point deadline = time_point::max();
  outcome_kind stop_reason = outcome_kind::none;  // the manager's request: none, cancelled, timed_out, killed
  std::source_location spawned{};
};

// Totals since construction; `live` and `expected` are current numbers. Ended coroutines and replies are also counted
// by outcome.
struct manager_counts {
  std::size_t live = 0, expected = 0;  // coroutines with an id, replies
  std::size_t refused = 0;             // coroutines and replies: at the limit, or after close()
  std::size_t spawned = 0;
  std::size_t returned = 0, thrown = 0, cancelled = 0, timed_out = 0, killed = 0;  // outcomes of the spawned
  std::size_t promised = 0;
  // Of the promised: given or failed; timed out; dropped or cancelled.
  std::size_t completed = 0, expired = 0, abandoned = 0;
  std::size_t late = 0;  // replies to an id that is no longer expected, or never was
};

}}  // namespace hocket
