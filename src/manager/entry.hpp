// One place of a task manager: a coroutine with an id, or a promised reply.
//
// Places lie in tables (shard.hpp), never move, and are used again and again; the id has the number of the use. What a
// place holds is guarded by the mutex of its table, but for its standing in a group, which is guarded by that of the
// groups. Its states:
//
//   free       in the list of free places     -> opening
//   opening    nobody finds it yet            -> coroutine, reply, leaving (the spawn threw)
//   coroutine  spawned                        -> leaving (its end)
//   reply      promised                       -> leaving (taken, not wanted, timed out, cancelled)
//   leaving    nobody finds it any more; it leaves its group      -> free
//
// The place of a coroutine is its spawn_target (entry_target.cpp): so it hears of the end of just this one. It holds a
// reference to it (scheduled.hpp), which whoever wants to stop it copies under the lock and asks without: a request
// runs through other people's locks.
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

// The part of a shard that its places know.
struct place_table {
  manager_core* manager = nullptr;
  std::uint32_t index = 0;
  mutable thread_mutex mutex;
};

// In the list of a group. One without an entry marks how far somebody has come.
struct group_member : list_node {
  managed_entry* of = nullptr;
};
struct group {
  list<group_member> members;
  std::size_t size = 0;
};

// What is said of a place as it is opened.
struct entry_options {
  literal_name name;
  duration within;
  task_group group;
  void* data;
  std::source_location at;
  bool daemon;
};

enum class entry_state : std::uint8_t { free, opening, coroutine, reply, leaving };

// As a timer_node it is its own deadline; out of the wheel it stands in the lists of its shard.
struct managed_entry final : spawn_target, private wait_source, timer_node {
  static constexpr unsigned table_bits = under_model ? 1 : 3;  // of an id (shard.hpp)

  // `expiry`: what the timer wheel calls at the deadline.
  managed_entry(place_table& table, std::uint32_t number, const timer_kind& expiry) noexcept;

  task_id id() const noexcept;
  bool is_there() const noexcept { return state == entry_state::coroutine || state == entry_state::reply; }
  // Its deadline has passed; perhaps before anybody could find it: then whoever puts it there sees to that.
  bool is_late() const noexcept { return asked == outcome_kind::timed_out; }
  bool has_deadline() const noexcept { return when != time_point::max(); }

  // Under the lock.
  void begin_use(const entry_options& options) noexcept;
  void hold(scheduled& target) noexcept;
  void hold(const promise_kind& type, void* value) noexcept;
  void describe(task_info& into) const noexcept;
  outcome_kind how_it_ended() const noexcept;
  void wait_for_end(suspension& wait, waiter& entry) noexcept;
  // Claims the waits for the end of the coroutine, and stores in each how the coroutine ended.
  void claim_waiting(outcome_kind how, grants& told) noexcept;

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
  outcome_kind asked = outcome_kind::none;  // by the manager
  scheduled* coroutine = nullptr;
  const promise_kind* kind = nullptr;  // of a reply, as the next
  void* promise = nullptr;
  task_group belongs_to{};
  void* user_data = nullptr;
  std::source_location at{};
  group_member membership;
  group* in = nullptr;
  wait_queue waiting;  // for its end

 private:
  const char* what() const noexcept override { return "the end of a managed coroutine"; }
  const char* subject() const noexcept override;
  const void* holder() const noexcept override;
  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}
  void show(const scheduled* made) noexcept;

  // Of its coroutine, for those who show a wait for its end: they hold no lock, and on another executor than its own it
  // may end meanwhile.
  atomic<const char*> shown_name_{nullptr};
  atomic<const void*> shown_holder_{nullptr};
};

}}}  // namespace hocket::detail
