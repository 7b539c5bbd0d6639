#include <hocket/base/fatal.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/time/sleep.hpp>

#include <algorithm>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// The first multiple of `slack` that is not before `time`.
time_point rounded_up(time_point time, duration slack) noexcept {
  if (slack <= duration::zero()) return time;
  const duration rest = time.time_since_epoch() % slack;
  if (rest == duration::zero()) return time;
  return rest > duration::zero() ? deadline_after(time, slack - rest) : time - rest;
}

}  // namespace

void alarm::begin(suspension& wait, waiter& entry, time_point present, time_point until) noexcept {
  if (until <= present) {
    when = present;
    [[maybe_unused]] const bool taken = wait.take_now(entry, *this);
    return;
  }
  when = until;
  kind = &alarm_kind;
  entry_ = &entry;
  never_ = until == time_point::max();
  entry.enlist(wait, *this);
  if (!never_) timers_.attach(*this);
}

void alarm::begin(suspension& wait, waiter& entry, duration time) noexcept {
  when = time_point::max();
  set_after(time);
  kind = &alarm_kind;
  entry_ = &entry;
  never_ = time == duration::max();
  entry.enlist(wait, *this);
  if (!never_) timers_.attach_after(*this);
}

bool alarm::may_leave(const timer_node& self, const executor& home) noexcept {
  return !static_cast<const alarm&>(self).entry_->resumes_on(home);
}

void alarm::prefetch_waiter(const timer_node& self) noexcept {
  static_cast<const alarm&>(self).entry_->prefetch_wakeup();
}

constinit const timer_kind alarm::alarm_kind{&alarm::ring, &alarm::may_leave, &alarm::prefetch_waiter};

// The timers have popped the node, so its `when` may now hold the time of the grant. The post may destroy the alarm.
void alarm::ring(timer_node& self, timer_call) noexcept {
  auto& rung = static_cast<alarm&>(self);
  if (rung.records_time_) rung.when = std::max(rung.when, rung.timers_.now());
  rung.entry_->claim_popped().post();
}

bool alarm::detach(waiter&) noexcept { return never_ || timers_.detach(*this); }

timer_service& timers_for(const suspension& wait) noexcept {
  timer_service* timers = current_executor()->timers();
  expects(timers != nullptr, "a coroutine sleeps, but its executor has no timers",
          "run it on a loop, a runtime or a plain thread, or give the executor a timer_service", nullptr, wait.at());
  return *timers;
}

// A sleep for a time from now is the usual one: the timers see to what its end is by the clock.
void sleeping::fix_end(suspension& wait) noexcept {
  if (after_ <= duration::zero()) return;
  until_ = std::max(until_, deadline_after(timers_for(wait).now(), std::exchange(after_, duration::zero())));
}

void sleeping::begin(suspension& wait, waiter& entry) noexcept {
  timer_service& timers = timers_for(wait);
  if (until_ == time_point::min() && slack_ <= duration::zero())
    return storage_.make("a sleep", timers).begin(wait, entry, after_);
  const time_point present = timers.now();
  const time_point until = std::max(until_, deadline_after(present, after_));
  storage_.make("a sleep", timers).begin(wait, entry, present, until > present ? rounded_up(until, slack_) : until);
}

}}}  // namespace hocket::detail
