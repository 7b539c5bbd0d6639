// runtime::dump: everything is read while the workers stand still.
//
// # A worker that does not stop
//
// It is in one coroutine: the turn and the running context that the asking thread notes after its patience. As long as
// both are the same (has_stayed()), the worker has resumed nothing else, and so no other coroutine runs anywhere. The
// dump checks that before it reads each coroutine of a stopped worker. If the worker has left its coroutine, it may run
// any coroutine, and from then on rows have only what never changes.
//
//   the coroutine                        its row has
//   runs on a worker in motion           "running", and what never changes
//   began on a stopped worker            all, as long as the workers in motion have stayed
//   began on a worker in motion          "unknown", and what never changes
//
// Registries are locked meanwhile: a coroutine that began on a stopped worker may end on a worker in motion.
//
// Hazard: if the worker in motion grants a wait and destroys its source between the check and the read, then the dump
// reads a source that is gone. Any thread of the program of another kind can do the same (suspension::awaited()).
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/asleep.hpp>
#include <hocket/core/thread/seam/dump_section.hpp>

#include "runtime/pool.hpp"
#include "runtime/table.hpp"

#include <algorithm>
#include <thread>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

constexpr std::chrono::milliseconds patience{250};  // with a worker that does not come

void write_counts(text_writer& out, std::size_t index, const runtime_counts& of) noexcept {
  out.text("worker ").number(index).text(": ");
  out.number(of.turns).text(" turns, ").number(of.resumed).text(" resumed, ").number(of.injected).text(" injected, ");
  out.number(of.stolen).text(" stolen, ").number(of.sleeps).text(" sleeps, ").number(of.ready).text(" ready, ");
  out.number(of.pinned_ready)
      .text(" pinned ready, ")
      .number(of.timers)
      .text(" timers, at most ")
      .seconds(of.max_timer_lag);
  out.text(" late, ").number(of.frames).text(" bytes of frames");
  out.end_line();
}

}  // namespace

void runtime::state::write_holder(text_writer& out, std::size_t index) noexcept {
  with_coroutine(at(index).running(), [&](const scheduled* who) noexcept {
    out.text("worker ").number(index).literal(" does not come back from ").text(who ? who->name() : "a coroutine");
    out.end_line();
  });
}

bool runtime::state::all_have_stayed() noexcept {
  return std::all_of(workers.begin(), workers.end(), [](const auto& owner) { return owner->has_stayed(); });
}

// Whether a worker that does not stop is in the coroutine.
bool runtime::state::is_in_motion(const scheduled& member) noexcept {
  return std::any_of(workers.begin(), workers.end(), [&](const auto& owner) {
    return owner->in_motion() && context::coroutine_of(owner->running()) == &member;
  });
}

std::size_t runtime::state::begun() noexcept {
  std::size_t all = 0;
  for (auto& owner : workers) {
    const locked guard(*owner->coroutines());
    for ([[maybe_unused]] const scheduled& member : owner->coroutines()->members()) ++all;
  }
  return all;
}

void runtime::state::connect_known_part(wait_graph& waits) noexcept {
  for (auto& owner : workers) {
    const locked guard(*owner->coroutines());
    if (owner->in_motion()) waits.add_unknown(owner->coroutines()->members());
    else waits.add(owner->coroutines()->members());
  }
  waits.connect([&] { return all_have_stayed(); });
}

void runtime::state::write_known_part(text_writer& out, const wait_graph& waits) noexcept {
  write_table_head(out);
  for (auto& owner : workers) {
    const locked guard(*owner->coroutines());
    for (const scheduled& member : owner->coroutines()->members()) {
      if (is_in_motion(member)) write_constant_row(out, member, "running");
      else if (!owner->in_motion() && all_have_stayed()) write_row(out, member, waits, time.now());
      else write_constant_row(out, member, "unknown");
    }
  }
  waits.write_circles(out);
}

// While all workers stand still.
void runtime::state::write_coroutines(text_writer& out, const activity_counts& seen, const wait_graph& waits) noexcept {
  write_table_head(out);
  bool wakes_some = false;
  for (auto& one : workers) {
    write_table(out, one->coroutines()->members(), waits, time.now());
    wakes_some = wakes_some || one->has_sources();
  }
  waits.write_deadlocks(out);
  write_stillness(out, seen, live(), wakes_some);
}

// A worker that waits for its turn to ask halts for whoever asks.
std::uint32_t runtime::state::bring_to_a_standstill() noexcept {
  worker* const asking = here();
  std::uint32_t phase = asking ? still.try_begin() : still.begin();
  while (phase == 0) {
    asking->halt();
    halt_if_asked();
    std::this_thread::yield();  // the watch may be at it, for a moment
    phase = still.try_begin();
  }
  for (auto& one : workers) one->nudge();
  return phase;
}

// Whether a worker stands still, or does so in time.
bool runtime::state::stands(std::size_t index, std::uint32_t phase, time_point until) noexcept {
  const worker& one = at(index);
  return &one == here() || standstill::stands(one.standing(), phase, until);
}

template <class F>
void runtime::state::look(F tell) noexcept {
  const std::uint32_t phase = bring_to_a_standstill();
  const time_point until = deadline_after(steady_clock().now(), patience);
  bool whole = true;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const bool stopped = stands(i, phase, until);
    at(i).record_stop(stopped);
    whole = whole && stopped;
  }
  activity_counts seen;
  if (whole)
    for (auto& one : workers) count(one->coroutines()->members(), seen);
  wait_graph waits(whole ? seen.begun : begun());
  if (!whole) {
    connect_known_part(waits);
  } else {
    for (auto& one : workers) waits.add(one->coroutines()->members());
    waits.connect();
  }
  tell(whole, seen, waits);
  still.end();
}

void runtime::state::dump(int fd, bool only_circles) noexcept {
  look([&](bool whole, const activity_counts& seen, const wait_graph& waits) noexcept {
    if (only_circles && !waits.has_circle()) return;
    text_writer out(fd);
    out.text("runtime \"").text(name).text("\": ").number(live()).text(" live").end_line();
    for (std::size_t i = 0; i < workers.size(); ++i) {
      write_counts(out, i, at(i).counts());
      if (at(i).in_motion()) write_holder(out, i);
    }
    if (whole) write_coroutines(out, seen, waits);
    else write_known_part(out, waits);
  });
}

void runtime::state::notice_circles() noexcept {
  look([&](bool, const activity_counts&, const wait_graph& waits) noexcept { waits.notice_circles("runtime", name); });
}

void runtime::dump(int fd) noexcept {
  expect_threads();
  state_->dump(fd, false);
  text_writer out(fd);
  write_dump_sections(out, *this);
}

runtime_counts runtime::counts(std::size_t worker) const noexcept {
  expects(worker < workers(), "a worker was asked for that the runtime does not have", "they count from 0: workers()");
  return state_->at(worker).counts();
}

runtime_counts runtime::counts() const noexcept {
  runtime_counts all;
  for (std::size_t i = 0; i < workers(); ++i) {
    const runtime_counts one = counts(i);
    all.turns += one.turns;
    all.resumed += one.resumed;
    all.injected += one.injected;
    all.stolen += one.stolen;
    all.sleeps += one.sleeps;
    all.wakeups += one.wakeups;
    all.assists += one.assists;
    all.ready += one.ready;
    all.pinned_ready += one.pinned_ready;
    all.frames += one.frames;
    all.timers += one.timers;
    all.max_timer_lag = std::max(all.max_timer_lag, one.max_timer_lag);
  }
  return all;
}

}}  // namespace hocket
