// manager_core: the state that a task manager shares with its coroutines and replies.
//
// Lifetime. One word counts the live coroutines and replies, and the holders (life_count.hpp). The thread that removes
// the last of all frees manager_core. So a coroutine that unwinds after its manager, and an expectation that outlives
// the manager, may use it. When the last live one ends, the joiners are notified, and the deadline timer is disarmed.
//
// The end of a coroutine, in leave() of its place
//   1. Under the lock of its table, its id is invalidated and the waiters for its end are claimed.
//   2. It leaves its group, and its place is free.
//   3. The waiters are posted.
//   4. The reference to the coroutine is released.
//   5. The live count is decremented. After that manager_core is not touched.
//   6. The target below is notified, and may end.
//
// Locks: of a table, of a table of groups, of the deadline timer, of the joiners. None is held while another of them is
// taken, or while a coroutine is stopped, a wait is granted or a promise fails. The lock of the deadline timer is held
// while it arms its timer.
//
// Order of stops. A spawn or promise that is under way has no id yet, so a stop by id of its group, or of everything,
// comes before it. cancel_all() and kill_all() also concern later work. A coroutine reads the request in the stop
// source of the manager. A reply reads it when it is published, under the lock that the sweep takes, too: one of both
// sees the other.
//
// Daemons are counted apart from live coroutines and replies, and each is a holder. If there is a joiner, and nothing
// is live, the daemons are cancelled: by the join, by the end of the last live coroutine, and by the spawn of a later
// daemon. All three read the joiners under their lock, so the last of them sees the others.
#pragma once
#include <hocket/core/spawn/seam/daemon_group.hpp>
#include <hocket/primitive.hpp>
#include <manager/deadline_timer.hpp>
#include <manager/groups.hpp>
#include <manager/life_count.hpp>
#include <manager/shard.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class manager_core final : private wait_source, private timed_work {
 public:
  manager_core(spawn_target& target, const manager_options& options, std::source_location location);

  // --- the count
  void enter(std::size_t count) noexcept { lives_.enter(count); }
  void leave() noexcept;  // may free it
  void retain() noexcept override { lives_.retain(); }
  void release() noexcept override;                                     // may free it
  std::size_t live() const noexcept override { return lives_.live(); }  // without daemons
  std::size_t size() const noexcept {
    return daemons_.plus([this]() noexcept { return live(); });
  }
  bool is_empty() const noexcept override { return size() == 0; }
  void enter_daemons(std::size_t count) noexcept;
  void leave_daemon() noexcept;  // may free it

  // --- places
  managed_entry* open(const entry_options& options,
                      std::error_code& error);      // null: refused, with the error; throws bad_alloc
  void close_place(managed_entry& entry) noexcept;  // the spawn failed
  void end(managed_entry& entry) noexcept;          // its coroutine has ended
  void refuse(managed_entry& entry) noexcept;       // its coroutine was not started
  spawn_target& refusing(std::error_code error) noexcept;
  shard& shard_of(task_id id) noexcept { return shards_[static_cast<std::uint64_t>(id) % std::size(shards_)]; }

  // --- by id
  std::error_code stop(task_id id, stop_level level) noexcept;
  std::error_code set_deadline(task_id id, time_point when);
  // A promise leaves its place, and `counter` is incremented. `kind` null: any kind; it is set then.
  void* take(task_id id, const promise_kind*& kind, std::error_code& error,
             std::size_t manager_counts::* counter) noexcept;
  std::error_code fail(task_id id, std::error_code error, std::size_t manager_counts::* counter) noexcept;
  void begin_wait(task_id id, suspension& wait, waiter& entry, std::errc& failed) noexcept;

  // --- all
  void close() noexcept;
  void stop_all(stop_level level) noexcept;
  std::size_t stop_group(task_group group, stop_level level) noexcept;
  std::size_t group_size(task_group group) noexcept { return groups_.size(group); }
  time_point expire() noexcept override;  // the time of the next deadline, or an earlier time
  std::size_t list_from(std::uint64_t& place, task_info* buffer, std::size_t capacity) noexcept;
  manager_counts counts() noexcept;

  // --- joining
  void begin_join(suspension& wait, waiter& entry) noexcept;
  bool runs_here() const noexcept;
  task_id current() const noexcept;

  const clock_source& time() const noexcept { return time_; }
  bool uses_executor_time() const noexcept { return &time_ == &home_clock_; }
  executor& home() const noexcept override { return home_; }
  spawn_target& target() const noexcept override { return target_; }
  // The target where the manager enrols its coroutines, or its daemons. With `daemon`, there has been a daemon.
  spawn_target& target_below(bool daemon) const noexcept { return daemon ? *daemons_below() : target_; }
  // Null: there has been no daemon.
  spawn_target* daemons_below() const noexcept override {
    const daemon_group* const group = daemon_group_.get();
    return group ? group->below() : nullptr;
  }
  daemon_group& daemons();  // throws bad_alloc
  // There has been a daemon.
  spawn_target& present_daemons() const noexcept { return *daemon_group_.get(); }
  context& daemon_context() const noexcept { return present_daemons().parent_context(); }
  spawn_target& children() noexcept { return children_; }
  context& parent_context() const noexcept { return *context_; }
  stop_source& stops() noexcept { return stop_; }
  unhandled_handler on_unhandled() const noexcept { return unhandled_; }

 private:
  // The clock of the executor.
  struct home_clock final : clock_source {
    explicit home_clock(executor& home) noexcept : home_executor(home) {}
    time_point now() const noexcept override;
    executor& home_executor;
  };
  // The default target for spawns of the managed coroutines.
  struct child_target final : spawn_target {
    explicit child_target(manager_core& owner) noexcept : core(owner) {}
    executor& home() noexcept override { return core.home_; }
    context& parent_context() noexcept override { return *core.context_; }
    std::error_code enroll(std::size_t count) noexcept override;
    std::error_code enroll_children(std::size_t count) noexcept override;
    void leave() noexcept override;
    spawn_target& daemons() override { return core.daemons(); }
    std::error_code enroll_daemons(std::size_t count, bool are_children) noexcept override;
    void leave_daemon() noexcept override;
    unhandled_handler on_unhandled() const noexcept override { return core.unhandled_; }
    bool runs_by_itself() const noexcept override { return core.target_.runs_by_itself(); }
    manager_core& core;
  };
  // The target of refused spawns.
  struct refusal final : spawn_target {
    refusal(manager_core& owner, errc reason) noexcept : core(owner), error(reason) {}
    executor& home() noexcept override { return core.home_; }
    context& parent_context() noexcept override { return *core.context_; }
    std::error_code enroll(std::size_t) noexcept override { return make_error_code(error); }
    void leave() noexcept override {}
    unhandled_handler on_unhandled() const noexcept override { return core.unhandled_; }
    manager_core& core;
    const errc error;
  };
  shard& shard_of_thread() noexcept;
  managed_entry& open_admitted(const entry_options& options);
  time_point deadline_of(const entry_options& options) const noexcept;
  managed_entry* refuse_place(std::error_code error, std::error_code& reason) noexcept;
  void leave_as(bool daemon) noexcept;
  void cancel_daemons_of_join() noexcept;
  void conclude(managed_entry& entry) noexcept;
  static bool end_use(managed_entry& entry) noexcept;
  void leave_group(managed_entry& entry) noexcept;
  void on_idle() noexcept;
  bool expire_batch(shard& table, time_point& next) noexcept;
  void expire_place(const expired_place& due) noexcept;

  const char* what() const noexcept override { return "the end of all work of a task manager"; }
  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  executor& home_;
  spawn_target& target_;
  const home_clock home_clock_{home_};
  const clock_source& time_;
  const std::size_t limit_;
  const unhandled_handler unhandled_;
  stop_source stop_;
  context_ptr context_;
  child_target children_{*this};
  refusal at_limit_{*this, errc::full};
  refusal closed_target_{*this, errc::cancelled};
  atomic<bool> closed_{false};
  life_count lives_;
  daemon_count daemons_;  // each is a holder in lives_
  daemon_slot daemon_group_;
  atomic<std::size_t> refused_{0};
  deadline_timer deadline_timer_{*this};
  groups groups_;
  thread_mutex joiners_mutex_;
  wait_queue joiners_;  // guarded by joiners_mutex_
  shard shards_[std::size_t{1} << shard::shard_bits];
};

}}}  // namespace hocket::detail
