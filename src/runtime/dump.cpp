// loop::dump: the table of a loop's coroutines. Everything is read on the loop's thread, between two of its steps.
#include <hocket/base/text_writer.hpp>
#include <hocket/core/current.hpp>
#include <hocket/runtime/loop.hpp>

#include "runtime/platform/code_place.hpp"

#include <algorithm>
#include <cstring>

namespace hocket::inline HOCKET_ABI {
namespace {

constexpr std::size_t kind_column = 26, state_column = 33, suspended_column = 42, spawned_column = 72,
                      awaited_column = 102;

struct tally {
  std::size_t begun = 0, running = 0, ready = 0, waiting = 0;
};

bool is_running(const scheduled& one) noexcept {
  const thread_state& here = this_thread();
  return here.seat.running_on == &one.home() && here.ctx && here.ctx->coroutine() == &one;
}

bool is_waiting(const scheduled& one) noexcept {
  const activity now = one.state();
  return now == activity::waiting || now == activity::waiting_foreign;
}

tally count(list<scheduled>& members) noexcept {
  tally seen;
  for (const scheduled& one : members) {
    ++seen.begun;
    ++(is_waiting(one) ? seen.waiting : is_running(one) ? seen.running : seen.ready);
  }
  return seen;
}

const char* name_of(coroutine_kind kind) noexcept {
  switch (kind) {
    case coroutine_kind::task: return "task";
    case coroutine_kind::fiber: return "fiber";
    default: return "other";
  }
}

void write_place(text_writer& out, const std::source_location& at) noexcept {
  out.path(at.file_name()).text(":").number(at.line());
}

const char* file_of(const char* path) noexcept {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void write_place(text_writer& out, const void* code) noexcept {
  const code_place place = place_of(code);
  if (place.symbol) out.text(place.symbol).text("+");
  else if (place.module) out.path(file_of(place.module)).text("+");
  out.hexadecimal(place.module ? place.offset : reinterpret_cast<std::uintptr_t>(code));
}

void write_spawned(text_writer& out, const scheduled& one) noexcept {
  if (one.spawned().line() != 0) write_place(out, one.spawned());
  else if (one.spawned_by()) write_place(out, one.spawned_by());
  else out.text("-");
}

void write_suspended(text_writer& out, const scheduled& one) noexcept {
  const suspension* wait = is_waiting(one) ? one.waiting_for() : nullptr;
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

void write_awaited(text_writer& out, const scheduled& one, time_point now) noexcept {
  const suspension* wait = one.waiting_for();
  if (one.state() == activity::waiting_foreign) {
    out.text("a foreign awaitable");
  } else if (!is_waiting(one)) {
    out.text("-");
  } else if (const wait_source* source = wait->awaited()) {
    out.text(source->what());
    if (const char* subject = source->subject()) out.text(" \"").text(subject).text("\"");
    else out.text(" ").hexadecimal(reinterpret_cast<std::uintptr_t>(source));
    write_deadline(out, wait->deadline(), now);
  }
}

void write_line(text_writer& out, const scheduled& one, time_point now) noexcept {
  out.text(one.name()).to_column(kind_column).text(name_of(one.kind())).to_column(state_column);
  out.text(is_waiting(one) ? "waiting" : is_running(one) ? "running" : "ready");
  write_suspended(out.to_column(suspended_column), one);
  write_spawned(out.to_column(spawned_column), one);
  write_awaited(out.to_column(awaited_column), one, now);
  out.end_line();
}

}  // namespace

void loop::dump(int fd) noexcept {
  text_writer out(fd);
  const tally seen = count(coroutines_.members());
  const std::size_t all = std::max(live(), seen.begun);
  out.text("loop \"").text(coroutines_.name()).text("\": ").number(all).text(" live, ").number(seen.begun);
  out.text(" begun (").number(seen.running).text(" running, ").number(seen.ready).text(" ready, ");
  out.number(seen.waiting).text(" waiting), ").number(all - seen.begun).text(" not begun, ");
  out.number(wheel_.size()).text(" timers").end_line();
  if (seen.begun == 0) return;
  out.text("NAME").to_column(kind_column).text("KIND").to_column(state_column).text("STATE");
  out.to_column(suspended_column).text("SUSPENDED AT").to_column(spawned_column).text("SPAWNED AT");
  out.to_column(awaited_column).text("WAITS FOR").end_line();
  for (const scheduled& one : coroutines_.members()) write_line(out, one, now());
}

}  // namespace hocket::inline HOCKET_ABI
