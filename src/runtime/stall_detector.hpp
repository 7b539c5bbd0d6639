// Reports coroutines that hold their worker.
//
// A thread looks at each worker four times in the limit: at the number of its turns and at the context that runs on it.
// If both have been the same for the limit, one coroutine has held the worker for as long. Workers know nothing of it.
// The context may be gone when it is looked at: the kernel copies what is there (context::coroutine_of()), and the
// address that this gives is looked for in the registries, under their locks. What is found cannot end meanwhile.
//
// Where the coroutine is. With a signal, the worker's handler copies its stack first (stack_probe.hpp).
//
// Rest. If all workers have slept since the last look, the thread rests until a worker ends a sleep (idle_workers.hpp).
// A sleeping worker runs no coroutine, so no stall begins meanwhile.
#pragma once
#include <hocket/runtime/detail/runtime_options.hpp>

#include <vector>

#include "runtime/system_thread.hpp"
#include "runtime/worker_list.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// What is seen of one worker, look by look.
class stall_sight {
 public:
  // Gives for how long one coroutine has held it, if that is the limit or more and was not said yet; else 0.
  duration observe(std::size_t turns, const context* running, time_point now, duration limit) noexcept;

 private:
  std::size_t turns_ = 0;
  const context* running_ = nullptr;
  time_point since_{};
  bool reported_ = false;
};

class stall_detector {
 public:
  // Before the workers start: they do not block the signal. Throws std::system_error: it cannot be handled.
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
