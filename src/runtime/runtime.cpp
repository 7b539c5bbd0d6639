#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/asleep.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/worker_at.hpp>

#include "runtime/platform/cpu_count.hpp"
#include "runtime/pool.hpp"

#include <system_error>
#include <thread>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

std::size_t number_of_workers(const runtime_options& options) {
  if (options.workers > runtime::max_workers)
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "a runtime of more than 1,024 workers: one for each CPU is the most that helps");
  return options.workers ? options.workers : usable_cpus();
}

}  // namespace

// --- what the workers share

runtime::state::state(runtime& owner, const runtime_options& options, std::size_t count)
    : pool_core(count),
      self(owner),
      name(options.name.c_str()),
      time(options.clock ? *options.clock : steady_clock()),
      unhandled(options.on_unhandled ? options.on_unhandled : &abort_on_unhandled),
      on_start(options.on_start),
      on_stop(options.on_stop),
      ctx(context::child_of(context::root(), {.name = options.name, .stop = &stop}, {})) {
  workers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) workers.push_back(std::make_unique<worker>(*this, i));
}

worker* runtime::state::here() const noexcept {
  const executor_seat& seat = this_thread().seat;
  return seat.pool == &self ? static_cast<worker*>(seat.running_on) : nullptr;
}

bool runtime::state::is_inside() const noexcept { return here() || this_thread().serves == &self; }

// First those that left, then those that entered: each that left had entered before, so if the sums are equal there was
// a moment in between at which none was there.
std::size_t runtime::state::others() const noexcept {
  // ORDER: acquire, pairs with the fetch_add in leave(): what the coroutines did is visible.
  std::size_t gone = left.load(std::memory_order_acquire);
  for (const auto& one : workers) gone += one->left();
  // ORDER: relaxed, pairs with nothing: the acquire before it keeps it behind.
  std::size_t come = entered.load(std::memory_order_relaxed);
  for (const auto& one : workers) come += one->entered();
  return come - gone;
}

// --- the runtime

runtime::runtime(const runtime_options& options) {
  prepare_asymmetric_fences();
  state_ = std::make_unique<state>(*this, options, number_of_workers(options));
  if (options.stall_signal != 0 && options.stall_limit != duration::max())
    stall_detector::prepare(*state_, options.stall_signal);
  try {
    for (auto& one : state_->workers) one->start();
    if (workers() > 1) state_->watched.emplace(*state_);
    if (options.dump_on_signal) state_->dumps.emplace(*this, options.name.c_str(), options.dump_on_signal);
    if (options.stall_limit != duration::max()) state_->stalls.emplace(*state_, options);
  } catch (...) {
    end_threads();
    throw;
  }
}

bool runtime::is_copy_in_child() const noexcept { return state_->forks != forks_so_far(); }

void runtime::expect_threads() const noexcept {
  expects(!is_copy_in_child(), "a runtime was used in a child of the process that made it",
          "fork() takes no threads along: fork before the runtime is made, or exec in the child", state_->name);
}

runtime::~runtime() {
  if (is_copy_in_child()) {
    static_cast<void>(state_.release());
    return;
  }
  expects(!state_->is_inside(), "a runtime was destroyed by one of its own coroutines, or by a blocking call of one",
          "it would wait for itself: destroy it on another thread", state_->name);
  state& all = *state_;
  all.refuse(true);
  if (debug_checks && all.live() != 0) all.notice_circles();
  all.stop.request(stop_level::kill);
  [[maybe_unused]] const bool empty = all.wait_until(&state::is_empty, time_point::max());
  // Whoever posted the last ones may not have returned yet: he is about to.
  while (!all.is_left_alone()) {
    halt_if_asked();
    std::this_thread::yield();
  }
  end_threads();
}

void runtime::end_threads() noexcept {
  state_->watched.reset();
  state_->stalls.reset();
  state_->dumps.reset();
  // ORDER: release, pairs with the loads in worker::run() and rest().
  state_->ended.store(true, std::memory_order_release);
  for (auto& one : state_->workers) one->nudge();
  for (auto& one : state_->workers) {
    if (one->started()) one->join();
  }
}

std::size_t runtime::workers() const noexcept { return state_->workers.size(); }
std::size_t runtime::live() const noexcept { return state_->live(); }

void runtime::cancel_all() noexcept {
  expect_threads();
  state_->stop.request(stop_level::cancel);
}

void runtime::clock_moved() noexcept {
  expect_threads();
  for (auto& one : state_->workers) one->nudge();
}

context& runtime::parent_context() noexcept { return *state_->ctx; }
unhandled_handler runtime::on_unhandled() const noexcept { return state_->unhandled; }

// A worker of it posts through its own queue, and comes here only if it has not looked at thread_state::stealable.
void runtime::post_from_outside(runnable& work) noexcept {
  if (state_->here()) hocket::detail::post(work);
  else inject([&](injection& line) noexcept { line.post(work); });
}

void runtime::post_all_from_outside(const runnables& works) noexcept {
  if (state_->here()) hocket::detail::post_all(*this, works);
  else inject([&](injection& line) noexcept { line.post_all(works); });
}

template <class Post>
void runtime::inject(Post post) noexcept {
  expect_threads();
  state_->inject(post);
}

void runtime::offer() noexcept {
  worker* const here = state_->here();
  if (!here->gathers()) here->offer_if_late();
}

void runtime::offer_fork() noexcept { state_->here()->offer_at_once(); }

namespace detail {
worker_at::worker_at(runtime& on, std::size_t index) noexcept : on_(on), first_(on.state_->at(index)) {
  expects(index < on.workers(), "a worker was named that a runtime does not have", "they are numbered from 0",
          on.state_->name);
}
}  // namespace detail

// Of the present worker. Elsewhere they tell the time, and nothing can be attached to them.
timer_service* runtime::timers() noexcept {
  worker* here = state_->here();
  return (here ? *here : *state_->workers.front()).timers();
}

// Of the present worker, too.
driver_access runtime::drivers() noexcept {
  worker* here = state_->here();
  return here ? here->drivers() : driver_access{};
}

inline bool runtime::is_admitted(bool children) const noexcept {
  // ORDER: relaxed, pairs with the store in refuse().
  const auto admits = state_->admits.load(std::memory_order_relaxed);
  return admits == state::gate::open || (admits != state::gate::closed && children);
}

inline void runtime::state::notify_end() noexcept {
  light_fence();
  // ORDER: relaxed, pairs with the store in refuse(): the fences order it.
  if (admits.load(std::memory_order_relaxed) == gate::open) [[likely]]
    return;
  // ORDER: release, pairs with the load in wait_until(): the count is visible.
  ends.fetch_add(1, std::memory_order_release);
  futex_wake_all(ends);
}

spawn_target& runtime::daemons() { return state_->daemon_group.get_or_make(*this, nullptr); }

std::error_code runtime::enroll_daemons(std::size_t count, bool are_children) noexcept {
  if (!is_admitted(are_children)) return make_error_code(errc::cancelled);
  expect_threads();
  state_->daemons.enter(count);
  return {};
}

void runtime::leave_daemon() noexcept {
  state_->daemons.leave();
  state_->notify_end();
}

std::error_code runtime::enroll(std::size_t count) noexcept { return admit(count, false); }
std::error_code runtime::enroll_children(std::size_t count) noexcept { return admit(count, true); }

std::error_code runtime::admit(std::size_t count, bool children) noexcept {
  if (!is_admitted(children)) [[unlikely]]
    return make_error_code(errc::cancelled);
  if (worker* here = state_->here()) {
    here->entered_here(count);
    return {};
  }
  expect_threads();
  // ORDER: relaxed, pairs with nothing: the coroutine itself is handed over by post().
  state_->entered.fetch_add(count, std::memory_order_relaxed);
  return {};
}

void runtime::leave() noexcept {
  if (worker* here = state_->here()) here->left_here();
  // ORDER: release, pairs with the load in others().
  else state_->left.fetch_add(1, std::memory_order_release);
  state_->notify_end();
}

}}  // namespace hocket
