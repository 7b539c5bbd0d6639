#include "runtime/stall_detector.hpp"

#include <hocket/base/seam/text_writer.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include <hocket/runtime/detail/signal_count.hpp>

#include "runtime/platform/interrupted_code.hpp"
#include "runtime/platform/thread_name.hpp"
#include "runtime/table.hpp"

#include <algorithm>
#include <cstdio>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

// A return address may belong to the next function. The byte before it belongs to the call.
void write_frames(text_writer& out, std::span<const void* const> frames) noexcept {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    out.literal(i == 0 ? "  in " : "  called by ");
    write_code(out, static_cast<const char*>(frames[i]) - (i == 0 ? 0 : 1));
    out.end_line();
  }
}

}  // namespace

void print_stall(const stall& report) noexcept {
  constexpr int standard_error = 2;
  text_writer out(standard_error);
  out.literal("hocket: coroutine \"").text(report.coroutine).literal("\" has held worker ").number(report.worker);
  out.literal(" for ").seconds(report.held);
  if (report.spawned.line() != 0) out.literal(" (spawned at ").path(report.spawned.file_name()).literal(":");
  if (report.spawned.line() != 0) out.number(report.spawned.line()).literal(")");
  out.literal(": let others run by yield(), or let blocking() run it").end_line();
  write_frames(out, report.frames);
  for (const void* task : report.awaiters) {
    write_code(out.literal("  awaited by "), task);
    out.end_line();
  }
}

namespace detail {

namespace {

constexpr std::chrono::milliseconds signal_timeout{100};  // for a worker that does not handle the signal

// Any thread, in the handler of a signal.
void on_interrupt(std::uint32_t number, const void* context) noexcept {
  const executor_binding& binding = this_thread().binding;
  if (!binding.pool || !binding.running_on) return;
  const worker& interrupted = *static_cast<const worker*>(binding.running_on);
  if (stack_probe* const probe = interrupted.probe())
    static_cast<void>(probe->on_signal(number, {interrupted.turns(), interrupted.running()}, context));
}

}  // namespace

void stall_detector::prepare(worker_list& pool, int signal) {
  use_signal(signal);
  listen_to_interrupts(&on_interrupt);
  if (!can_interrupt_coroutines) return;
  prepare_native_frames();
  for (auto& owner : pool.workers) owner->make_probe();
}

stall_detector::stall_detector(worker_list& pool, const runtime_options& options)
    : pool_(pool),
      limit_(std::max<duration>(options.stall_limit, std::chrono::milliseconds(1))),
      handler_(options.on_stall ? options.on_stall : &print_stall),
      signal_(options.stall_signal),
      sightings_(pool.workers.size()),
      thread_([this] { run(); }) {}

stall_detector::~stall_detector() {
  // ORDER: relaxed, pairs with the load in run(): the epoch of the watch orders it.
  over_.store(true, std::memory_order_relaxed);
  pool_.arm_watch();
  join(thread_);
}

void stall_detector::run() noexcept {
  const exit_hook_scope ending;
  name_this_thread(pool_.name, "stalls");
  set_mask_of_library_thread();
  const duration pause = limit_ / 4;
  for (;;) {
    const std::uint32_t epoch = pool_.read_watch_epoch();
    // ORDER: relaxed, pairs with the store in the destructor: the epoch of the watch orders it.
    if (over_.load(std::memory_order_relaxed)) return;
    for (std::size_t i = 0; i < sightings_.size(); ++i) check(i);
    pool_.pause_stalls(epoch, pause);
  }
}

void stall_detector::check(std::size_t index) noexcept {
  worker& owner = pool_.at(index);
  const std::size_t turns = owner.turns();
  const context* const running = owner.running();
  const duration held = sightings_[index].observe(turns, running, steady_clock().now(), limit_);
  if (held != duration::zero()) report(index, running, held, take_stack(owner, turns, running));
}

duration stall_sight::observe(std::size_t turns, const context* running, time_point now, duration limit) noexcept {
  if (turns != turns_ || running != running_ || !running) {
    *this = {};
    turns_ = turns;
    running_ = running;
    since_ = now;
  } else if (!reported_ && now - since_ >= limit) {
    reported_ = true;
    return now - since_;
  }
  return {};
}

// Null: the stack is unknown.
const stack_probe* stall_detector::take_stack(worker& stalled, std::size_t turns,
                                              const context* running) const noexcept {
  stack_probe* const probe = stalled.probe();
  if (!probe) return nullptr;
  const auto interrupt = [&](std::uint32_t number) noexcept { return stalled.interrupt(signal_, number); };
  return probe->take({turns, running}, signal_timeout, interrupt) ? probe : nullptr;
}

// The coroutine may end as soon as the lock is released, and its name with it: the handler gets a copy.
void stall_detector::report(std::size_t index, const context* running, duration held,
                            const stack_probe* stack) const noexcept {
  char name[64] = "a coroutine";
  stall details{index, name, held, {}, {}, {}};
  if (stack) {
    details.frames = stack->frames();
    details.awaiters = stack->awaiters();
  }
  pool_.with_coroutine(running, [&](const scheduled* coroutine) noexcept {
    if (!coroutine) return;
    std::snprintf(name, sizeof name, "%s", coroutine->name());
    details.spawned = coroutine->spawned();
  });
  handler_(details);
}

}  // namespace detail

}}  // namespace hocket
