// The parts of a turn that a loop and a worker share.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/platform/attributes.hpp>
#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>
#include <hocket/core/wait/seam/budget.hpp>

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline constexpr std::size_t turn_size = 64;  // coroutines between two checks of the inbox and the clock
inline constexpr std::size_t look_ahead = 8;  // distance of the prefetch of frames, in coroutines
inline constexpr std::uint32_t turns_between_reclaims = 1024;  // of the thread's memory, if the thread does not sleep

// Ends the budgets of the coroutines in one turn by time, for a thread without a watch (core/wait/seam/budget.hpp).
// After the turn budgets do not end by time: the next loop of the thread may have another clock.
class timed_budgets {
 public:
  explicit timed_budgets(time_point began) noexcept : thread_(this_thread()) {
    thread_.budget_end = (began + budget_time).time_since_epoch().count();
    (*this)();
  }
  timed_budgets(const timed_budgets&) = delete;
  timed_budgets& operator=(const timed_budgets&) = delete;
  ~timed_budgets() { thread_.budget_end = 0; }
  // Called before each coroutine: by the constructor, and after each resume.
  void operator()() const noexcept {
    thread_.spent = first_of_timed;
    thread_.clock_reads = 0;
    wrote_this_thread();
  }

 private:
  thread_state& thread_;
};

// Resumes ready coroutines, also coroutines that become ready meanwhile, up to `at_most`. Calls after() after each.
// Returns their number. A loop or worker stays on its thread while it runs, so `thread` is read once.
template <class After>
[[HOCKET_ALWAYS_INLINE]] inline std::size_t resume_ready(run_queue& ready, std::size_t at_most,
                                                         const After& after) noexcept {
  thread_state& thread = this_thread();
  thread.turn_left = at_most;
  thread.turn_subtracted = 0;
  const bool large = ready.is_large();
  while (thread.turn_left != 0 && ready.has_next()) {
    if (large) prefetch(ready.peek(look_ahead).address());
    const std::coroutine_handle<> next = ready.pop();
    --thread.turn_left;  // a fiber that yields to another fiber subtracts one for that fiber
    thread.ctx = nullptr;
    next.resume();
    after();
  }
  thread.ctx = nullptr;
  return at_most - thread.turn_subtracted - std::exchange(thread.turn_left, 0);
}

}}}  // namespace hocket::detail
