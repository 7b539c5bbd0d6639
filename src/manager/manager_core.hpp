// The inside of a task manager: what its coroutines, its replies and the manager itself share, and who frees it.
//
// One word counts what is live and who holds it (life_count.hpp); whoever takes the last of all frees it. So a
// coroutine that unwinds after its manager, and an expectation that outlives it, find it there. When the last live one
// goes, those who wait in join() are told, and the keeper rests.
//
// The end of a coroutine, in leave() of its place: 1. under the lock of its table its id is forgotten, and those who
// wait for its end are taken out; 2. it leaves its group, and the place is free; 3. they are told; 4. the reference to
// the coroutine is given up; 5. one less is live; 6. the target below is told, and may end now. Nothing of the inside
// is touched after 5.
//
// Locks: of a table, of a table of groups, of the keeper, of the joiners. None is held while another of them is taken,
// nor while a coroutine is stopped, a wait granted or a promise failed. The keeper's is held while it sets its timer.
//
// What is just being spawned or promised is not there yet: whoever stops its group or everything by id comes before it.
// Daemons are counted apart from live coroutines and replies, and each holds the inside. If a join waits, and nothing
// is live, the daemons are cancelled: by the join, by the end of the last live coroutine, and by the spawn of a later
// daemon. All three read the joiners under their lock, so the last of them finds the others.
//
// cancel_all() and kill_all() are meant for what comes, too. A coroutine finds that in the stop source of the manager;
// a reply looks for it as it is published, under the lock that the sweep takes, too: so one of them sees the other.
#pragma once
#include <hocket/core/spawn/seam/daemon_group.hpp>
#include <hocket/primitive.hpp>
#include <manager/groups.hpp>
#include <manager/keeper.hpp>
#include <manager/life_count.hpp>
#include <manager/shard.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class manager_core final : private wait_source, private timed_work {
 public:
  manager_core(spawn_target& on, const manager_options& options, std::source_location at);

  // --- the count
  void enter(std::size_t count) noexcept { lives_.enter(count); }
  void leave() noexcept;  // may free it
  void hold() noexcept override { lives_.hold(); }
  void let_go() noexcept override;                                      // may free it
  std::size_t live() const noexcept override { return lives_.live(); }  // without daemons
  std::size_t size() const noexcept {
    return daemons_.plus([this]() noexcept { return live(); });
  }
  bool is_empty() const noexcept override { return size() == 0; }
  void enter_daemons(std::size_t count) noexcept;
  void leave_daemon() noexcept;  // may free it

  // --- places
  managed_entry* open(const entry_options& options, std::error_code& why);  // null: refused, and why; throws bad_alloc
  void close_place(managed_entry& entry) noexcept;                          // nothing came of it
  void end(managed_entry& entry) noexcept;                                  // its coroutine has ended
  void refuse(managed_entry& entry) noexcept;                               // its coroutine was not started
  spawn_target& refusing(std::error_code why) noexcept;
  shard& shard_of(task_id id) noexcept { return shards_[static_cast<std::uint64_t>(id) % std::size(shards_)]; }

  // --- by id
  std::error_code stop(task_id id, stop_level level) noexcept;
  std::error_code set_deadline(task_id id, time_point when);
  // A promise leaves its place, counted as told. `kind` null: any, and then says which.
  void* take(task_id id, const promise_kind*& kind, std::error_code& why, std::size_t manager_counts::* how) noexcept;
  std::error_code fail(task_id id, std::error_code why, std::size_t manager_counts::* how) noexcept;
  void begin_wait(task_id id, suspension& wait, waiter& entry, std::errc& failed) noexcept;

  // --- all
  void close() noexcept;
  void stop_all(stop_level level) noexcept;
  std::size_t stop_group(task_group of, stop_level level) noexcept;
  std::size_t group_size(task_group of) noexcept { return groups_.size(of); }
  time_point expire() noexcept override;  // when the next deadline passes, or before
  std::size_t list_from(std::uint64_t& place, task_info* into, std::size_t room) noexcept;
  manager_counts counts() noexcept;

  // --- joining
  void begin_join(suspension& wait, waiter& entry) noexcept;
  bool runs_here() const noexcept;
  task_id current() const noexcept;

  const clock_source& time() const noexcept { return time_; }
  bool keeps_time() const noexcept { return &time_ == &home_clock_; }
  executor& home() const noexcept override { return home_; }
  spawn_target& on() const noexcept override { return on_; }
  // Where the manager enrols its coroutines, and its daemons: there was one.
  spawn_target& target_below(bool daemon) const noexcept { return daemon ? *daemons_below() : on_; }
  // Null: there was no daemon.
  spawn_target* daemons_below() const noexcept override {
    const daemon_group* const group = daemon_group_.get();
    return group ? group->below() : nullptr;
  }
  daemon_group& daemons();  // throws bad_alloc
  // There was a daemon.
  spawn_target& present_daemons() const noexcept { return *daemon_group_.get(); }
  context& daemon_context() const noexcept { return present_daemons().parent_context(); }
  spawn_target& children() noexcept { return children_; }
  context& parent_context() const noexcept { return *context_; }
  stop_source& stops() noexcept { return stop_; }
  unhandled_handler on_unhandled() const noexcept { return unhandled_; }

 private:
  // The executor's.
  struct home_clock final : clock_source {
    explicit home_clock(executor& home) noexcept : of(home) {}
    time_point now() const noexcept override;
    executor& of;
  };
  // What its coroutines spawn without saying where.
  struct child_target final : spawn_target {
    explicit child_target(manager_core& of) noexcept : core(of) {}
    executor& home() noexcept override { return core.home_; }
    context& parent_context() noexcept override { return *core.context_; }
    std::error_code enroll(std::size_t count) noexcept override;
    std::error_code enroll_children(std::size_t count) noexcept override;
    void leave() noexcept override;
    spawn_target& daemons() override { return core.daemons(); }
    std::error_code enroll_daemons(std::size_t count, bool are_children) noexcept override;
    void leave_daemon() noexcept override;
    unhandled_handler on_unhandled() const noexcept override { return core.unhandled_; }
    bool runs_by_itself() const noexcept override { return core.on_.runs_by_itself(); }
    manager_core& core;
  };
  // Where what was refused is spawned.
  struct refusal final : spawn_target {
    refusal(manager_core& of, errc why) noexcept : core(of), error(why) {}
    executor& home() noexcept override { return core.home_; }
    context& parent_context() noexcept override { return *core.context_; }
    std::error_code enroll(std::size_t) noexcept override { return make_error_code(error); }
    void leave() noexcept override {}
    unhandled_handler on_unhandled() const noexcept override { return core.unhandled_; }
    manager_core& core;
    const errc error;
  };
  shard& shard_here() noexcept;
  managed_entry& open_admitted(const entry_options& options);
  time_point deadline_of(const entry_options& options) const noexcept;
  managed_entry* refuse_place(std::error_code why, std::error_code& reason) noexcept;
  void leave_as(bool daemon) noexcept;
  void cancel_daemons_of_join() noexcept;
  void conclude(managed_entry& entry) noexcept;
  static bool end_use(managed_entry& entry) noexcept;
  void leave_group(managed_entry& entry) noexcept;
  void none_left() noexcept;
  bool expire_some(shard& table, time_point& next) noexcept;
  void pass(const expired_place& due) noexcept;

  const char* what() const noexcept override { return "the end of all work of a task manager"; }
  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  executor& home_;
  spawn_target& on_;
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
  keeper keeper_{*this};
  groups groups_;
  thread_mutex joining_;
  wait_queue joiners_;  // guarded by joining_
  shard shards_[std::size_t{1} << shard::shard_bits];
};

}}}  // namespace hocket::detail
