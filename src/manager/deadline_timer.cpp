#include "manager/deadline_timer.hpp"

#include <hocket/core/executor.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

deadline_timer::deadline_timer(timed_work& work) noexcept
    : stand_in(&on_post), work_(work), first_deadline_(time_point::max().time_since_epoch().count()) {
  timer_node::kind = &node_kind;
}

time_point deadline_timer::first_deadline() const noexcept {
  // ORDER: forbids that it is read before the reader was counted as live, against disarm_if_idle().
  return time_point(duration(first_deadline_.load(std::memory_order_seq_cst)));
}

void deadline_timer::set_first_deadline(time_point deadline) noexcept {
  // ORDER: forbids that disarm_if_idle() reads the count before it has written this, against arm_by().
  first_deadline_.store(deadline.time_since_epoch().count(), std::memory_order_seq_cst);
}

// The timers of the manager's executor, if this thread runs it.
timer_service* deadline_timer::timers_here() const noexcept {
  const executor_binding& binding = this_thread().binding;
  const bool is_home_thread = binding.running_on == &work_.home() || (binding.pool && binding.pool == &work_.home());
  return is_home_thread ? binding.running_on->timers() : nullptr;
}

void deadline_timer::arm_by(time_point deadline) {
  if (deadline >= first_deadline()) return;
  locked guard(mutex_);
  if (deadline < first_deadline()) arm_by_locked(deadline);
}

void deadline_timer::arm_by_locked(time_point deadline) {
  if (phase_ == phase::idle) {
    if (work_.is_empty()) return;  // the owner of the deadline has ended: no thread would disarm the timer
    std::coroutine_handle<> handle = open(static_cast<stand_in&>(*this));
    spawn_target* const below = work_.live() == 0 ? work_.daemons_below() : nullptr;
    spawn_target& target = below ? *below : work_.target();
    if (target.enroll_children(1))
      return close(with_header<migratable_header>(handle));  // a closed target: no deadline passes any more
    enrolled_ = &target;
    work_.retain();
    set_first_deadline(deadline);
    if (timers_here()) {
      close(with_header<migratable_header>(handle));
      return arm(deadline);
    }
    phase_ = phase::posted;
    post_ = {nullptr, handle, &work_.home()};
    return hocket::detail::post(post_);
  }
  set_first_deadline(deadline);
  if (phase_ != phase::armed) return;  // process_due() reads first_deadline_ at its end
  if (timers_->fire_here() && timers_->detach(*this)) return arm(deadline);
  if (timers_->fire_here()) return;  // the timer fires now
  phase_ = phase::cancelling;
  static_cast<void>(timers_->detach(*this));
}

void deadline_timer::arm(time_point deadline) noexcept {
  phase_ = phase::armed;
  timers_ = timers_here();
  timer_node::when = deadline;
  timers_->attach(*this);
}

void deadline_timer::disarm_if_idle() noexcept {
  bool is_idle = false;
  spawn_target* before = nullptr;
  {
    locked guard(mutex_);
    if (phase_ != phase::armed) return;
    const time_point deadline = first_deadline();
    set_first_deadline(time_point::max());
    if (work_.is_empty()) {
      is_idle = cancel_timer();
    } else {
      set_first_deadline(deadline);
      before = join_daemons();
    }
  }
  if (before) before->leave();
  if (is_idle) release_work();
}

// False: the timer will fire.
bool deadline_timer::cancel_timer() noexcept {
  if (!timers_->fire_here()) {
    phase_ = phase::cancelling;
    static_cast<void>(timers_->detach(*this));
    return false;
  }
  if (!timers_->detach(*this)) return false;  // the timer fires now
  phase_ = phase::idle;
  return true;
}

// If only daemons are in the manager, enrols among the daemons below. Returns the target to leave then; null: it has
// not changed.
spawn_target* deadline_timer::join_daemons() noexcept {
  spawn_target* const below = work_.live() == 0 ? work_.daemons_below() : nullptr;
  if (!below || enrolled_ == below || below->enroll_children(1)) return nullptr;
  return std::exchange(enrolled_, below);
}

// Releases manager_core and leaves the target: both were taken when the timer left `idle`.
void deadline_timer::release_work() noexcept {
  spawn_target& target = *enrolled_;
  work_.release();
  target.leave();
}

constinit const timer_kind deadline_timer::node_kind{&deadline_timer::on_timer};

void deadline_timer::on_timer(timer_node& self, timer_call) noexcept {
  static_cast<deadline_timer&>(self).process_due();
}

std::coroutine_handle<> deadline_timer::on_post(stand_in& self) noexcept {
  static_cast<deadline_timer&>(self).process_due();
  return nullptr;
}

void deadline_timer::process_due() noexcept {
  {
    locked guard(mutex_);
    phase_ = phase::firing;
    set_first_deadline(time_point::max());
  }
  time_point next = work_.expire();
  bool is_idle = false;
  spawn_target* before = nullptr;
  {
    locked guard(mutex_);
    next = std::min(next, first_deadline());
    set_first_deadline(time_point::max());  // before the read of the count, as in disarm_if_idle()
    is_idle = next == time_point::max() || work_.is_empty();
    if (is_idle) {
      phase_ = phase::idle;
    } else {
      set_first_deadline(next);
      before = join_daemons();
      arm(next);
    }
  }
  if (before) before->leave();
  if (is_idle) release_work();
}

}}}  // namespace hocket::detail
