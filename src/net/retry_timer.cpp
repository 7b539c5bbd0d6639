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

constinit const timer_kind retry_timer::kind_of_timer{&retry_timer::on_expiry};

bool retry_timer::is_needed(const open_descriptor& record, bool to_unix) noexcept {
  return to_unix && record.native_handle() >= 0;
}

void retry_timer::begin(primitive::suspension& wait, primitive::waiter& entry, transfer& operation) noexcept {
  entry_ = &entry;
  transfer_ = &operation;
  pause_ = std::max(pause_, first_pause);
  kind = &kind_of_timer;
  timers_ = current_executor()->timers();
  operation.side->record().notify_edge(*operation.side);
  entry.enlist(wait, *this);
  if (timers_) return arm();
  operation.fail(EAGAIN);
  entry.claim_popped().post();
}

void retry_timer::arm() noexcept {
  when = time_point::max();
  set_after(pause_);
  timers_->attach_after(*this);
}

// Hazard. After arm() or post() another thread may destroy the timer. Prevented by making each the last step.
void retry_timer::on_expiry(timer_node& self, timer_call) noexcept {
  auto& timer = static_cast<retry_timer&>(self);
  timer.pause_ = std::min(2 * timer.pause_, longest_pause);
  if (timer.try_again()) return timer.entry_->claim_popped().post();
  timer.arm();
}

// True: the transfer has ended, or its wait is decided, or it is armed and another party makes the call.
bool retry_timer::try_again() noexcept {
  if (entry_->decided() || transfer_->arm != 0) return true;
  open_descriptor& record = transfer_->side->record();
  if (!record.enter_fd()) {
    transfer_->fail(ECANCELED);
    return true;
  }
  const bool is_stale = record.generation() != transfer_->generation;
  if (is_stale) transfer_->fail(EBADF);
  const bool has_ended = is_stale || record.carry_out(*transfer_) != call_end::blocks;
  record.leave_fd();
  return has_ended;
}

// Without timers begin() has ended the wait.
bool retry_timer::detach(primitive::waiter&) noexcept { return timers_ && timers_->detach(*this); }

}}}  // namespace hocket::detail
