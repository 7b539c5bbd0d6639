#include "runtime/stall_detector.hpp"

#include <hocket/base/detail/text_writer.hpp>
#include <hocket/core/detail/current.hpp>

#include <hocket/runtime/detail/signal_count.hpp>

#include "runtime/platform/thread_name.hpp"
#include "runtime/pool.hpp"

#include <algorithm>
#include <cstdio>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

void print_stall(const stall& report) noexcept {
  constexpr int standard_error = 2;
  text_writer out(standard_error);
  out.literal("hocket: coroutine \"").text(report.coroutine).literal("\" has held worker ").number(report.worker);
  out.literal(" for ").seconds(report.held);
  if (report.spawned.line() != 0) out.literal(" (spawned at ").path(report.spawned.file_name()).literal(":");
  if (report.spawned.line() != 0) out.number(report.spawned.line()).literal(")");
  out.literal(": let others run by yield(), or let blocking() run it").end_line();
}

namespace detail {

stall_detector::stall_detector(runtime::state& pool, duration limit, stall_handler handler)
    : pool_(pool),
      limit_(std::max<duration>(limit, std::chrono::milliseconds(1))),
      handler_(handler ? handler : &print_stall),
      seen_(pool.workers.size()),
      thread_([this] { run(); }) {}

stall_detector::~stall_detector() {
  // ORDER: relaxed, pairs with the load in run(): nothing else is told by it.
  over_.store(1, std::memory_order_relaxed);
  futex_wake_all(over_);
  join(thread_);
}

void stall_detector::run() noexcept {
  const exit_hook_scope ending;
  name_this_thread(pool_.name, pool_.workers.size());
  set_mask_of_library_thread();
  const duration pause = limit_ / 4;
  // ORDER: relaxed, pairs with the store in the destructor.
  while (over_.load(std::memory_order_relaxed) == 0) {
    for (std::size_t i = 0; i < seen_.size(); ++i) look(i);
    [[maybe_unused]] const bool woken = futex_wait_until(over_, 0, deadline_after(steady_clock().now(), pause));
  }
}

void stall_detector::look(std::size_t worker) noexcept {
  const auto& of = pool_.at(worker);
  const context* const running = of.running();
  const duration held = seen_[worker].look(of.turns(), running, steady_clock().now(), limit_);
  if (held != duration::zero()) tell(worker, running, held);
}

duration stall_sight::look(std::size_t turns, const context* running, time_point now, duration limit) noexcept {
  if (turns != turns_ || running != running_ || !running) {
    *this = {};
    turns_ = turns;
    running_ = running;
    since_ = now;
  } else if (!told_ && now - since_ >= limit) {
    told_ = true;
    return now - since_;
  }
  return {};
}

// The coroutine may end as soon as the lock is released, and its name with it: the handler gets a copy.
void stall_detector::tell(std::size_t worker, const context* running, duration held) const noexcept {
  char name[64] = "a coroutine";
  stall told{worker, name, held, {}};
  pool_.with_coroutine(running, [&](const scheduled* who) noexcept {
    if (!who) return;
    std::snprintf(name, sizeof name, "%s", who->name());
    told.spawned = who->spawned();
  });
  handler_(told);
}

}  // namespace detail

}}  // namespace hocket
