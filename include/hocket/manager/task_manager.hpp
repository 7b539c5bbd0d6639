// task_manager: coroutines that are known by a number.
//
//   task_manager tm(lp);                                              // or a runtime
//   auto h = spawn(tm, {.name = "login", .within = 3s, .group = player}, login, std::ref(tm), session);
//   tm.set_deadline(h.id(), 10s);   tm.cancel(h.id());   tm.kill_group(player);
//   auto how = co_await tm.wait(id);           // result<outcome_kind>: how the coroutine of that id has ended
//   auto name = then(std::move(h), name_of);   // the handle is one like any other: awaited, joined, a child of
//   when_all
//
//   auto reply = tm.expect<db_reply>({.within = 3s, .group = player});   // an id for a reply from outside
//   tm.complete(id, std::move(answer));                                  // manager/expectation.hpp
//
// An id stands for a coroutine of either kind from its spawn to its end, or for a reply from expect() until it is there
// or is not wanted any more; then it is forgotten, and never given again. With several threads that is a moment after
// its handle, or its receiver, was told. All that is asked by id is total, and answers with an error code, empty if it
// was done: no_such_process for an id that has ended or never was, invalid_argument for one of the other kind (a reply
// of another type, too), resource_deadlock_would_occur for a wait for oneself.
//
// Stopping. cancel() asks: the waits of the coroutine end with operation_canceled, but for those that are shielded.
// kill() unwinds it, shielded or not. A deadline that passes cancels it, too, but its waits end with timed_out, and it
// with outcome_kind::timed_out: what came first counts. It can be set, moved and taken away as long as it has not passed. A
// group is all work that was given one number: a player's, a connection's, a tenant's. What was stopped before it began
// does not begin (killed), or finds its first wait cancelled; what stops itself goes on to its next wait.
//
// How it ended (wait(), counts()): `value` if its body returned, whatever was asked of it; `exception` if one left it;
// else `cancelled`, `timed_out` or `killed`. What it gives, a result that is an error too, is its handle's.
//
// Places. A managed coroutine runs where the manager was made for, under its context. What it spawns without saying
// where, and what its scopes spawn, belongs to the manager, too, but has no id; a scope's children are stopped with it.
//
// Bounds. At `limit` coroutines and replies the next spawn is refused: its handle tells resource_unavailable_try_again
// (operation_canceled after close()), and so does the next expectation. A semaphore makes callers wait instead. What
// managed coroutines spawn without saying where counts, but is not refused. Places of coroutines that have ended are
// used again, and their memory is kept.
//
// Time. Deadlines are those of the executor, which sleeps until the first of them; until then the manager counts there
// as one more coroutine. On a runtime they pass on one of its workers: while that one is stuck in a coroutine that does
// not let go, they are late. With {.clock = &clock} they are the caller's, of that clock, and pass inside of tick().
//
// The end. join() waits until nothing is left. The destructor closes the manager, lets expected replies fail, kills
// what is left, and waits for it: in a fiber, and on a thread if the manager's executor has threads of its own. On a
// thread that runs its loop by itself nobody could go on meanwhile: what is left unwinds at the loop's next turn, or at
// its end, so it must not use the manager then. In a task it is fatal to leave coroutines: co_await tm.join() first;
// and so it is for one of its own coroutines. From then on nobody but its coroutines may call it; who waits for an id
// or in join() is told, and replies may be awaited and dropped. It ends before the loop or runtime that it was made
// for. It does not look for coroutines that wait for one another: loop::dump and runtime::dump do, and give their ids.
//
// Threads. All of it may be called from any thread. There are eight tables, and who spawns does so in that of its own
// thread, so threads meet only by chance; whoever looks for an id locks its table for a few instructions.
// Complexity. By id, and setting a deadline: O(1). A group: O(its members). for_each and counts: O(places).
#pragma once
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/base/result.hpp>
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/detail/spawn.hpp>
#include <hocket/core/detail/stop_link.hpp>
#include <hocket/coro/outcome.hpp>
#include <hocket/manager/expectation.hpp>
#include <iterator>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI {

// What may be said of a manager.
struct manager_options {
  literal_name name = "task manager";        // of its coroutines that have no name of their own
  std::size_t limit = 0xffff'ffff;           // how many coroutines and expected replies there may be
  const clock_source* clock = nullptr;        // its deadlines pass in tick(); null: the executor's timers. Outlives it
  unhandled_handler on_unhandled = nullptr;  // null: as the target does for which it is made
};
static_assert(detail::owns_nothing<manager_options>);

// What may be said about a managed coroutine; see spawn_options for what is not told here.
struct task_options {
  literal_name name{};
  duration within = duration::max();  // its deadline, counted from the spawn; may be moved
  task_group group{};
  void* data = nullptr;  // the program's own: find() gives it back
  std::size_t stack_size = 0;
  stack_kind stack = stack_kind::own;
  duration hibernate_after = duration::max();
  bool own_floating_point = false;
  std::source_location location = std::source_location::current();
};
static_assert(detail::owns_nothing<task_options>);

// The same of an expected reply.
struct expect_options {
  duration within = duration::max();
  task_group group{};
  void* data = nullptr;
  std::source_location location = std::source_location::current();
};
static_assert(detail::owns_nothing<expect_options>);

// What is known of an id, at the moment it was looked at.
struct task_info {
  task_id id = task_id::none;
  bool expected = false;          // a reply; else a coroutine
  detail::coroutine_kind kind{};  // of a coroutine: task or fiber
  const char* name = "";          // of a coroutine
  task_group group{};
  void* data = nullptr;
  time_point deadline = time_point::max();
  outcome_kind stop_reason = outcome_kind::none;  // by the manager: none, cancelled, timed_out, killed
  std::source_location spawned{};
};

// All since the manager was made; `live` and `expected` are those that there are now. What has ended or was taken is
// counted once more, by how.
struct manager_counts {
  std::size_t live = 0, expected = 0;  // coroutines with an id, replies
  std::size_t refused = 0;             // of both: at the limit, or after close()
  std::size_t spawned = 0;
  std::size_t returned = 0, thrown = 0, cancelled = 0, timed_out = 0, killed = 0;  // how the spawned ones have ended
  std::size_t promised = 0;
  std::size_t completed = 0, expired = 0, abandoned = 0;  // of the promised: given or failed; timed out; not wanted
  std::size_t late = 0;                                  // replies to an id that is not expected any more, or never was
};

// The handle of a managed coroutine, which knows its id; `none` if it was refused.
template <class T = void>
class managed_handle : public join_handle<T> {
 public:
  managed_handle() noexcept = default;
  managed_handle(join_handle<T> handle, task_id id) noexcept : join_handle<T>(std::move(handle)), id_(id) {}
  task_id id() const noexcept { return id_; }

 private:
  task_id id_ = task_id::none;
};

namespace detail {

// A wait keeps the inside until it is over: the manager may end as soon as it has told those who wait, and whoever
// cancels one of them at that moment comes to it a little later.
class managed_wait {
 public:
  void resumed() noexcept {
    if (std::exchange(held_, false)) release(*core_);
  }

 protected:
  explicit managed_wait(manager_core& core) noexcept : core_(&core) {}
  void hold() noexcept {
    retain(*core_);
    held_ = true;
  }
  manager_core* core_;

 private:
  op_flag held_;
};

class managed_end : public managed_wait {
 public:
  using value_type = outcome_kind;
  managed_end(manager_core& core, task_id id) noexcept : managed_wait(core), id_(id) {}
  static constexpr bool try_now() noexcept { return false; }
  void begin(suspension& wait, waiter& entry) noexcept;
  result<outcome_kind> take() noexcept {
    if (how_ == outcome_kind::none) return failure(failed_);
    return how_;
  }

 private:
  friend struct managed_entry;
  task_id id_;
  std::errc failed_ = std::errc::no_such_process;  // it could not be started, say
  outcome_kind how_ = outcome_kind::none;
  std::uint8_t no_padding_[3] = {};
};

class managed_join : public managed_wait {
 public:
  using value_type = void;
  explicit managed_join(manager_core& core) noexcept : managed_wait(core) {}
  bool try_now() noexcept;
  void begin(suspension& wait, waiter& entry) noexcept;
  result<void> take() noexcept {
    if (deadlock_) return failure(std::errc::resource_deadlock_would_occur);
    return {};
  }

 private:
  op_flag deadlock_;
};

}  // namespace detail

class task_manager {
 public:
  template <detail::spawnable_on Where>
  explicit task_manager(Where& where, const manager_options& options = {},
                        std::source_location at = std::source_location::current())
      : task_manager(at, detail::target_of(where), options) {}
  task_manager(const task_manager&) = delete;
  task_manager& operator=(const task_manager&) = delete;
  ~task_manager();

  // --- by id

  // A reply fails with operation_canceled by either.
  std::error_code cancel(task_id id) noexcept;
  std::error_code kill(task_id id) noexcept;

  // The new deadline of a coroutine or a reply; none: time_point::max(), duration::max(). One in the past passes at
  // once. timed_out: the last one has passed already. Throws bad_alloc.
  std::error_code set_deadline(task_id id, time_point deadline);
  template <class Rep, class Period>
  std::error_code set_deadline(task_id id, std::chrono::duration<Rep, Period> within) {
    return set_deadline(id, deadline_after(now(), within));
  }

  std::optional<task_info> find(task_id id) const noexcept;

  // Waits for the end of a coroutine, and says how it ended. For any number of waiters. no_such_process, too, if it
  // could not be started after all.
  [[nodiscard]] primitive::operation<detail::managed_end> wait(task_id id, call_site at = this_call_site()) noexcept;

  // That of the running coroutine, if it was spawned on this manager; else `none`.
  task_id current() const noexcept;

  // --- replies

  // Throws bad_alloc. One that was refused has no id, and gives the error when it is awaited.
  template <class T = void>
  [[nodiscard]] expectation<T> expect(const expect_options& options = {.location = {}}) {
    return expectation<T>::make(*core_, options);
  }

  // Gives the reply to whoever expects it. An error: nobody does, and `late` counts it; or a reply of another type is
  // expected than that of `value`, which is left alone then. If moving it throws, the reply fails with broken_pipe.
  template <class T>
  std::error_code complete(task_id id, T&& value) {
    return expectation<std::remove_cvref_t<T>>::complete(*core_, id, std::forward<T>(value));
  }
  std::error_code complete(task_id id) noexcept { return expectation<void>::complete(*core_, id); }
  // The same with an error, for a reply of any type. A code of 0 is fatal.
  std::error_code fail(task_id id, std::error_code why) noexcept;

  // --- several

  // How many were asked: what was in the group when the call began and has not ended. There is no group 0.
  std::size_t cancel_group(task_group group) noexcept;
  std::size_t kill_group(task_group group) noexcept;
  std::size_t group_size(task_group group) const noexcept;

  // All that there is, and what comes.
  void cancel_all() noexcept;
  void kill_all() noexcept;

  // Calls `look(const task_info&)` for each that was there when the call began and has not ended, and perhaps for some
  // that have come since. It may use the manager.
  template <class F>
  void for_each(F&& look) const {
    task_info some[16];
    std::uint64_t place = 0;
    while (const std::size_t found = list_from(place, some, std::size(some)))
      for (std::size_t i = 0; i < found; ++i) look(std::as_const(some[i]));
  }

  std::size_t size() const noexcept;  // coroutines, those without an id included, and replies
  manager_counts counts() const noexcept;

  // --- time and the end

  // With a clock of the caller's: what is due passes. Gives when the next deadline passes, or an earlier time.
  time_point tick() noexcept;
  time_point now() const noexcept;

  // Refuses what comes from now on.
  void close() noexcept;

  // Waits until nothing is left: size() is 0. By a coroutine of the manager: resource_deadlock_would_occur.
  [[nodiscard]] primitive::operation<detail::managed_join> join(call_site at = this_call_site()) noexcept;

  // --- for spawn()
  using placed_with = task_options;
  detail::managed_place place(const task_options& options) const { return {*core_, options}; }
  detail::manager_core& core() const noexcept { return *core_; }

 private:
  task_manager(std::source_location at, spawn_target& on, const manager_options& options);
  void stop_all(stop_level level) noexcept;
  std::size_t list_from(std::uint64_t& place, task_info* into, std::size_t room) const noexcept;

  detail::manager_ptr core_;
  std::optional<detail::stop_link> link_;  // to what stops the target
};

}}  // namespace hocket
