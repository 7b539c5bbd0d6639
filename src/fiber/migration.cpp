#include "fiber/migration.hpp"

#include <hocket/fiber/detail/scheduled_fiber.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool move_to_this_thread(control_block& block) noexcept {
  if (fiber_thread::current_if_any() == &block.thread()) return true;
  try {
    fiber_thread& thread = fiber_thread::current();
    fiber_record::from_block(block).pool = &thread.pool_of(scheduled_fiber::from_block(block).stack_size());
    block.header.continuation.home = &thread;
    return true;
  } catch (...) {
    return false;
  }
}

}}}  // namespace hocket::detail
