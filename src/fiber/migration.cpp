#include "fiber/migration.hpp"

#include <hocket/fiber/detail/scheduled_fiber.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool bring_here(control_block& block) noexcept {
  if (fiber_thread::current_if_any() == &block.thread()) return true;
  try {
    fiber_thread& here = fiber_thread::current();
    fiber_record::from_block(block).pool = &here.pool_of(scheduled_fiber::of(block).stack_size());
    block.header.continuation.home = &here;
    return true;
  } catch (...) {
    return false;
  }
}

}}}  // namespace hocket::detail
