#include <hocket/fiber/detail/fiber_record.hpp>
#include <hocket/fiber/seam/running_fiber.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

control_block* running_block() noexcept {
  const fiber_thread* const thread = fiber_thread::current_if_any();
  return thread ? thread->running : nullptr;
}

}  // namespace

const char* running_raw_coroutine() noexcept {
  control_block* const running = running_block();
  return running && !running->header.ctx ? fiber_record::from_block(*running).name : nullptr;
}

bool runs_on_copied_stack() noexcept {
  const control_block* const running = running_block();
  return running && (running->header.reserved & stack_bit::copied) != 0;
}

}}}  // namespace hocket::detail
