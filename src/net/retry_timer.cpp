#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/io/seam/open_descriptor.hpp>
#include <hocket/net/detail/retry_timer.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using namespace std::chrono_literals;

namespace {

constexpr duration first_pause = 1ms, longest_pause = 50ms;

}  // namespace

constinit const timer_kind retry_timer::kind_of_timer{&retry_timer::ring};

bool retry_timer::is_needed(const open_descriptor& at, bool to_unix) noexcept {
  return to_unix && at.native_handle() >= 0;
}

void retry_timer::begin(primitive::suspension& wait, primitive::waiter& entry, transfer& operation) noexcept {
  entry_ = &entry;
  transfer_ = &operation;
  pause_ = std::max(pause_, first_pause);
  kind = &kind_of_timer;
  timers_ = current_executor()->timers();
  operation.side->record().notify_edge(*operation.side);
  entry.enlist(wait, *this);
  if (timers_) return set();
  operation.fail(EAGAIN);
  entry.claim_popped().post();
}

void retry_timer::set() noexcept {
  when = time_point::max();
  set_after(pause_);
  timers_->attach_after(*this);
}

// As soon as the timer is set again, or the wait is posted, the timer may be gone.
void retry_timer::ring(timer_node& self, timer_call) noexcept {
  auto& rung = static_cast<retry_timer&>(self);
  rung.pause_ = std::min(2 * rung.pause_, longest_pause);
  if (rung.try_again()) return rung.entry_->claim_popped().post();
  rung.set();
}

// True: the transfer has ended, or nobody waits for it any more, or its party makes the call.
bool retry_timer::try_again() noexcept {
  if (entry_->decided() || transfer_->arm != 0) return true;
  open_descriptor& at = transfer_->side->record();
  if (!at.enter_fd()) return transfer_->fail(ECANCELED), true;
  const bool late = at.generation() != transfer_->generation;
  if (late) transfer_->fail(EBADF);
  const bool over = late || at.carry_out(*transfer_) != call_end::blocks;
  at.leave_fd();
  return over;
}

// Without timers begin() has ended the wait.
bool retry_timer::detach(primitive::waiter&) noexcept { return timers_ && timers_->detach(*this); }

}}}  // namespace hocket::detail
