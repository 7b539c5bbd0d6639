#include "runtime/worker.hpp"

#include <hocket/base/fatal.hpp>
#include <hocket/core/detail/current.hpp>
#include <hocket/core/detail/housekeeping.hpp>
#include <hocket/core/driver.hpp>
#include <hocket/core/frame_memory.hpp>

#include "runtime/platform/thread_name.hpp"
#include "runtime/pool.hpp"
#include "runtime/turn.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hocket::inline HOCKET_ABI::detail {

namespace {

constexpr std::chrono::milliseconds watch{10};  // how long what is ready may stand beside a worker that is stuck

}  // namespace

worker::worker(runtime::state& pool, std::size_t index)
    : worker_core(pool),
      pool_(pool),
      index_(index),
      clock_(pool.time),
      wheel_(clock_, *this, *this),
      coroutines_(*this, pool.name, true) {}

void worker::start() {
  thread_ = std::thread([this] { run(); });
  if (!pool_.drivers) return;
  // ORDER: acquire, pairs with the store in make_driver(): the failure is visible.
  while (has_driver_.load(std::memory_order_acquire) == 0) futex_wait(has_driver_, 0);
  if (failure_) std::rethrow_exception(failure_);
}

void worker::run() noexcept {
  const exit_hook_scope ending;
  name_this_thread(pool_.name, index_);
  call(pool_.on_start);
  if (make_driver()) work();
  driver_.reset();
  call(pool_.on_stop);
}

// Here and not in the constructor, because a driver may belong to the thread that makes it.
bool worker::make_driver() noexcept {
  if (!pool_.drivers) return true;
  try {
    driver_ = pool_.drivers->make(index_);
  } catch (...) {
    failure_ = std::current_exception();
  }
  expects(driver_ || failure_, "a driver_maker made no driver", "return one, or throw", pool_.name);
  const bool made = !failure_;  // which the constructor may take from now on
  if (made) inbox_.sleep_in(*driver_);
  polls_.set(driver_.get());
  // ORDER: release, pairs with the load in start().
  has_driver_.store(1, std::memory_order_release);
  futex_wake_all(has_driver_);
  return made;
}

void worker::work() noexcept {
  // ORDER: release, pairs with the load in running().
  seated_.store(&this_thread(), std::memory_order_release);
  running_scope running({this, &ready_, &pool_.self, &stealable_, &forks_}, nullptr);
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

void worker::halt() noexcept { pool_.still.halt(standing_); }

// --- a turn

// Whether it ran anything, or is to come back at once.
bool worker::turn() noexcept {
  turns_.add(1);
  take_posted();
  take_injected();
  if (turns() % house_turns == 0) [[unlikely]]
    static_cast<void>(keep_own_house());
  gather();
  bound_.set(ready_.size());
  const bool any = has_ready();
  if (any) {
    share();
    ready_.reserve(ready_.size() + run_queue::slack);  // what did not fit into its array so far will
    std::size_t resumed = resume_ready(ready_, turn_size);
    begin_forks();
    resumed += resume_stealable();
    resumed_.add(resumed);
  }
  return any || due_;
}

time_point worker::keep_own_house() noexcept {
  frames_.set(frame_memory_usage().held);
  return keep_house(clock_);
}

// What comes by its driver and its timers. I/O first: what has come in time beats a deadline.
void worker::gather() noexcept {
  gathers_ = true;
  polls_.turn();
  due_ = wheel_.advance(turn_size);
  gathers_ = false;
  if (wheel_.fired() == timers_.get()) return;
  timers_.set(wheel_.fired());
  latest_ns_.set(static_cast<std::size_t>(wheel_.latest().count()));
}

std::size_t worker::resume_stealable() noexcept {
  thread_state& here = this_thread();
  std::size_t left = turn_size;
  const bool large = stealable_.is_large();
  for (; left != 0; --left) {
    if (large) prefetch(stealable_.peek(look_ahead).address());
    const std::coroutine_handle<> next = stealable_.pop();
    if (!next) break;
    here.ctx = nullptr;
    next.resume();
  }
  here.ctx = nullptr;
  return turn_size - left;
}

void worker::take_posted() noexcept {
  for (runnable* work = inbox_.take(); work;) {
    runnable* next = work->next;
    if (work == &reclaim_) wheel_.reclaim();
    else ready_.push(*work);
    work = next;
  }
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
// some coroutine may always be ready.
void worker::begin_forks() noexcept {
  std::size_t left = turn_size;
  do {
    fork_entry* rest = forks_.pop();
    if (!rest) break;
    rest->begin(*rest).resume();
  } while (--left != 0 && ready_.empty());
  this_thread().ctx = nullptr;
}

// --- sleeping

void worker::rest() noexcept {
  pool_.self.expect_threads();  // it may be the copy in a child of a coroutine that forked
  const time_point house = keep_own_house();
  if (!ready_.empty()) return;  // what was given back there may have been waited for
  // ORDER: acquire, pairs with the store in end_threads(); the nudge after it may have been used up in this turn, and
  // so may that of a dump.
  const auto called = [&] { return pool_.ended.load(std::memory_order_acquire) || pool_.still.asked(); };
  const auto until = [&](bool watches) { return end_of_sleep(std::min(wheel_.next_expiry(), house), watches); };
  if (worker_core::rest(called, until)) polls_.soon();
}

// By the machine's clock. A clock of one's own does not tell when it will be `next`: who moves it nudges.
time_point worker::end_of_sleep(time_point next, bool watches) const noexcept {
  if (&clock_ != &steady_clock()) next = next <= clock_.now() ? time_point::min() : time_point::max();
  return watches ? std::min(next, steady_clock().now() + watch) : next;
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
          .ready = stealable_.in_reach(),
          .bound = bound_.get(),
          .frames = frames_.get(),
          .timers = timers_.get(),
          .latest = duration(static_cast<duration::rep>(latest_ns_.get()))};
}

// --- executor

// From its own thread this is reached only by those who do not look at thread_state::ready first.
void worker::post(runnable& work) noexcept {
  if (current_executor() == this) ready_.push(work);
  else inbox_.post(work);
}

void worker::post_all(const runnables& works) noexcept {
  if (current_executor() == this) hocket::detail::post_all(*this, works);
  else inbox_.post_all(works);
}

spawn_target* worker::target() noexcept { return &pool_.self; }

void worker::wake() noexcept { inbox_.post(reclaim_); }

}  // namespace hocket::inline HOCKET_ABI::detail
