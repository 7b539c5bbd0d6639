// runtime::dump: everything is read while the workers stand still.
#include <hocket/base/fatal.hpp>

#include "runtime/pool.hpp"
#include "runtime/table.hpp"

#include <algorithm>

namespace hocket::inline HOCKET_ABI {
namespace {

constexpr std::chrono::milliseconds patience{250};  // with a worker that does not come

void write_counts(text_writer& out, std::size_t index, const runtime_counts& of) noexcept {
  out.text("worker ").number(index).text(": ");
  out.number(of.turns).text(" turns, ").number(of.resumed).text(" resumed, ").number(of.injected).text(" injected, ");
  out.number(of.stolen).text(" stolen, ").number(of.sleeps).text(" sleeps, ").number(of.ready).text(" ready, ");
  out.number(of.bound).text(" bound, ").number(of.timers).text(" timers, at most ").seconds(of.latest);
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

// Of workers that do not all stand still.
void runtime::state::write_what_is_sure(text_writer& out) noexcept {
  write_table_head(out);
  for (auto& one : workers) {
    const locked guard(*one->coroutines());
    write_names(out, one->coroutines()->members());
  }
}

// While all workers stand still.
void runtime::state::write_coroutines(text_writer& out) noexcept {
  tally seen;
  for (auto& one : workers) count(one->coroutines()->members(), seen);
  wait_graph waits(seen.begun);
  for (auto& one : workers) waits.add(one->coroutines()->members());
  waits.connect();
  write_table_head(out);
  for (auto& one : workers) write_table(out, one->coroutines()->members(), waits, time.now());
  waits.write_deadlocks(out);
}

// A worker that waits for its turn to ask halts for whoever asks.
std::uint32_t runtime::state::bring_to_a_standstill() noexcept {
  worker* const asking = here();
  std::uint32_t phase = asking ? still.try_begin() : still.begin();
  while (phase == 0) {
    asking->halt();
    phase = still.try_begin();
  }
  for (auto& one : workers) one->nudge();
  return phase;
}

void runtime::dump(int fd) noexcept {
  expect_threads();
  state& all = *state_;
  const std::uint32_t phase = all.bring_to_a_standstill();
  const time_point until = deadline_after(steady_clock().now(), patience);
  {
    text_writer out(fd);
    const std::size_t live = all.live();
    out.text("runtime \"").text(all.name).text("\": ").number(live).text(" live").end_line();
    bool whole = true;
    for (std::size_t i = 0; i < all.workers.size(); ++i) {
      worker& one = all.at(i);
      const bool stands = &one == all.here() || standstill::stands(one.standing(), phase, until);
      whole = whole && stands;
      write_counts(out, i, one.counts());
      if (!stands) all.write_holder(out, i);
    }
    if (whole) all.write_coroutines(out);
    else all.write_what_is_sure(out);
  }
  all.still.end();
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
    all.ready += one.ready;
    all.bound += one.bound;
    all.frames += one.frames;
    all.timers += one.timers;
    all.latest = std::max(all.latest, one.latest);
  }
  return all;
}

}  // namespace hocket::inline HOCKET_ABI
