// The watch: a thread of a runtime that serves stuck workers.
//
// A worker is *stuck* if it is in the same turn as one period ago, and was awake at both checks. The watch then does
// the stuck worker's work, as far as another thread can:
//
//   stealable coroutines      worker_core::set_stuck(): thieves may take the last one, too; a sleeper is woken
//   waits at the driver       driver_slot::assist() posts the coroutines that are ready
//   timers                    timer_wheel::assist() fires due timers
//
// So a long computation delays only coroutines that are bound to its worker: fibers, and the children of one group.
// Other coroutines continue on another worker after one or two periods. The watch also wakes a sleeper if any worker
// has a small surplus that was not worth an offer (worker_core.hpp, Offers).
//
// Cost. If all workers have slept for a period, the watch rests until a worker ends a sleep (idle_workers.hpp).
//
// During a standstill the watch does nothing: it would change the state that is inspected.
//
// Source: Go's sysmon thread (golang/go: src/runtime/proc.go).
//
// Access. check_workers(): any thread. Other functions: the runtime.
#pragma once
#include <hocket/base/seam/mutex.hpp>

#include <vector>

#include "runtime/system_thread.hpp"
#include "runtime/worker_list.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class worker_watch {
 public:
  static constexpr std::chrono::milliseconds period{10};

  // Throws std::system_error if the system starts no more threads.
  explicit worker_watch(worker_list& pool);
  worker_watch(const worker_watch&) = delete;
  worker_watch& operator=(const worker_watch&) = delete;
  ~worker_watch();

  // Checks all workers once.
  void check_workers() noexcept;

 private:
  static constexpr std::size_t slept = ~std::size_t{0};  // in place of a number of turns

  void run() noexcept;
  void check_worker(std::size_t index) noexcept;

  worker_list& pool_;
  primitive::thread_mutex mutex_;
  std::vector<std::size_t> seen_;  // of each worker at the last check: the number of its turns, or `slept`
  atomic<bool> over_{false};
  system_thread thread_;
};

}}}  // namespace hocket::detail
