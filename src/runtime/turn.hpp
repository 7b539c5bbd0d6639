// What a loop and a worker do alike in a turn.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/platform/attributes.hpp>
#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>
#include <hocket/core/wait/seam/budget.hpp>

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline constexpr std::size_t turn_size = 64;        // coroutines between two looks at the inbox and the clock
inline constexpr std::size_t look_ahead = 8;        // coroutines whose frames are on their way to the caches
inline constexpr std::uint32_t house_turns = 1024;  // turns without a sleep between two looks at the thread's house

// The budgets of the coroutines in one turn of a thread without a watch: they end by time
// (core/wait/seam/budget.hpp). Behind the turn they do not: the next loop of the thread may have a clock of the
// program's own.
class timed_budgets {
 public:
  explicit timed_budgets(time_point began) noexcept : thread_(this_thread()) {
    thread_.budget_end = (began + budget_time).time_since_epoch().count();
    (*this)();
  }
  timed_budgets(const timed_budgets&) = delete;
  timed_budgets& operator=(const timed_budgets&) = delete;
  ~timed_budgets() { thread_.budget_end = 0; }
  // Before each coroutine.
  void operator()() const noexcept {
    thread_.spent = first_of_timed;
    thread_.clock_reads = 0;
    wrote_this_thread();
  }

 private:
  thread_state& thread_;
};

// Resumes what is ready, and what becomes ready meanwhile, at most `at_most`. Gives how many. Neither a loop nor a
// worker moves between threads while it runs. after() is called after each.
template <class After>
[[HOCKET_ALWAYS_INLINE]] inline std::size_t resume_ready(run_queue& ready, std::size_t at_most,
                                                         const After& after) noexcept {
  thread_state& here = this_thread();
  here.turn_left = at_most;
  const bool large = ready.is_large();
  while (here.turn_left != 0 && ready.has_next()) {
    if (large) prefetch(ready.peek(look_ahead).address());
    const std::coroutine_handle<> next = ready.pop();
    --here.turn_left;  // a fiber that yields counts those down that it passes its thread on to
    here.ctx = nullptr;
    next.resume();
    after();
  }
  here.ctx = nullptr;
  return at_most - std::exchange(here.turn_left, 0);
}

}}}  // namespace hocket::detail
