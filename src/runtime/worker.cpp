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
  seated_.store(&this_thread(), std::memory_order_release);
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

void worker::halt() noexcept { pool_.still.halt(standing_); }

// --- a turn

// Whether it ran anything, or is to come back at once.
bool worker::turn() noexcept {
  turns_.add(1);
  take_injected();
  gather();
  at_home_.set(ready_.size());
  const bool any = has_ready();
  if (any) {
    share();
    ready_.reserve(ready_.size() + run_queue::slack);  // what did not fit into its array so far will
    if (is_timed()) resumed_.add(resume_all(timed_budgets(steady_clock().now())));
    else resumed_.add(has_sleepers() ? resume_all([this] { share_if_late(); }) : resume_all([] {}));
  }
  return any || due_ || drivers_.has_more();
}

// after() is called after each resume.
template <class After>
std::size_t worker::resume_all(const After& after) noexcept {
  const std::size_t resumed = resume_ready(ready_, turn_size, after);
  begin_forks();
  return resumed + resume_stealable(after);
}

// What comes from outside, by its driver and by its timers.
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
  thread_state& here = this_thread();
  std::size_t left = turn_size;
  const bool large = stealable_.is_large();
  for (; left != 0; --left) {
    if (large) prefetch(stealable_.peek(look_ahead).address());
    const std::coroutine_handle<> next = stealable_.pop();
    if (!next) break;
    here.ctx = nullptr;
    next.resume();
    after();
  }
  here.ctx = nullptr;
  return turn_size - left;
}

// Runs at once what it finds and does not put into its queue.
bool worker::find_and_begin() noexcept {
  const auto [found, fork] = find_work();
  if (fork) {
    fork->begin(*fork).resume();
    this_thread().ctx = nullptr;
  }
  return found;
}

// What is in the worker's own deque when it has resumed what was ready. What is forked deeper than its budget of
// transfers comes back through the queue, and goes on before the rest of those above it is begun: else they would all
// be taken apart, and have to be joined. But where the queue has not run empty in the whole turn one is begun even so:
// some coroutine may always be ready. A computation that has run long enough (coro/detail/fork_group.hpp) ends the
// turn.
void worker::begin_forks() noexcept {
  thread_state& here = this_thread();
  here.turn_is_over = false;
  std::size_t left = turn_size;
  do {
    fork_entry* rest = forks_.pop();
    if (!rest) break;
    rest->begin(*rest).resume();
  } while (--left != 0 && ready_.empty() && !here.turn_is_over);
  here.ctx = nullptr;
}

// --- sleeping

void worker::rest() noexcept {
  pool_.expect_threads();  // it may be the copy in a child of a coroutine that forked
  const time_point reclaim_time = maintain();
  if (!ready_.empty()) return;  // what was given back there may have been waited for
  // ORDER: acquire, pairs with the store in end_threads(); the nudge after it may have been used up in this turn, and
  // so may that of a dump.
  const auto called = [&] { return pool_.ended.load(std::memory_order_acquire) || pool_.still.asked(); };
  const auto nap = [&] { sleep(end_of_sleep(std::min(wheel_.next_expiry(), reclaim_time))); };
  static_cast<void>(worker_core::rest(called, nap));
  rings_.set(inbox_.wakes());
}

// A worker alone has no watch.
bool worker::is_timed() const noexcept { return pool_.cores.size() == 1 && &clock_ == &steady_clock(); }

// Counted first: who is served by it finds it counted. The driver before the wheel: I/O beats deadlines. A wait that it
// ends may have a timer in the wheel.
void worker::help(bool ends_budget) noexcept {
  assists_.add(1);
  // ORDER: acquire, pairs with the store in run().
  thread_state* const seated = seated_.load(std::memory_order_acquire);
  if (ends_budget && seated) use_up_budget(*seated);
  drivers_.assist();
  wheel_.assist();
}

// By the machine's clock. A clock of one's own does not tell when it will be `next`: who moves it nudges.
time_point worker::end_of_sleep(time_point next) const noexcept {
  if (&clock_ == &steady_clock()) return next;
  return next <= clock_.now() ? time_point::min() : time_point::max();
}

const context* worker::running() const noexcept {
  // ORDER: acquire, pairs with the store in run().
  const thread_state* seated = seated_.load(std::memory_order_acquire);
  return seated ? seated->ctx.get() : nullptr;
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
