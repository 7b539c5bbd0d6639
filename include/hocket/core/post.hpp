// post: runs a function (a job) on a loop or a runtime without a coroutine around it.
//
//   post(lp, [&] { table.apply(change); });     // from any thread: the loop's thread runs it
//   post(rt, &journal::flush, &log);            // a member of an object that lives as long; any worker runs it
//
// Cost. A fraction of a spawn: one allocation from the memory of frames, 64 bytes larger than the callable and its
// arguments, and nothing else. So it suits work that other threads hand over in great numbers: callbacks, log lines,
// parts of a computation without an answer.
//
// Do not. A job cannot be joined, cancelled or killed, and it must not wait: `await` and sync_wait in it are fatal, and
// the message names the remedy. A job spawns a coroutine for work that waits. Its result is dropped.
//
// Guarantees.
//   - The callable and the arguments are stored by value, as spawn stores them; std::ref for a reference. They are
//     destroyed on the thread that ran the job.
//   - A job runs once, in the order of its target's queue: after earlier posts of the same thread. A runtime runs
//     several jobs at the same time.
//   - It runs in the context of its target: current_context() has the target's name, stop and values.
//   - It counts as live: loop::run() continues until it has run, a scope waits for it, and shutdown() drains it. If the
//     target is killed before, the job is destroyed without having run.
//   - An exception that leaves it is passed to the target's on_unhandled.
//   - A runtime's stall detector counts the jobs that a worker runs in succession in a turn, at most 64, as one.
//
// Errors. Returns operation_canceled if the target accepts nothing more; then the job is destroyed at once. Throws
// std::bad_alloc, and exceptions of copying the callable and the arguments; then nothing is posted. Any thread.
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
