#include "fiber/stack_wait.hpp"

#include <hocket/base/error.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/yield.hpp>

#include <system_error>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool stack_wait::begin(std::coroutine_handle<> start, const std::source_location& at) noexcept {
  wait_.arm(start, site_of(at));
  entry_.enlist(wait_, *this);
  const stack_depot::enlisted answer = depot_.wait(*this);
  if (answer.kind != stack_depot::enlisting::waits) {  // popped as soon as it was listed
    stack_ = answer.stack;
    error_ = answer.error;
    entry_.claim_popped().post();
  }
  return wait_.commit();
}

// A wait that another party has ended may be destroyed right after claim_popped().
void stack_wait::on_stack(stack_waiter& self, const stack_ref& stack) noexcept {
  auto& wait = static_cast<stack_wait&>(self);
  stack_depot& depot = wait.depot_;
  wait.stack_ = stack;
  grant won = wait.entry_.claim_popped();
  if (!won) depot.release(stack);
  won.post();
}

stack_ref stack_wait::take(scheduled& self) {
  const wait_end end = wait_.finish();
  if (end == wait_end::killed) unwind_killed(self);
  if (end == wait_end::cancelled) throw_error(make_error_code(errc::cancelled));
  if (end == wait_end::timed_out)
    throw std::system_error(
        make_error_code(errc::deadline_exceeded),
        "hocket: no stack became free for a fiber before its deadline (raise the limit of the depot)");
  if (error_) throw std::system_error(error_, "hocket: no stack for a fiber that waited for one");
  return stack_;
}

}}}  // namespace hocket::detail
