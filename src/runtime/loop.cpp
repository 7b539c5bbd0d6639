#include <hocket/base/fatal.hpp>
#include <hocket/core/spawn/seam/daemon_group.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/runtime/loop.hpp>

#include "runtime/turn.hpp"

#include <algorithm>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

loop::loop(const loop_options& options)
    : event_loop(options.clock ? *options.clock : steady_clock(), options.parker, options.name.c_str(), false),
      sleeps_(options.parker || !options.clock),
      is_timed_(&clock_ == &steady_clock()),
      context_(context::child_of(context::root(), {.name = options.name, .stop = &stop_}, {})),
      unhandled_(options.on_unhandled ? options.on_unhandled : &abort_on_unhandled) {
  prepare_asymmetric_fences();
}

loop::~loop() { end_all(); }

// --- running

void loop::run() {
  if (!run_while([](const void* self) noexcept { return static_cast<const loop*>(self)->others() != 0; }, this)) return;
  if (live() == 0) return;
  run_while([](const void* self) noexcept { return static_cast<const loop*>(self)->cancels_daemons(); }, this);
}

// Called after each turn: another thread may have renewed the group for a daemon that it spawns.
bool loop::cancels_daemons() const noexcept {
  if (live() == 0) return false;
  daemon_group_.cancel();
  return true;
}

// False: stop() was called, or the loop would have to sleep and must not.
bool loop::run_while(condition is_unfinished, const void* argument) {
  begin_run();
  running_scope running(seat_, nullptr);
  while (is_unfinished(argument)) {
    turn(turn_size);
    if (take_stop()) return false;  // after the turn, which consumes the nudge of an earlier stop()
    if (busy() || !is_unfinished(argument)) continue;
    if (!rest(time_point::max())) return false;
  }
  return true;
}

// Coroutines and timers that are ready or due at the beginning run even if `until` has passed: they are first in the
// queue.
void loop::run_until_time(time_point until) {
  begin_run();
  running_scope running(seat_, nullptr);
  take_posted();
  while (wheel_.advance(turn_size)) continue;
  std::size_t first = ready_.size();
  do {
    first -= std::min(first, turn(turn_size));
    if (take_stop()) return;
    if (busy()) continue;
    if (!rest(until)) return;
  } while (first != 0 || now() < until);
}

bool loop::step() {
  begin_run();
  running_scope running(seat_, nullptr);
  return turn(1) != 0 || due_ || drivers_.has_more();
}

bool loop::poll() {
  begin_run();
  running_scope running(seat_, nullptr);
  turn(turn_size);
  static_cast<void>(take_stop());
  return busy();
}

time_point loop::begin_sleep() {
  begin_run();
  running_scope running(seat_, nullptr);
  const time_point reclaim_time = maintain();
  drivers_.poll_in_turn();
  if (busy() || !inbox_.begin_sleep()) return time_point::min();
  asleep_ = true;
  return std::min(wheel_.next_expiry(), reclaim_time);
}

void loop::end_sleep() noexcept {
  if (std::exchange(asleep_, false)) slept(inbox_.end_sleep());
}

void loop::begin_run() {
  expects(
      current_executor() == nullptr, "a loop was run by a coroutine",
      "it would block the worker that runs it: await what the loop shall finish, or run the loop on its own thread");
  drivers_.expect_same_process();
  end_sleep();
  drivers_.poll_soon();
}

void loop::stop() noexcept {
  // ORDER: release, pairs with the exchange in take_stop().
  stopping_.store(true, std::memory_order_release);
  inbox_.nudge();
}

bool loop::take_stop() noexcept {
  // ORDER: relaxed, pairs with nothing: a cheap check; the exchange below decides.
  if (!stopping_.load(std::memory_order_relaxed)) return false;
  // ORDER: acquire, pairs with the store in stop().
  return stopping_.exchange(false, std::memory_order_acquire);
}

// Returns the number of resumed coroutines. due_: due timers remain.
std::size_t loop::turn(std::size_t max_resumes) noexcept {
  // ORDER: relaxed, pairs with nothing: a size that is good enough.
  const std::size_t live = live_here_.load(std::memory_order_relaxed) + live_elsewhere_.load(std::memory_order_relaxed);
  ready_.reserve(live + run_queue::slack);
  if (!wheel_.empty()) end_late_waits();
  begin_turn(++turns_);
  if (is_timed_) return resume_ready(ready_, max_resumes, timed_budgets(now()));
  return resume_ready(ready_, max_resumes, [] {});
}

// If a coroutine waits in a loop for a descriptor that is always ready, then its deadline never ends a wait, because
// the driver grants each wait before the timers advance. Prevented by an advance to the last reading of the clock
// before the driver is polled.
void loop::end_late_waits() noexcept {
  if (!drivers_.has_more()) wheel_.advance_to(wheel_.last_reading(), turn_size);
}

// Sleeps until there may be work. False: there is none, and the loop must not sleep.
bool loop::rest(time_point until) noexcept {
  const time_point maintenance = maintain();
  if (busy()) return true;  // the maintenance may have returned memory that a coroutine waited for
  const time_point next = std::min({until, wheel_.next_expiry(), maintenance});
  if (can_sleep(next)) {
    sleep(next);
    return true;
  }
  slept(false);
  return next <= now();
}

// --- ending

// Kills the remaining coroutines. A killed coroutine may wait for others to end (a join), so this may sleep, like
// run(). A coroutine that waits for a foreign awaitable cannot be killed: that is fatal.
void loop::end_all() noexcept {
  if (live() == 0) drivers_.leave_to_parent();
  begin_run();
  // ORDER: relaxed, pairs with the load in enroll(): a concurrent spawn is killed below.
  closing_.store(true, std::memory_order_relaxed);
  if (debug_checks && live() != 0) notice_circles();
  stop_.request(stop_level::kill);
  running_scope running(seat_, nullptr);
  do {
    turn(turn_size);
    take_posted();
    if (busy() || live() == 0) continue;
    for (scheduled& coroutine : coroutines_.members()) {
      if (coroutine.state() != activity::waiting_foreign) continue;
      fatal("a loop was destroyed while a coroutine waits for a foreign awaitable",
            "such a wait cannot be killed: complete the foreign operation before", coroutine.name(),
            coroutine.spawned());
    }
    static_cast<void>(rest(time_point::max()));
  } while (busy() || live() != 0);
}

// --- spawn_target

// The loop's own thread counts without a read-modify-write.
[[HOCKET_ALWAYS_INLINE]] inline void loop::add_live(std::size_t count) noexcept {
  if (current_executor() == this) [[likely]] {
    // ORDER: relaxed, pairs with nothing: this thread alone writes it.
    const std::size_t by_owner = live_here_.load(std::memory_order_relaxed);
    // ORDER: release, pairs with the load in live().
    live_here_.store(by_owner + count, std::memory_order_release);
  } else {
    // ORDER: release, pairs with the load in live().
    live_elsewhere_.fetch_add(count, std::memory_order_release);
  }
}

std::size_t loop::live() const noexcept {
  return daemons_.plus([this]() noexcept { return others(); });
}

std::size_t loop::others() const noexcept {
  // ORDER: acquire, pairs with the stores in add_live() and the fetch_add there: the effects of the coroutines are
  // visible. It also keeps this load first: a reader that sees the end of a coroutine then sees that another thread
  // spawned it, so the sum is never too small.
  const std::size_t by_owner = live_here_.load(std::memory_order_acquire);
  // ORDER: acquire, pairs with the fetch_add in add_live(), as above.
  return by_owner + live_elsewhere_.load(std::memory_order_acquire);
}

bool loop::is_closing() const noexcept {
  // ORDER: relaxed, pairs with the store in end_all().
  return closing_.load(std::memory_order_relaxed);
}

std::error_code loop::enroll(std::size_t count) noexcept {
  // ORDER: relaxed, as in is_closing().
  if (closing_.load(std::memory_order_relaxed)) return make_error_code(errc::cancelled);
  add_live(count);
  return {};
}

void loop::leave() noexcept { add_live(~std::size_t{0}); }

spawn_target& loop::daemons() {
  daemon_group& group = daemon_group_.get_or_make(*this, nullptr);
  if (daemons_.size() == 0) group.renew();
  return group;
}

std::error_code loop::enroll_daemons(std::size_t count, bool) noexcept {
  if (is_closing()) return make_error_code(errc::cancelled);
  daemons_.enter(count);
  return {};
}

void loop::leave_daemon() noexcept { daemons_.leave(); }

// --- simulated_parker

bool simulated_parker::park(time_point until) noexcept {
  // ORDER: acquire, pairs with the store in wake().
  if (woken_.exchange(0, std::memory_order_acquire) != 0) return true;
  if (until != time_point::max() && until > clock_.now()) clock_.set(until);
  return false;
}

void simulated_parker::wake() noexcept {
  // ORDER: release, pairs with the exchange in park().
  woken_.store(1, std::memory_order_release);
}

}}  // namespace hocket
