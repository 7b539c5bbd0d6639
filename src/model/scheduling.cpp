// The choice of the next thread, and the bug if no thread can run: see engine.hpp.
#include "engine.hpp"

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

void engine::arrive() {
  if (abandoning_) return unwind_step();
  if (++steps_ > bounds_.steps) {
    fail(bug::livelock, "no end after " + std::to_string(bounds_.steps) +
                            " operations: a spin loop without model::pause(), a livelock, or a test that is too large");
  }
  if (running_ != body_thread && !std::exchange(fresh_, false)) maybe_preempt();
  memory_.advance(running_);
}

void engine::maybe_preempt() {
  std::array<std::uint32_t, max_threads> ready{};
  std::uint32_t count = 0;
  ready[count++] = running_;
  for (auto t = joined_; t < count_; ++t) {
    if (t != running_ && can_run(threads_[t])) ready[count++] = t;
  }
  auto chosen = ready[decide(decision::thread, count, used_.preemptions, allowed_.preemptions)];
  if (chosen == running_) return;
  next_ = chosen;
  prepare(chosen);
  leave();
}

// Leaves this thread's stack until the thread is chosen again; throws if it was entered only to be unwound.
void engine::leave() {
  self().stack->leave();
  if (abandoning_) unwind_step();
  fresh_ = false;
}

void engine::block(state reason) {
  auto& thread = self();
  if (abandoning_) return give_up();
  thread.is = reason;
  if (running_ == body_thread) {
    report_stuck();
    return unwind_step();
  }
  leave();
  fresh_ = true;
}

bool engine::can_run(const model_thread& thread) const noexcept {
  if (thread.is == state::paused) return changes_by_others(thread) != thread.seen;
  return thread.is == state::ready || thread.is == state::expiring;
}

// Chooses freely among the threads that can run; no_thread if none can.
std::uint32_t engine::pick() {
  std::array<std::uint32_t, max_threads> ready{};
  std::uint32_t count = 0;
  bool all_finished = true;
  for (auto t = joined_; t < count_; ++t) {
    if (can_run(threads_[t])) ready[count++] = t;
    all_finished = all_finished && threads_[t].is == state::finished;
  }
  if (all_finished) return no_thread;
  if (count == 0) {
    for (auto t = joined_; t < count_; ++t) {
      if (threads_[t].is == state::paused && threads_[t].chance_at != changes_ + 1) ready[count++] = t;
    }
  }
  if (count == 0) {
    for (auto t = joined_; t < count_; ++t) {
      if (threads_[t].is == state::sleeping && threads_[t].timed) ready[count++] = t;
    }
  }
  if (count == 0) {
    report_stuck();
    return no_thread;
  }
  return choose_among(ready, count);
}

std::uint32_t engine::choose_among(const std::array<std::uint32_t, max_threads>& ready, std::uint32_t count) {
  std::uint32_t free = 0;
  auto answer = count > 1 ? choices_.choose(decision::thread, count, count) : free;
  if (choices_.diverged()) {
    record_bug(bug::nondeterminism,
               "the body did not repeat itself: it must not depend on time, addresses or static state");
    return no_thread;
  }
  prepare(ready[answer]);
  return ready[answer];
}

// The chosen thread continues with its next operation.
void engine::prepare(std::uint32_t thread) {
  auto& chosen = threads_[thread];
  fresh_ = true;
  if (chosen.is == state::sleeping || chosen.is == state::expiring) {
    chosen.timed_out = true;
    chosen.is = state::ready;
  }
  if (chosen.is != state::paused) return;
  if (changes_by_others(chosen) == chosen.seen) chosen.chance_at = changes_ + 1;
  chosen.is = state::ready;
  for (auto id : chosen.looked_at) memory_.refresh(thread, id);
  chosen.looked_at.clear();
}

void engine::report_stuck() {
  bool asleep = false, spinning = false;
  std::string blocked;
  for (std::uint32_t t = 0; t < count_; ++t) {
    const auto& thread = threads_[t];
    if (thread.is == state::ready || thread.is == state::finished) continue;
    if (!blocked.empty()) blocked += ", ";
    blocked += thread.name;
    if (thread.is == state::paused) {
      blocked += " spins";
      spinning = true;
    } else if (thread.is == state::sleeping) {
      blocked += " sleeps on " + called(thread.blocked_on);
      asleep = true;
    } else {
      blocked += " waits for " + called(thread.blocked_on);
    }
  }
  auto kind = spinning ? bug::livelock : asleep ? bug::lost_wakeup : bug::deadlock;
  record_bug(kind, "no thread can run: " + blocked);
}

std::uint32_t engine::decide(decision kind, std::uint32_t options, std::uint32_t& used, std::uint32_t allowed) {
  if (options < 2) return 0;
  auto limit = used < allowed ? options : 1;
  if (limit < options) cut_ = true;
  auto answer = choices_.choose(kind, options, limit);
  if (choices_.diverged()) {
    fail(bug::nondeterminism, "the body did not repeat itself: it must not depend on time, addresses or static state");
  }
  if (answer != 0) ++used;
  return answer;
}

void engine::pause(site where) {
  if (abandoning_) {
    unwind_step();
    return give_up();
  }
  auto& thread = self();
  if (++steps_ > bounds_.steps) fail(bug::livelock, "no end after " + std::to_string(bounds_.steps) + " operations");
  if (thread.looked_at.empty()) thread.seen = changes_by_others(thread);
  add({.shape = form::thread, .verb = "pauses", .where = where});
  block(state::paused);
}

}}}  // namespace hocket::model
