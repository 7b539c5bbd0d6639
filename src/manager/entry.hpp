// A place of a task manager: a coroutine with an id, or a promised reply.
//
// Places lie in tables (shard.hpp), never move, and are used again and again. The id contains the number of the use.
// The mutex of its table guards a place, except for the membership in a group, which the mutex of the groups guards.
//
//   state      meaning                                       next states
//   free       in the list of free places                    opening
//   opening    reserved; no id finds it                      coroutine, reply, leaving (the spawn threw)
//   coroutine  spawned                                       leaving (its end)
//   reply      promised                                      leaving (taken, dropped, timed out, cancelled)
//   leaving    no id finds it; it leaves its group           free
//
// A place is the spawn_target of its coroutine (entry_target.cpp), so it is notified when this coroutine ends. It holds
// a reference to the coroutine (scheduled.hpp). To stop the coroutine, a thread copies the reference under the lock and
// requests the stop after the unlock, because a request takes locks of other layers.
#pragma once
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/manager/detail/manager_options.hpp>
#include <hocket/manager/detail/promise_kind.hpp>
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class manager_core;
class scheduled;
struct managed_entry;

// The part of a shard that its places use.
struct place_table {
  manager_core* manager = nullptr;
  std::uint32_t index = 0;
  mutable thread_mutex mutex;
};

// A member of the list of a group. A member without an entry marks the position of a walk.
struct group_member : list_node {
  managed_entry* entry = nullptr;
};
struct group {
  list<group_member> members;
  std::size_t size = 0;
};

// Options for a new use of a place.
struct entry_options {
  literal_name name;
  duration within;
  task_group group;
  void* data;
  std::source_location location;
  bool daemon;
};

enum class entry_state : std::uint8_t { free, opening, coroutine, reply, leaving };

// As a timer_node it is its own deadline. While it is not in the wheel, it may be in a list of its shard.
struct managed_entry final : spawn_target, private wait_source, timer_node {
  static constexpr unsigned table_bits = under_model ? 1 : 3;  // of an id (shard.hpp)

  // `expiry`: what the timer wheel calls at the deadline.
  managed_entry(place_table& table, std::uint32_t number, const timer_kind& expiry) noexcept;

  task_id id() const noexcept;
  bool is_active() const noexcept { return state == entry_state::coroutine || state == entry_state::reply; }
  // Whether the deadline has passed. If it passes while the state is `opening`, bind() leaves the stop to its caller.
  bool is_late() const noexcept { return stop_reason == outcome_kind::timed_out; }
  bool has_deadline() const noexcept { return when != time_point::max(); }

  // Under the lock.
  void begin_use(const entry_options& options) noexcept;
  void bind(scheduled& target) noexcept;
  void bind(const promise_kind& type, void* value) noexcept;
  void describe(task_info& info) const noexcept;
  outcome_kind ending() const noexcept;
  void begin_wait(suspension& wait, waiter& entry) noexcept;
  // Claims the waits for the end of the coroutine, and stores in each how the coroutine ended.
  void claim_waiters(outcome_kind ending, grants& woken) noexcept;

  executor& home() noexcept override;
  context& parent_context() noexcept override;
  std::error_code enroll(std::size_t count) noexcept override;
  void leave() noexcept override;
  unhandled_handler on_unhandled() const noexcept override;
  spawn_target& for_children() noexcept override;
  spawn_target& for_scopes() noexcept override;
  std::uint64_t coroutine_id() const noexcept override { return static_cast<std::uint64_t>(id()); }

  place_table& table;
  const std::uint32_t number;  // in its table
  std::uint32_t use = 1;       // the number of the present use, or of the next
  entry_state state = entry_state::free;
  bool is_daemon = false;
  outcome_kind stop_reason = outcome_kind::none;  // the request of the manager
  scheduled* coroutine = nullptr;
  const promise_kind* kind = nullptr;  // of the reply, like `promise`
  void* promise = nullptr;
  task_group group_id{};
  void* user_data = nullptr;
  std::source_location location{};
  group_member membership;
  group* joined_group = nullptr;
  wait_queue waiters;  // for the end of the coroutine

 private:
  const char* what() const noexcept override { return "the end of a managed coroutine"; }
  const char* subject() const noexcept override;
  const void* holder() const noexcept override;
  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}
  void show(const scheduled* spawned) noexcept;

  // Of its coroutine, for a dump of a wait for its end. A dump holds no lock, and the coroutine may end meanwhile on
  // another executor.
  atomic<const char*> shown_name_{nullptr};
  atomic<const void*> shown_holder_{nullptr};
};

}}}  // namespace hocket::detail
