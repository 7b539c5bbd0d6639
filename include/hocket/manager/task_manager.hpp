// task_manager: coroutines and expected replies, each known by an id.
//
//   task_manager tm(lp);                                              // or a runtime
//   auto h = spawn(tm, {.name = "login", .within = 3s, .group = player}, login, std::ref(tm), session);
//   tm.set_deadline(h.id(), 10s);   tm.cancel(h.id());   tm.kill_group(player);
//   auto kind = co_await tm.wait(id);          // result<outcome_kind>: how the coroutine with that id ended
//   auto name = then(std::move(h), name_of);   // the handle is a join_handle: awaited, joined, a child of when_all
//
//   auto reply = tm.expect<db_reply>({.within = 3s, .group = player});   // an id for a reply from outside
//   tm.complete(id, std::move(answer));                                  // manager/expectation.hpp
//
// Ids. An id names a coroutine (task or fiber) from its spawn to its end, or a reply from expect() until it arrives,
// fails or is dropped. Then the manager forgets the id, and never gives it again. With several threads this is a moment
// after the handle or the receiver is notified.
//
// Errors. All calls by id are total. They return an error code, empty on success: no_such_process if the id has ended
// or never existed; invalid_argument if it is of the other kind, or a reply of another type;
// resource_deadlock_would_occur if a coroutine waits for itself.
//
// Cancellation. cancel() is a request: the waits of the coroutine end with operation_canceled, except shielded waits.
// kill() unwinds the coroutine, shielded or not. A deadline that passes cancels the coroutine, too, but its waits end
// with timed_out, and its outcome is outcome_kind::timed_out; the earlier of cancel() and deadline counts. A deadline
// can be set, moved and removed until it has passed. A group is all work with one number: a player's, a connection's, a
// tenant's. A coroutine that is stopped before it begins does not begin (kill), or finds its first wait cancelled. A
// coroutine that stops itself runs to its next wait.
//
// Outcome (wait(), counts()). `value` if the body returned, whatever was requested; `exception` if an exception left
// the body; else `cancelled`, `timed_out` or `killed`. The handle has the result, even a result that is an error.
//
// Placement. A managed coroutine runs on the manager's loop or runtime, under its context. If it spawns without naming
// a target, the new coroutine belongs to the manager, but has no id. The same holds for the children of its scopes;
// they are stopped with the coroutine.
//
// Limits. If there are `limit` coroutines and replies, the next spawn is refused: its handle gives
// resource_unavailable_try_again (operation_canceled after close()), and so does the next expectation. To make callers
// wait, use a semaphore. Coroutines without an id count, but are not refused. The places of ended coroutines are
// reused, and their memory is kept.
//
// Time. Deadlines use the timers of the executor, which sleeps until the first deadline; until then the manager counts
// there as one more coroutine. On a runtime, deadlines pass on one of its workers. If this worker is stuck in a
// coroutine that does not suspend, deadlines are late. With {.clock = &clock} deadlines use that clock, and pass inside
// tick().
//
// Destruction. join() waits until the manager is empty. When only daemons (core/spawn/seam/daemon_group.hpp) are
// left, it cancels them. The destructor closes the manager, fails its replies, kills its coroutines, and waits for
// them: in a fiber, and on a thread if the manager's executor has threads of its own.
//   - On a thread that drives the loop itself, no coroutine could run during such a wait. So the coroutines unwind at
//     the loop's next turn, or at its end, and must not use the manager then.
//   - It is fatal if a task destroys a manager that has coroutines: co_await tm.join() first. The same holds for a
//     coroutine of the manager.
//   - After the destructor has begun, only the manager's coroutines may call it. Waits for an id and in join() end, and
//     replies may be awaited and dropped.
//   - The manager must be destroyed before its loop or runtime.
//
// The manager does not detect coroutines that wait for one another: loop::dump and runtime::dump do, and print their
// ids.
//
// Thread safety. All functions may be called from any thread. There are eight tables. A spawn uses the table of its
// thread, so threads meet only by chance. A lookup by id locks its table for a few instructions.
//
// Complexity. By id, and setting a deadline: O(1). A group: O(its members). for_each() and counts(): O(places).
#pragma once
#include <hocket/core/context/seam/stop_link.hpp>
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/manager/detail/managed_place.hpp>
#include <hocket/manager/detail/managed_wait.hpp>
#include <hocket/manager/detail/manager_options.hpp>
#include <hocket/manager/expectation.hpp>
#include <hocket/primitive.hpp>
#include <iterator>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI {

// The handle of a managed coroutine, with its id; `none` if the spawn was refused.
template <class T = void>
class managed_handle : public join_handle<T> {
 public:
  managed_handle() noexcept = default;
  managed_handle(join_handle<T> handle, task_id id) noexcept : join_handle<T>(std::move(handle)), id_(id) {}
  task_id id() const noexcept { return id_; }

 private:
  task_id id_ = task_id::none;
};

class task_manager {
 public:
  // For a loop or a runtime, which outlives the manager.
  template <detail::spawnable_on Target>
  explicit task_manager(Target& target, const manager_options& options = {},
                        std::source_location location = std::source_location::current())
      : task_manager(location, detail::target_of(target), options) {}
  task_manager(const task_manager&) = delete;
  task_manager& operator=(const task_manager&) = delete;
  ~task_manager();

  // --- by id

  // Stop a coroutine. A reply fails with operation_canceled by either.
  std::error_code cancel(task_id id) noexcept;
  std::error_code kill(task_id id) noexcept;

  // Sets the deadline of a coroutine or a reply. time_point::max() and duration::max() remove it. A deadline in the
  // past passes at once. timed_out: the previous deadline has passed. Throws bad_alloc.
  std::error_code set_deadline(task_id id, time_point deadline);
  template <class Rep, class Period>
  std::error_code set_deadline(task_id id, std::chrono::duration<Rep, Period> within) {
    return set_deadline(id, deadline_after(now(), within));
  }

  // A snapshot; empty if the id has ended or never existed.
  std::optional<task_info> find(task_id id) const noexcept;

  // Waits for the end of a coroutine: result<outcome_kind>. For any number of waiters. no_such_process, too, if the
  // coroutine could not be started after all.
  [[nodiscard]] primitive::operation<detail::managed_end> wait(task_id id, call_site site = this_call_site()) noexcept;

  // The id of the running coroutine, if it was spawned on this manager; else `none`.
  task_id current() const noexcept;

  // --- replies

  // Expects a reply. Throws bad_alloc. A refused expectation has no id, and gives the error when it is awaited.
  template <class T = void>
  [[nodiscard]] expectation<T> expect(const expect_options& options = {.location = {}}) {
    return expectation<T>::make(*core_, options);
  }

  // Completes the expected reply with `value`. Errors: no_such_process, counted as `late`; invalid_argument, if the
  // reply has another type; `value` is unchanged then. If moving `value` throws, the reply fails with broken_pipe.
  template <class T>
  std::error_code complete(task_id id, T&& value) {
    return expectation<std::remove_cvref_t<T>>::complete(*core_, id, std::forward<T>(value));
  }
  std::error_code complete(task_id id) noexcept { return expectation<void>::complete(*core_, id); }
  // Fails the expected reply, of any type. Errors: no_such_process, counted as `late`; invalid_argument for the id of a
  // coroutine. A code of 0 is fatal.
  std::error_code fail(task_id id, std::error_code error) noexcept;

  // --- several

  // Stop all work that is in the group when the call begins and has not ended; return its number. There is no group 0.
  std::size_t cancel_group(task_group group) noexcept;
  std::size_t kill_group(task_group group) noexcept;
  // Returns the number of coroutines and replies in the group.
  std::size_t group_size(task_group group) const noexcept;

  // Stop all work, and all later work.
  void cancel_all() noexcept;
  void kill_all() noexcept;

  // Calls `visit(const task_info&)` for each coroutine and reply that exists when the call begins and has not ended,
  // and perhaps for some later ones. `visit` may use the manager.
  template <class F>
  void for_each(F&& visit) const {
    task_info buffer[16];
    std::uint64_t place = 0;
    while (const std::size_t count = list_from(place, buffer, std::size(buffer)))
      for (std::size_t i = 0; i < count; ++i) visit(std::as_const(buffer[i]));
  }

  std::size_t size() const noexcept;  // coroutines, including coroutines without an id, and replies
  manager_counts counts() const noexcept;

  // --- time and the end

  // Lets due deadlines pass. Returns the time of the next deadline, or an earlier time. Fatal for a manager without
  // {.clock = &clock}.
  time_point tick() noexcept;
  time_point now() const noexcept;

  // Refuses all later spawns on the manager, and all later expectations. It still accepts coroutines without an id.
  void close() noexcept;

  // Waits until size() is 0: result<void>. A coroutine of the manager gets resource_deadlock_would_occur.
  [[nodiscard]] primitive::operation<detail::managed_join> join(call_site site = this_call_site()) noexcept;

  // --- for spawn()
  using placed_with = task_options;
  detail::managed_place place(const task_options& options) const { return {*core_, options}; }
  detail::manager_core& core() const noexcept { return *core_; }

 private:
  task_manager(std::source_location location, spawn_target& target, const manager_options& options);
  void stop_all(stop_level level) noexcept;
  std::size_t list_from(std::uint64_t& place, task_info* buffer, std::size_t capacity) const noexcept;

  detail::manager_ptr core_;
  std::optional<detail::stop_link> link_;  // to the stop source of the target
};

}}  // namespace hocket
