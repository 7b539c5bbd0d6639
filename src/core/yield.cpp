#include <hocket/base/fatal.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/current.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/scheduled.hpp>
#include <hocket/core/yield.hpp>

namespace hocket::inline HOCKET_ABI {

bool yield::await_suspend(std::coroutine_handle<> handle) noexcept {
  thread_state& here = this_thread();
  expects(here.running_on != nullptr, "a coroutine yielded outside of any executor",
          "start it with spawn, run or sync_wait, so that somebody can resume it");
  ctx_ = here.ctx;
  run_ = {nullptr, handle, here.running_on};
  hocket::post(run_);
  return true;
}

void yield::await_resume() {
  thread_state& here = this_thread();
  if (ctx_) here.ctx = ctx_;
  scheduled* self = here.ctx ? here.ctx->coroutine() : nullptr;
  if (!self || !self->killed()) return;
  expects(!self->unwinding(), "code waited while its coroutine was being killed",
          "destructors and catch (...) blocks that unwinding runs must not wait", self->name());
  self->begin_unwinding();
  detail::throw_unwinding();
}

}  // namespace hocket::inline HOCKET_ABI
