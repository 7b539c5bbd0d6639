#include <hocket/base/fatal.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/yield.hpp>
#include <memory>

namespace hocket::inline HOCKET_ABI {

bool yield::awaiter::post(thread_state& here, std::coroutine_handle<> handle) noexcept {
  expects(here.running_on != nullptr, "a coroutine yielded outside of any executor",
          "start it with spawn, run or sync_wait, so that somebody can resume it");
  std::construct_at(&run_, nullptr, handle, here.running_on);
  hocket::post(run_);
  return true;
}

void detail::unwind_killed(scheduled& self) {
  self.expect_no_unwinding();
  self.begin_unwinding();
  throw_unwinding();
}

void detail::unwind_if_killed(const context* ctx) {
  if (scheduled* self = ctx ? ctx->strand() : nullptr) {
    if (self->killed()) unwind_killed(*self);
  } else if (ctx && ctx->stop() && ctx->stop()->killed()) {
    throw_unwinding();
  }
}

}  // namespace hocket::inline HOCKET_ABI
