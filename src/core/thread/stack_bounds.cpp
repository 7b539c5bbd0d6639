#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/thread/detail/stack_bounds.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

constinit primitive::atomic<stack_locator> installed{nullptr};

}  // namespace

void set_stack_locator(stack_locator locator) noexcept {
  // ORDER: relaxed, pairs with the load in stack_bounds_at(): a function, which needs nothing that was written before.
  installed.store(locator, std::memory_order_relaxed);
}

stack_bounds stack_bounds_at(std::uintptr_t address) noexcept {
  // ORDER: relaxed, pairs with the store in set_stack_locator().
  const stack_locator locator = installed.load(std::memory_order_relaxed);
  return locator ? locator(address) : stack_bounds{};
}

}}}  // namespace hocket::detail
