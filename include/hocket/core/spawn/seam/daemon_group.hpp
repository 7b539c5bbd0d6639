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
#include <hocket/core/context/seam/stop_link.hpp>
#include <hocket/core/spawn/detail/daemon_slot.hpp>
#include <hocket/core/spawn_target.hpp>
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

}}}  // namespace hocket::detail
