// post: runs a function (a job) on a loop, a runtime or a scope, without a coroutine around it.
//
//   post(lp, [&] { table.apply(change); });     // from any thread: the loop's thread runs it
//   post(rt, &journal::flush, &log);            // `log` lives until the job has run; any worker runs it
//
// Cost. A fraction of a spawn: one allocation from the memory of frames, some 64 bytes larger than the callable and its
// arguments. So post() suits work that other threads hand over in great numbers: callbacks, log lines, parts
// of a computation without an answer.
//
// Limits. A single job cannot be joined, cancelled or killed, and it must not wait: `await` and sync_wait in it are
// fatal, and the message names the remedy. For work that waits, a job spawns a coroutine. The return value of the
// callable is discarded.
//
// Guarantees.
//   - The callable and the arguments are stored by value, as spawn stores them; std::ref for a reference. They are
//     destroyed on the thread that ran the job; if it never runs, on the thread that refused or removed it.
//   - A job runs at most once. On a loop it runs after earlier posts of the same thread. The workers of a runtime steal
//     jobs, and run several at the same time.
//   - It runs in the context of its target: current_context() has the target's name, stop and values.
//   - It counts as live: loop::run() continues until it has run, a scope waits for it, and shutdown() drains it. If the
//     target is killed before the job runs, the job is destroyed.
//   - An exception that leaves it is passed to the target's on_unhandled.
//   - To a runtime's stall detector, consecutive jobs of one turn, at most 64, are one.
//
// Errors. Returns operation_canceled if the target accepts nothing more; then the job is destroyed at once. Throws
// std::bad_alloc, and exceptions of copying the callable and the arguments; then nothing is posted.
//
// Thread safety. Any thread; on a scope as spawn (coro/scope.hpp).
#pragma once
#include <hocket/core/spawn/detail/job.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class Target, class F, class... Args>
  requires detail::spawnable_on<Target>
std::error_code post(Target& target, F&& f, Args&&... args) {
  static_assert(detail::spawnable<F, Args...>,
                "hocket: the callable cannot be called with these arguments, which are stored by value: std::ref(x) "
                "for a parameter T&");
  if constexpr (detail::spawnable<F, Args...>) {
    using call = detail::spawned_call_for<F, Args...>;
    static_assert(!detail::is_task<typename call::returned>,
                  "hocket: a job is no coroutine, and nobody would await this task: spawn the callable");
    return detail::post_job(
        *detail::make_job<call>(detail::target_of(target), std::forward<F>(f), std::forward<Args>(args)...));
  } else {
    return {};
  }
}

}}  // namespace hocket
