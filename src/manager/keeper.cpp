#include "manager/keeper.hpp"

#include <hocket/core/executor.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

keeper::keeper(timed_work& work) noexcept
    : stand_in(&on_post), work_(work), first_(time_point::max().time_since_epoch().count()) {
  timer_node::kind = &alarm_kind;
}

time_point keeper::first() const noexcept {
  // ORDER: forbids that it is read before the reader was counted as live, against rest().
  return time_point(duration(first_.load(std::memory_order_seq_cst)));
}

void keeper::set_first(time_point deadline) noexcept {
  // ORDER: forbids that rest() looks at the count before it has written this, against want().
  first_.store(deadline.time_since_epoch().count(), std::memory_order_seq_cst);
}

// Those of the manager's executor, if this thread runs it.
timer_service* keeper::timers_here() const noexcept {
  const executor_binding& binding = this_thread().binding;
  const bool here = binding.running_on == &work_.home() || (binding.pool && binding.pool == &work_.home());
  return here ? binding.running_on->timers() : nullptr;
}

void keeper::want(time_point deadline) {
  if (deadline >= first()) return;
  locked guard(mutex_);
  if (deadline < first()) want_locked(deadline);
}

void keeper::want_locked(time_point deadline) {
  if (phase_ == phase::resting) {
    if (work_.is_empty()) return;  // what it was for has ended, and nobody would have it rest again
    std::coroutine_handle<> handle = open(static_cast<stand_in&>(*this));
    spawn_target* const below = work_.live() == 0 ? work_.daemons_below() : nullptr;
    spawn_target& on = below ? *below : work_.on();
    if (on.enroll_children(1)) return close(with_header<migratable_header>(handle));  // its end lets nothing pass
    enrolled_ = &on;
    work_.hold();
    set_first(deadline);
    if (timers_here()) {
      close(with_header<migratable_header>(handle));
      return arm(deadline);
    }
    phase_ = phase::posted;
    post_ = {nullptr, handle, &work_.home()};
    return hocket::detail::post(post_);
  }
  set_first(deadline);
  if (phase_ != phase::armed) return;  // it looks at first_ at the end of its turn
  if (timers_->fire_here() && timers_->detach(*this)) return arm(deadline);
  if (timers_->fire_here()) return;  // it fires just now
  phase_ = phase::recalled;
  static_cast<void>(timers_->detach(*this));
}

void keeper::arm(time_point deadline) noexcept {
  phase_ = phase::armed;
  timers_ = timers_here();
  timer_node::when = deadline;
  timers_->attach(*this);
}

void keeper::rest() noexcept {
  bool rests = false;
  spawn_target* before = nullptr;
  {
    locked guard(mutex_);
    if (phase_ != phase::armed) return;
    const time_point deadline = first();
    set_first(time_point::max());
    if (work_.is_empty()) {
      rests = take_alarm_back();
    } else {
      set_first(deadline);
      before = join_daemons();
    }
  }
  if (before) before->leave();
  if (rests) come_to_rest();
}

// False: it will fire.
bool keeper::take_alarm_back() noexcept {
  if (!timers_->fire_here()) {
    phase_ = phase::recalled;
    static_cast<void>(timers_->detach(*this));
    return false;
  }
  if (!timers_->detach(*this)) return false;  // it fires just now
  phase_ = phase::resting;
  return true;
}

// If only daemons are in the manager, enrols among the daemons below. Returns the target to leave then; null: it has
// not changed.
spawn_target* keeper::join_daemons() noexcept {
  spawn_target* const below = work_.live() == 0 ? work_.daemons_below() : nullptr;
  if (!below || enrolled_ == below || below->enroll_children(1)) return nullptr;
  return std::exchange(enrolled_, below);
}

// What it had taken as it left `resting` is given up, at last.
void keeper::come_to_rest() noexcept {
  spawn_target& on = *enrolled_;
  work_.let_go();
  on.leave();
}

constinit const timer_kind keeper::alarm_kind{&keeper::on_alarm};

void keeper::on_alarm(timer_node& self, timer_call) noexcept { static_cast<keeper&>(self).turn(); }

std::coroutine_handle<> keeper::on_post(stand_in& self) noexcept {
  static_cast<keeper&>(self).turn();
  return nullptr;
}

void keeper::turn() noexcept {
  {
    locked guard(mutex_);
    phase_ = phase::turning;
    set_first(time_point::max());
  }
  time_point next = work_.expire();
  bool rests = false;
  spawn_target* before = nullptr;
  {
    locked guard(mutex_);
    next = std::min(next, first());
    set_first(time_point::max());  // before the look, as in rest()
    rests = next == time_point::max() || work_.is_empty();
    if (rests) {
      phase_ = phase::resting;
    } else {
      set_first(next);
      before = join_daemons();
      arm(next);
    }
  }
  if (before) before->leave();
  if (rests) come_to_rest();
}

}}}  // namespace hocket::detail
