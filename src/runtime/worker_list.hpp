// The workers of a runtime, for the threads that inspect them: the watch, the stall detector, a dump.
#pragma once
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include "runtime/worker.hpp"
#include "runtime/worker_pool.hpp"

#include <memory>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct worker_list : worker_pool {
  // Starts no thread. Throws bad_alloc.
  worker_list(executor& home, spawn_target& target, const runtime_options& options, std::size_t count);

  // The worker with this index, modulo their number.
  worker& at(std::size_t index) noexcept { return *workers[index % workers.size()]; }

  // The worker that runs on this thread; null: none of these workers.
  worker* present_worker() const noexcept {
    const executor_binding& binding = this_thread().binding;
    return binding.pool == &home ? static_cast<worker*>(binding.running_on) : nullptr;
  }
  // Whether this thread works for a coroutine of the runtime, as a worker or in a blocking call. Such a thread must
  // not wait for the coroutines.
  bool is_inside() const noexcept;

  // Calls visit(coroutine) for the coroutine of the context `running` of another thread. The coroutine does not end
  // during the call. visit(nullptr): the coroutine is unknown.
  template <class F>
  void with_coroutine(const context* running, F visit) noexcept {
    const void* const coroutine = context::coroutine_of(running);
    for (auto& owner : workers) {
      const locked guard(*owner->coroutines());
      for (const scheduled& member : owner->coroutines()->members()) {
        if (&member == coroutine || &member == running) return visit(&member);
      }
    }
    visit(nullptr);
  }

  // Begins a standstill, on any thread, and nudges all workers. Returns the phase; still.end() ends the standstill.
  std::uint32_t bring_to_a_standstill() noexcept;
  // Whether the worker has stopped, or stops before `until`. The calling worker counts as stopped.
  [[nodiscard]] bool wait_stopped(std::size_t index, std::uint32_t phase, time_point until) noexcept;

  std::vector<std::unique_ptr<worker>> workers;  // constant after construction
};

}}}  // namespace hocket::detail
