#include "runtime/table.hpp"

#include <hocket/core/thread/seam/current.hpp>

#include "runtime/platform/code_site.hpp"

#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::size_t kind_column = 26, state_column = 33, suspended_column = 42, spawned_column = 72,
                      awaited_column = 102;

bool is_running(const scheduled& coroutine) noexcept {
  const thread_state& thread = this_thread();
  return thread.ctx && thread.ctx->coroutine() == &coroutine;
}

bool is_waiting(const scheduled& coroutine) noexcept {
  const activity now = coroutine.state();
  return now == activity::waiting || now == activity::waiting_foreign;
}

const char* name_of(coroutine_kind kind) noexcept {
  switch (kind) {
    case coroutine_kind::task: return "task";
    case coroutine_kind::fiber: return "fiber";
    default: return "other";
  }
}

const char* file_of(const char* path) noexcept {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void write_behind_symbol(text_writer& out, const void* code, const code_site& place) noexcept {
  if (!place.symbol && place.module) out.path(file_of(place.module));
  if (place.module) out.literal("+");
  out.hexadecimal(place.module ? place.offset : reinterpret_cast<std::uintptr_t>(code));
}

// In a column: a long symbol is cut.
void write_place(text_writer& out, const void* code) noexcept {
  const code_site place = place_of(code);
  if (place.symbol) out.text(place.symbol);
  write_behind_symbol(out, code, place);
}

void write_place(text_writer& out, const std::source_location& at) noexcept {
  out.path(at.file_name()).text(":").number(at.line());
}

void write_spawned(text_writer& out, const scheduled& coroutine) noexcept {
  if (coroutine.spawned().line() != 0) write_place(out, coroutine.spawned());
  else if (coroutine.spawned_by()) write_place(out, coroutine.spawned_by());
  else out.text("-");
}

void write_suspended(text_writer& out, const scheduled& coroutine) noexcept {
  const suspension* wait = is_waiting(coroutine) ? coroutine.waiting_for() : nullptr;
  if (wait && wait->at().line() != 0) write_place(out, wait->at());
  else out.text("-");
}

duration between(time_point from, time_point to) noexcept {
  duration::rep length = 0;
  const bool over = __builtin_sub_overflow(to.time_since_epoch().count(), from.time_since_epoch().count(), &length);
  return over ? duration::max() : duration(length);
}

void write_deadline(text_writer& out, time_point deadline, time_point now) noexcept {
  if (deadline == time_point::max()) return;
  if (deadline <= now) out.text(", overdue");
  else out.text(", ").seconds(between(now, deadline)).text(" left");
}

void write_tally(text_writer& out, const wait_source::tally& counted) noexcept {
  if (!counted.words) return;
  out.literal(", ").literal(counted.words).literal(" ").number(counted.count).literal(" ").literal(counted.thing);
  if (counted.count != 1) out.literal("s");
}

void write_awaited(text_writer& out, const scheduled& coroutine, const wait_graph& waits, time_point now) noexcept {
  const suspension* wait = is_waiting(coroutine) ? coroutine.waiting_for() : nullptr;
  const wait_source* source = wait ? wait->awaited() : nullptr;
  if (coroutine.state() == activity::waiting_foreign) {
    out.text("a foreign awaitable");
  } else if (source) {
    out.text(source->what());
    if (const char* subject = source->subject()) out.text(" \"").text(subject).text("\"");
    else out.text(" ").hexadecimal(reinterpret_cast<std::uintptr_t>(source));
    const scheduled* holder = waits.holder_of(coroutine);
    if (holder && source->subject()) write_id(out, *holder);
    else if (holder) write_name(out.literal(", held by "), *holder);
    else write_tally(out, source->counted());
    if (!wait->decided()) write_deadline(out, wait->deadline(now), now);
  } else {
    out.text("-");
  }
}

}  // namespace

void write_code(text_writer& out, const void* code) noexcept {
  const code_site place = place_of(code);
  if (place.symbol) out.literal(place.symbol);
  write_behind_symbol(out, code, place);
}

void count(list<scheduled>& members, activity_counts& counts) noexcept {
  for (const scheduled& coroutine : members) {
    ++counts.begun;
    ++(is_waiting(coroutine) ? counts.waiting : is_running(coroutine) ? counts.running : counts.ready);
  }
}

void write_row(text_writer& out, const scheduled& coroutine, const wait_graph& waits, time_point now) noexcept {
  write_id(out.text(coroutine.name()), coroutine);
  out.to_column(kind_column).text(name_of(coroutine.kind())).to_column(state_column);
  out.text(is_waiting(coroutine) ? "waiting" : is_running(coroutine) ? "running" : "ready");
  write_suspended(out.to_column(suspended_column), coroutine);
  write_spawned(out.to_column(spawned_column), coroutine);
  write_awaited(out.to_column(awaited_column), coroutine, waits, now);
  out.end_line();
}

void write_table_head(text_writer& out) noexcept {
  out.text("NAME").to_column(kind_column).text("KIND").to_column(state_column).text("STATE");
  out.to_column(suspended_column).text("SUSPENDED AT").to_column(spawned_column).text("SPAWNED AT");
  out.to_column(awaited_column).text("WAITS FOR").end_line();
}

void write_table(text_writer& out, list<scheduled>& members, const wait_graph& waits, time_point now) noexcept {
  for (const scheduled& coroutine : members) write_row(out, coroutine, waits, now);
}

void write_stillness(text_writer& out, const activity_counts& counts, std::size_t live, bool wakes_some) noexcept {
  if (wakes_some || live == 0 || counts.waiting != live) return;
  out.literal("nothing here will wake them: ").number(live);
  out.literal(" wait for one another, or for a thread outside").end_line();
}

void write_constant_row(text_writer& out, const scheduled& coroutine, const char* state) noexcept {
  write_id(out.text(coroutine.name()), coroutine);
  out.to_column(kind_column).text(name_of(coroutine.kind())).to_column(state_column).text(state);
  write_spawned(out.to_column(suspended_column).text("-").to_column(spawned_column), coroutine);
  out.to_column(awaited_column).text("-").end_line();
}

}}}  // namespace hocket::detail
