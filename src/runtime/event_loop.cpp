#include <hocket/base/seam/asleep.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/runtime/detail/event_loop.hpp>

#include "runtime/turn.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A worker sleeps by the machine's clock, even if its timers use another one.
event_loop::event_loop(const clock_source& time, parker* parker, const char* name, bool stays) noexcept
    : clock_(time),
      inbox_(parker ? *parker : futex_),
      drivers_({stays ? steady_clock() : time, stays, parker != nullptr}, name, parker),
      wheel_(time, *this, *this),
      coroutines_(*this, name, stays),
      reclaimer_(time) {}

void event_loop::begin_turn(std::size_t number) noexcept {
  halt_if_asked();
  take_posted();
  drivers_.poll_in_turn();
  if (number % turns_between_reclaims == 0) [[unlikely]]
    reclaimer_.reclaim();
  // Data that arrived in time beats the deadline, also data that the driver delivers in a later turn.
  due_ = !drivers_.has_more() && wheel_.advance(turn_size);
}

void event_loop::take_posted() noexcept {
  for (runnable* work = inbox_.take(); work;) {
    runnable* next = work->next;
    if (work == &reclaim_) wheel_.reclaim();
    else ready_.push(*work);
    work = next;
  }
}

void event_loop::sleep(time_point until) noexcept {
  drivers_.expect_same_process();  // a coroutine may have forked: then this is the copy in the child
  slept(inbox_.sleep(until));
  drivers_.poll_soon();
}

// Without timers no turn reads the clock. So if such a sleep ends without a wake, the maintenance may be due.
void event_loop::slept(bool woken) noexcept {
  if (!woken && wheel_.empty()) reclaimer_.expect_due();
}

// --- executor

// The loop's own thread calls this only from code that does not check thread_state::ready first.
void event_loop::post_from_outside(runnable& work) noexcept {
  if (current_executor() == this) ready_.push(work);
  else inbox_.post(work);
}

void event_loop::post_all_from_outside(const runnables& works) noexcept {
  if (current_executor() == this) hocket::detail::post_all(*this, works);
  else inbox_.post_all(works);
}

void event_loop::wake() noexcept { inbox_.post(reclaim_); }

}}}  // namespace hocket::detail
