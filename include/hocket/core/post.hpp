// post: a job, a function that runs on a loop or a runtime without a coroutine around it.
//
//   post(lp, [&] { table.apply(change); });     // from any thread: the loop's thread runs it
//   post(rt, &journal::flush, &log);            // a member of an object that lives as long; any worker runs it
//
// A job takes a fraction of what a spawn takes: one allocation from the memory of frames, 64 bytes larger than the
// callable and its arguments, and nothing else. So it is for what other threads hand over in great numbers: callbacks,
// log lines, parts of a computation that need no answer.
//
// What it cannot do. Nobody can join, cancel or kill a job, and it must not wait: `await` and sync_wait in it are
// fatal, naming the remedy. What has to wait, it spawns. Its result is dropped.
//
// - The callable and the arguments are stored by value, as spawn stores them; std::ref for a reference. They are
//   destroyed on the thread that ran the job.
// - A job runs once, in the order of its target's queue: behind what was posted there before from the same thread. Of a
//   runtime several jobs run at the same time.
// - It runs in the context of its target: current_context() has the name, the stop and the values of that.
// - It counts as live: loop::run() goes on until it has run, a scope waits for it, and shutdown() drains it. If the
//   target is killed before, the job is destroyed without having run.
// - An exception that leaves it goes to the target's on_unhandled.
// - The stall detector of a runtime takes the jobs that a worker runs one after the other in a turn, at most 64, for
// one.
//
// Returns an error if the target takes nothing more (operation_canceled); then the job is destroyed at once. Throws
// std::bad_alloc, and what copying the callable and the arguments throws; then nothing is posted. Any thread.
#pragma once
#include <hocket/core/detail/job.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class Where, class F, class... Args>
  requires detail::spawnable_on<Where>
std::error_code post(Where& where, F&& f, Args&&... args) {
  static_assert(detail::spawnable<F, Args...>,
                "hocket: the callable cannot be called with these arguments, which are stored by value: std::ref(x) "
                "for a parameter T&");
  if constexpr (detail::spawnable<F, Args...>) {
    using call = detail::spawned_call_for<F, Args...>;
    static_assert(!detail::is_task<typename call::returned>,
                  "hocket: a job is no coroutine, and nobody would await this task: spawn the callable");
    return detail::post_job(
        *detail::make_job<call>(detail::target_of(where), std::forward<F>(f), std::forward<Args>(args)...));
  } else {
    return {};
  }
}

}}  // namespace hocket
