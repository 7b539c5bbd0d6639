// Reports coroutines that hold their worker.
//
// A thread reads the number of turns and the running context of each worker, four times in the limit. If both have been
// the same for the limit, one coroutine has held the worker for as long. This costs the workers nothing.
//
// # The coroutine
//
// The context may have been freed before the detector reads it. So the kernel copies the memory
// (context::coroutine_of()), and the detector searches the registries for the resulting address, under their locks. A
// coroutine found there cannot end during the search.
//
// # The stack of the coroutine
//
// If the options name a signal, the detector sends the signal to the worker before the report. The handler copies the
// stack (stack_probe.hpp).
//
// # Rest
//
// If all workers have slept since the last check, the thread rests until a worker ends a sleep (idle_workers.hpp). A
// sleeping worker runs no coroutine, so no stall begins meanwhile.
#pragma once
#include <hocket/runtime/detail/runtime_options.hpp>

#include <vector>

#include "runtime/system_thread.hpp"
#include "runtime/worker_list.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The observations of one worker.
class stall_sight {
 public:
  // Returns for how long one coroutine has held the worker, once for each stall of at least the limit; else 0.
  duration observe(std::size_t turns, const context* running, time_point now, duration limit) noexcept;

 private:
  std::size_t turns_ = 0;
  const context* running_ = nullptr;
  time_point since_{};
  bool reported_ = false;
};

class stall_detector {
 public:
  // Called before the workers start, so that they do not block the signal. Throws std::system_error if the signal
  // cannot be handled.
  static void prepare(worker_list& pool, int signal);

  stall_detector(worker_list& pool, const runtime_options& options);
  stall_detector(const stall_detector&) = delete;
  stall_detector& operator=(const stall_detector&) = delete;
  ~stall_detector();

 private:
  void run() noexcept;
  void check(std::size_t index) noexcept;
  const stack_probe* take_stack(worker& stalled, std::size_t turns, const context* running) const noexcept;
  void report(std::size_t index, const context* running, duration held, const stack_probe* stack) const noexcept;

  worker_list& pool_;
  const duration limit_;
  const stall_handler handler_;
  const int signal_;
  std::vector<stall_sight> sightings_;
  atomic<bool> over_{false};
  system_thread thread_;
};

}}}  // namespace hocket::detail
