// The watch: a thread of a runtime that does for a worker what this one does not come to.
//
// A worker that is in the same turn as a period ago, and slept neither then nor now, is *stuck* in a coroutine. What
// waits there is served in its place, so a coroutine that computes for long holds up what only that worker may run (its
// fibers, the children of one group), and nothing else:
//
//   what others may run       a sleeper is woken, which takes even a lone entry (worker_core::set_stuck())
//   waits at its driver       driver_slot::assist(): posts the coroutines whose waits are over
//   timers                    timer_wheel::assist(): fires those that are due
//
// The coroutines of the latter two are posted to the runtime, as from any other thread. So what was ready when its
// worker got stuck, or gets ready then, goes on after one to two periods. Beside workers that are not stuck the watch
// wakes a sleeper for what was too little to be offered (worker_core.hpp, Offers), and is still there.
//
// It costs nothing where nothing runs: it rests until a worker ends a sleep (idle_workers.hpp). While somebody asks for
// a standstill it does nothing, since it would change what is looked at.
//
// Go has such a thread (golang/go: src/runtime/proc.go, sysmon), for its poller and for preemption.
//
// Access. look(): any thread. Everything else: the runtime.
#pragma once
#include <hocket/base/detail/mutex.hpp>
#include <hocket/runtime/runtime.hpp>

#include <thread>
#include <vector>

namespace hocket::inline HOCKET_ABI::detail {

class worker_watch {
 public:
  static constexpr std::chrono::milliseconds period{10};

  // Throws what the system says when it starts no more threads.
  explicit worker_watch(runtime::state& pool);
  worker_watch(const worker_watch&) = delete;
  worker_watch& operator=(const worker_watch&) = delete;
  ~worker_watch();

  // What it does in each period.
  void look() noexcept;

 private:
  static constexpr std::size_t slept = ~std::size_t{0};  // in place of a number of turns

  void run() noexcept;
  void look_at(std::size_t index) noexcept;

  runtime::state& pool_;
  primitive::thread_mutex looks_;
  std::vector<std::size_t> seen_;  // of each worker at the last look: the number of its turns, or that it slept
  atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace hocket::inline HOCKET_ABI::detail
