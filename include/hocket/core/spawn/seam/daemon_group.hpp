// A daemon group: the daemons of a spawn target.
//
//   spawn(rt, {.name = "ticker", .daemon = true}, tick, 1s);     // rt: a runtime, a loop, a scope, a task_manager
//
// A daemon serves the other coroutines of its target: a ticker, a reload, the flush of statistics. It ends with them:
//   - It holds no drain. Neither runtime::shutdown() nor loop::run() nor the join of a scope or a task_manager waits
//   for
//     it to end by itself.
//   - It is cancelled when the target ends, and the last other coroutine of the target has ended. It is cancelled with
//     the others if the drain is over before.
//   - It is joined. Until the target has ended, it may use what the target's coroutines use.
//
// A target *ends* when it is drained: a runtime in shutdown(), a loop in run(), a scope and a task_manager in join()
// and in a destructor that joins. Before that the daemons run, also while there are no other coroutines.
//
// # What belongs to a daemon
//
//   spawn(target, f), spawn(f)   another coroutine of the target, which holds the drain
//   the children of its scopes   belong to the daemon: they hold no drain, and its cancel ends them
//
// # Structure
//
// The group is a spawn_target of its own, beside its *host*, the target of the daemons. The host counts them, by
// enroll_daemons() and leave_daemon(), apart from its other coroutines. The group has a context below the host's, with
// a stop source. A stop of the host reaches it, and so does a stop of the group of the target below the host (the
// daemons of a scope end with those of its runtime).
//
// The host makes its group at the first daemon, so a target without daemons has a null pointer. The group lives as long
// as the host.
//
// # Use after an end
//
// A loop, a scope and a task_manager can be used again after they have ended. Then daemons must begin uncancelled. So
// daemons() of the host calls renew() if the host counts no daemon. A cancel that is under way meanwhile may reach a
// daemon that is spawned just then, or not: both orders are right.
//
// # Thread safety
//
// Any thread that may spawn on the host.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/context/seam/stop_link.hpp>
#include <hocket/core/spawn_target.hpp>
#include <cstddef>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class daemon_group final : public spawn_target {
 public:
  // `below`: the daemons of the target below the host; null: there is none. Throws bad_alloc.
  daemon_group(spawn_target& host, spawn_target* below);

  // Cancels all daemons.
  void cancel() noexcept { stop_.request(stop_level::cancel); }
  // The daemons of the target below the host, with which the host enrols its daemons, too; null: there is none.
  spawn_target* below() const noexcept { return below_; }
  // Takes the cancel back; see above. Does nothing if a stop of a parent is the cause.
  void renew() noexcept;

  executor& home() noexcept override { return host_.home(); }
  context& parent_context() noexcept override { return *context_; }
  std::error_code enroll(std::size_t count) noexcept override { return host_.enroll_daemons(count, false); }
  std::error_code enroll_children(std::size_t count) noexcept override { return host_.enroll_daemons(count, true); }
  void leave() noexcept override { host_.leave_daemon(); }
  unhandled_handler on_unhandled() const noexcept override { return host_.on_unhandled(); }
  spawn_target& for_children() noexcept override { return host_.for_children(); }
  spawn_target& for_scopes() noexcept override { return *this; }
  bool runs_by_itself() const noexcept override { return host_.runs_by_itself(); }

 private:
  void follow(stop_source* parent) noexcept;

  spawn_target& host_;
  spawn_target* const below_;
  stop_source* const parents_[2];
  stop_source stop_;
  context_ptr context_;
  std::optional<stop_link> links_[2];
};

// What a host has of its daemons: their number, and a pointer to their group.

// The number of daemons of a host, beside a count of its other coroutines.
class daemon_count {
 public:
  void enter(std::size_t count) noexcept {
    // ORDER: relaxed, pairs with nothing: the coroutine itself is handed over by post().
    entered_.fetch_add(count, std::memory_order_relaxed);
  }
  void leave() noexcept {
    // ORDER: release, pairs with the load in plus(): what the daemon did, and spawned, is visible.
    ended_.fetch_add(1, std::memory_order_release);
  }
  // About, while coroutines of other threads spawn and end.
  std::size_t size() const noexcept {
    return plus([]() noexcept { return std::size_t{0}; });
  }
  // The sum with others(), never too small. Hazard: of the two numbers that were read first, the coroutines may have
  // spawned daemons and ended before the second is read, or the reverse. Prevented: the daemons that leave are read
  // before, and the daemons that enter before and after. If the latter differ, all are read again.
  template <class F>
  std::size_t plus(F others) const noexcept {
    for (;;) {
      // ORDER: acquire, pairs with the fetch_add in leave(): what the ended daemons spawned is visible.
      const std::size_t ended = ended_.load(std::memory_order_acquire);
      // ORDER: acquire, pairs with nothing: it keeps others() behind.
      const std::size_t entered = entered_.load(std::memory_order_acquire);
      const std::size_t sum = others() + (entered - ended);
      // ORDER: relaxed, pairs with nothing: others() acquires what an ended coroutine spawned.
      if (entered_.load(std::memory_order_relaxed) == entered) return sum;
    }
  }

 private:
  primitive::atomic<std::size_t> entered_{0}, ended_{0};
};

// The pointer of a host to its group.
class daemon_slot {
 public:
  daemon_slot() noexcept = default;
  daemon_slot(const daemon_slot&) = delete;
  daemon_slot& operator=(const daemon_slot&) = delete;
  ~daemon_slot();

  // Null: there was no daemon so far.
  daemon_group* get() const noexcept {
    // ORDER: acquire, pairs with the compare-exchange in get_or_make(): the group is visible.
    return group_.load(std::memory_order_acquire);
  }
  // `below`: the target below the host; null: there is none. Throws bad_alloc.
  daemon_group& get_or_make(spawn_target& host, spawn_target* below);
  // Does nothing if there is no group.
  void cancel() const noexcept;

 private:
  primitive::atomic<daemon_group*> group_{nullptr};
};

}}}  // namespace hocket::detail
