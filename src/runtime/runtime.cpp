#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/asleep.hpp>
#include <hocket/core/spawn/seam/daemon_group.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/dump_section.hpp>
#include <hocket/runtime/runtime.hpp>

#include "runtime/platform/cpu_count.hpp"
#include "runtime/runtime_dump.hpp"
#include "runtime/runtime_state.hpp"

#include <algorithm>
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

void dump_to(runtime& subject, int fd) noexcept { subject.dump(fd); }

runtime_numbers read_numbers(const void* subject) noexcept {
  const auto& self = *static_cast<const runtime*>(subject);
  return {self.workers(), self.live(), self.counts()};
}

}  // namespace

runtime::runtime(const runtime_options& options) {
  prepare_asymmetric_fences();
  state_ = std::make_unique<runtime_state>(*this, *this, options, number_of_workers(options));
  if (options.stall_signal != 0 && options.stall_limit != duration::max())
    stall_detector::prepare(*state_, options.stall_signal);
  try {
    for (auto& owner : state_->workers) owner->start();
    if (workers() > 1) state_->watched.emplace(*state_);
    if (options.dump_on_signal) state_->dumps.emplace(*this, &dump_to, options.name.c_str(), options.dump_on_signal);
    if (options.stall_limit != duration::max()) state_->stalls.emplace(*state_, options);
    list_process_metrics();
    state_->metrics.emplace(this, &read_numbers, options.name.c_str());
  } catch (...) {
    end_threads();
    throw;
  }
}

runtime::~runtime() {
  if (state_->is_copy_in_child()) {
    static_cast<void>(state_.release());
    return;
  }
  expects(!state_->is_inside(), "a runtime was destroyed by one of its own coroutines, or by a blocking call of one",
          "it would wait for itself: destroy it on another thread", state_->name);
  runtime_state& all = *state_;
  all.refuse(true);
  if (debug_checks && all.live() != 0) runtime_dump(all).notice_circles();
  all.stop.request(stop_level::kill);
  [[maybe_unused]] const bool empty = all.wait_until(&admission::is_empty, time_point::max());
  // The thread that posted the last coroutine may not have returned from the post yet; it will soon.
  while (!all.has_no_posts()) {
    halt_if_asked();
    std::this_thread::yield();
  }
  end_threads();
}

void runtime::end_threads() noexcept {
  state_->metrics.reset();
  state_->watched.reset();
  state_->stalls.reset();
  state_->dumps.reset();
  // ORDER: release, pairs with the loads in worker::run() and rest().
  state_->ended.store(true, std::memory_order_release);
  for (auto& worker : state_->workers) worker->nudge();
  for (auto& worker : state_->workers) {
    if (worker->started()) worker->join();
  }
}

std::size_t runtime::workers() const noexcept { return state_->workers.size(); }
std::size_t runtime::live() const noexcept { return state_->live(); }

void runtime::cancel_all() noexcept {
  state_->expect_threads();
  state_->stop.request(stop_level::cancel);
}

void runtime::clock_moved() noexcept {
  state_->expect_threads();
  for (auto& worker : state_->workers) worker->nudge();
}

context& runtime::parent_context() noexcept { return *state_->ctx; }
unhandled_handler runtime::on_unhandled() const noexcept { return state_->unhandled; }

// A worker of this runtime posts through its own queue. It calls this only from code that does not check
// thread_state::stealable first.
void runtime::post_from_outside(runnable& work) noexcept {
  if (state_->present_worker()) hocket::detail::post(work);
  else inject([&](injection& line) noexcept { line.post(work); });
}

void runtime::post_all_from_outside(const runnables& works) noexcept {
  if (state_->present_worker()) hocket::detail::post_all(*this, works);
  else inject([&](injection& line) noexcept { line.post_all(works); });
}

template <class Post>
void runtime::inject(Post post) noexcept {
  state_->expect_threads();
  state_->inject(post);
}

void runtime::offer() noexcept {
  worker* const current = state_->present_worker();
  if (!current->gathers()) current->offer_if_late();
}

void runtime::offer_fork() noexcept { state_->present_worker()->offer_at_once(); }

// The timers of the present worker. On other threads only their clock can be read.
timer_service* runtime::timers() noexcept {
  worker* current = state_->present_worker();
  return (current ? *current : *state_->workers.front()).timers();
}

// The driver of the present worker.
driver_access runtime::drivers() noexcept {
  worker* current = state_->present_worker();
  return current ? current->drivers() : driver_access{};
}

spawn_target& runtime::daemons() { return state_->daemon_group.get_or_make(*this, nullptr); }

std::error_code runtime::enroll(std::size_t count) noexcept { return state_->enroll(count, false); }
std::error_code runtime::enroll_children(std::size_t count) noexcept { return state_->enroll(count, true); }
void runtime::leave() noexcept { state_->leave(); }

std::error_code runtime::enroll_daemons(std::size_t count, bool are_children) noexcept {
  return state_->enroll_daemons(count, are_children);
}
void runtime::leave_daemon() noexcept { state_->leave_daemon(); }

void runtime::dump(int fd) noexcept {
  state_->expect_threads();
  runtime_dump(*state_).dump(fd, false);
  text_writer out(fd);
  write_dump_sections(out, *this);
}

runtime_counts runtime::counts(std::size_t worker) const noexcept {
  expects(worker < workers(), "counts() was called for a worker that the runtime does not have",
          "the index is less than workers()");
  return state_->at(worker).counts();
}

runtime_counts runtime::counts() const noexcept {
  runtime_counts all;
  for (std::size_t i = 0; i < workers(); ++i) {
    const runtime_counts added = counts(i);
    all.turns += added.turns;
    all.resumed += added.resumed;
    all.injected += added.injected;
    all.stolen += added.stolen;
    all.sleeps += added.sleeps;
    all.wakeups += added.wakeups;
    all.assists += added.assists;
    all.ready += added.ready;
    all.pinned_ready += added.pinned_ready;
    all.frames += added.frames;
    all.timers += added.timers;
    all.max_timer_lag = std::max(all.max_timer_lag, added.max_timer_lag);
  }
  return all;
}

}}  // namespace hocket
