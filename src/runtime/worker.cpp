#include "runtime/worker.hpp"

#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include <hocket/runtime/detail/signal_count.hpp>

#include "runtime/platform/thread_name.hpp"
#include "runtime/turn.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

worker::worker(worker_pool& pool, std::size_t index)
    : event_loop(pool.time, nullptr, pool.name, true), worker_core(pool, inbox_, ready_), pool_(pool), index_(index) {}

void worker::start() {
  thread_ = std::thread([this] { run(); });
}

void worker::run() noexcept {
  const exit_hook_scope ending;
  name_this_thread(pool_.name, index_);
  set_mask_of_library_thread();
  if (probe_) probe_->begin();
  call(pool_.on_start);
  work();
  drivers_.close();
  call(pool_.on_stop);
}

void worker::work() noexcept {
  // ORDER: release, pairs with the load in running().
  thread_state_.store(&this_thread(), std::memory_order_release);
  running_scope running({this, &ready_, &pool_.home, &stealable_, &forks_}, nullptr);
  // ORDER: acquire, pairs with the store in ~runtime().
  while (!pool_.ended.load(std::memory_order_acquire)) {
    halt();
    if (turn() || find_and_begin()) continue;
    rest();
  }
}

void worker::call(worker_hook hook) noexcept {
  try {
    if (hook) hook(index_);
  } catch (...) {
    fatal("a hook of a runtime's worker threw", "catch what it throws in the hook", pool_.name);
  }
}

bool worker::interrupt(int signal, std::uint32_t number) noexcept {
  return detail::interrupt(thread_.native_handle(), signal, number);
}

void worker::halt() noexcept { pool_.still.halt(stopped_phase_); }

// --- a turn

// Returns whether it ran a coroutine, or the next turn must follow without a sleep.
bool worker::turn() noexcept {
  turns_.add(1);
  take_injected();
  gather();
  at_home_.set(ready_.size());
  const bool any = has_ready();
  if (any) {
    share();
    ready_.reserve(ready_.size() + run_queue::slack);  // entries outside of its array fit into it now
    if (is_timed()) resumed_.add(resume_all(timed_budgets(steady_clock().now())));
    else resumed_.add(has_sleepers() ? resume_all([this] { share_if_late(); }) : resume_all([] {}));
  }
  return any || due_ || drivers_.has_more();
}

// Calls after() after each resume.
template <class After>
std::size_t worker::resume_all(const After& after) noexcept {
  const std::size_t resumed = resume_ready(ready_, turn_size, after);
  begin_forks();
  return resumed + resume_stealable(after);
}

// Collects ready coroutines: posted by other threads, from the driver, from the timers.
void worker::gather() noexcept {
  gathers_ = true;
  begin_turn(turns());
  gathers_ = false;
  if (wheel_.fired() == timers_.get()) return;
  timers_.set(wheel_.fired());
  latest_ns_.set(static_cast<std::size_t>(wheel_.latest().count()));
}

template <class After>
std::size_t worker::resume_stealable(const After& after) noexcept {
  thread_state& thread = this_thread();
  std::size_t remaining = turn_size;
  thread.turn_spent = 0;
  const bool large = stealable_.is_large();
  for (; remaining > thread.turn_spent; --remaining) {
    if (large) prefetch(stealable_.peek(look_ahead).address());
    const std::coroutine_handle<> next = stealable_.pop();
    if (!next) break;
    thread.ctx = nullptr;
    next.resume();
    after();
  }
  thread.ctx = nullptr;
  return turn_size - remaining;
}

// Runs a found fork at once; other work is in the queue.
bool worker::find_and_begin() noexcept {
  const auto [found, fork] = find_work();
  if (fork) {
    fork->begin(*fork).resume();
    this_thread().ctx = nullptr;
  }
  return found;
}

// Begins forks of the worker's own deque, after the ready coroutines.
//
// If a computation forks deeper than its budget of transfers, it continues through the queue. It must do so before the
// forks of its ancestors begin, because each of those would have to be joined separately. So the loop ends when a
// coroutine is ready. But it begins at least one fork in each turn, because some coroutine may always be ready. A
// computation that has run long enough (coro/detail/fork_group.hpp) ends the turn.
void worker::begin_forks() noexcept {
  thread_state& thread = this_thread();
  thread.turn_is_over = false;
  std::size_t remaining = turn_size;
  do {
    fork_entry* rest = forks_.pop();
    if (!rest) break;
    rest->begin(*rest).resume();
  } while (--remaining != 0 && ready_.empty() && !thread.turn_is_over);
  thread.ctx = nullptr;
}

// --- sleep

void worker::rest() noexcept {
  pool_.expect_threads();  // a coroutine may have forked: then this is the copy in the child
  const time_point next_maintenance = maintain();
  if (!ready_.empty()) return;  // the maintenance may have returned memory that a coroutine waited for
  // ORDER: acquire, pairs with the store in end_threads(). This turn may have consumed the nudge that follows that
  // store, and the nudge of a dump.
  const auto must_return = [&] { return pool_.ended.load(std::memory_order_acquire) || pool_.still.is_requested(); };
  const auto sleep_until_due = [&] { sleep(end_of_sleep(std::min(wheel_.next_expiry(), next_maintenance))); };
  static_cast<void>(worker_core::rest(must_return, sleep_until_due));
  rings_.set(inbox_.wakes());
}

// The only worker of a runtime has no watch.
bool worker::is_timed() const noexcept { return pool_.cores.size() == 1 && &clock_ == &steady_clock(); }

// The count precedes the help, so a coroutine that it serves reads it. The driver precedes the wheel: I/O beats
// deadlines, and a wait that the driver ends may have a timer in the wheel.
void worker::help(bool ends_budget) noexcept {
  assists_.add(1);
  // ORDER: acquire, pairs with the store in run().
  thread_state* const thread = thread_state_.load(std::memory_order_acquire);
  if (ends_budget && thread) use_up_budget(*thread);
  drivers_.assist();
  wheel_.assist();
}

// By the machine's clock. For another clock, the machine's time of `next` is unknown: the code that advances that clock
// nudges the worker (runtime::clock_moved()).
time_point worker::end_of_sleep(time_point next) const noexcept {
  if (&clock_ == &steady_clock()) return next;
  return next <= clock_.now() ? time_point::min() : time_point::max();
}

const context* worker::running() const noexcept {
  // ORDER: acquire, pairs with the store in run().
  const thread_state* thread = thread_state_.load(std::memory_order_acquire);
  return thread ? thread->ctx.get() : nullptr;
}

runtime_counts worker::counts() const noexcept {
  return {.turns = turns(),
          .resumed = resumed_.get(),
          .injected = injected_.get(),
          .stolen = stolen_.get(),
          .sleeps = sleeps_.get(),
          .wakeups = rings_.get(),
          .ready = stealable_.in_reach(),
          .pinned_ready = at_home_.get(),
          .assists = assists_.get(),
          .frames = reclaimer_.frames(),
          .timers = timers_.get(),
          .max_timer_lag = duration(static_cast<duration::rep>(latest_ns_.get()))};
}

spawn_target* worker::target() noexcept { return &pool_.target; }

}}}  // namespace hocket::detail
