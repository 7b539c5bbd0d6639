#include "runtime/runtime_dump.hpp"

#include "runtime/table.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::chrono::milliseconds stop_timeout{250};  // for a worker that does not stop

void write_counts(text_writer& out, std::size_t index, const runtime_counts& counts) noexcept {
  out.text("worker ").number(index).text(": ");
  out.number(counts.turns)
      .text(" turns, ")
      .number(counts.resumed)
      .text(" resumed, ")
      .number(counts.injected)
      .text(" injected, ");
  out.number(counts.stolen)
      .text(" stolen, ")
      .number(counts.sleeps)
      .text(" sleeps, ")
      .number(counts.ready)
      .text(" ready, ");
  out.number(counts.pinned_ready)
      .text(" pinned ready, ")
      .number(counts.timers)
      .text(" timers, at most ")
      .seconds(counts.max_timer_lag);
  out.text(" late, ").number(counts.frames).text(" bytes of frames");
  out.end_line();
}

}  // namespace

void runtime_dump::write_holder(text_writer& out, std::size_t index) noexcept {
  pool_.with_coroutine(pool_.at(index).running(), [&](const scheduled* coroutine) noexcept {
    out.text("worker ")
        .number(index)
        .literal(" does not come back from ")
        .text(coroutine ? coroutine->name() : "a coroutine");
    out.end_line();
  });
}

bool runtime_dump::all_unchanged() noexcept {
  return std::all_of(pool_.workers.begin(), pool_.workers.end(),
                     [](const auto& owner) { return owner->is_unchanged(); });
}

// Whether a worker that does not stop is in the coroutine.
bool runtime_dump::is_in_motion(const scheduled& member) noexcept {
  return std::any_of(pool_.workers.begin(), pool_.workers.end(), [&](const auto& owner) {
    return owner->in_motion() && context::coroutine_of(owner->running()) == &member;
  });
}

std::size_t runtime_dump::begun() noexcept {
  std::size_t all = 0;
  for (auto& owner : pool_.workers) {
    const locked guard(*owner->coroutines());
    for ([[maybe_unused]] const scheduled& member : owner->coroutines()->members()) ++all;
  }
  return all;
}

void runtime_dump::connect_known_part(wait_graph& waits) noexcept {
  for (auto& owner : pool_.workers) {
    const locked guard(*owner->coroutines());
    if (owner->in_motion()) waits.add_unknown(owner->coroutines()->members());
    else waits.add(owner->coroutines()->members());
  }
  waits.connect([&] { return all_unchanged(); });
}

void runtime_dump::write_known_part(text_writer& out, const wait_graph& waits) noexcept {
  write_table_head(out);
  for (auto& owner : pool_.workers) {
    const locked guard(*owner->coroutines());
    for (const scheduled& member : owner->coroutines()->members()) {
      if (is_in_motion(member)) write_constant_row(out, member, "running");
      else if (!owner->in_motion() && all_unchanged()) write_row(out, member, waits, pool_.time.now());
      else write_constant_row(out, member, "unknown");
    }
  }
  waits.write_circles(out);
}

// All workers have stopped.
void runtime_dump::write_coroutines(text_writer& out, const activity_counts& activity,
                                    const wait_graph& waits) noexcept {
  write_table_head(out);
  bool wakes_some = false;
  for (auto& worker : pool_.workers) {
    write_table(out, worker->coroutines()->members(), waits, pool_.time.now());
    wakes_some = wakes_some || worker->has_sources();
  }
  waits.write_deadlocks(out);
  write_stillness(out, activity, pool_.live(), wakes_some);
}

template <class F>
void runtime_dump::inspect(F report) noexcept {
  const std::uint32_t phase = pool_.bring_to_a_standstill();
  const time_point until = deadline_after(steady_clock().now(), stop_timeout);
  bool whole = true;
  for (std::size_t i = 0; i < pool_.workers.size(); ++i) {
    const bool stopped = pool_.wait_stopped(i, phase, until);
    pool_.at(i).record_stop(stopped);
    whole = whole && stopped;
  }
  activity_counts activity;
  if (whole)
    for (auto& worker : pool_.workers) count(worker->coroutines()->members(), activity);
  wait_graph waits(whole ? activity.begun : begun());
  if (!whole) {
    connect_known_part(waits);
  } else {
    for (auto& worker : pool_.workers) waits.add(worker->coroutines()->members());
    waits.connect();
  }
  report(whole, activity, waits);
  pool_.still.end();
}

void runtime_dump::dump(int fd, bool only_circles) noexcept {
  inspect([&](bool whole, const activity_counts& activity, const wait_graph& waits) noexcept {
    if (only_circles && !waits.has_circle()) return;
    text_writer out(fd);
    out.text("runtime \"").text(pool_.name).text("\": ").number(pool_.live()).text(" live").end_line();
    for (std::size_t i = 0; i < pool_.workers.size(); ++i) {
      write_counts(out, i, pool_.at(i).counts());
      if (pool_.at(i).in_motion()) write_holder(out, i);
    }
    if (whole) write_coroutines(out, activity, waits);
    else write_known_part(out, waits);
  });
}

void runtime_dump::notice_circles() noexcept {
  inspect([&](bool, const activity_counts&, const wait_graph& waits) noexcept {
    waits.notice_circles("runtime", pool_.name);
  });
}

}}}  // namespace hocket::detail
