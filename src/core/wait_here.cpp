#include <hocket/core/wait_here.hpp>

namespace hocket::inline HOCKET_ABI::detail {
namespace {

constinit atomic<stack_suspender> registered{nullptr};

}  // namespace

void register_stack_suspender(stack_suspender parks) noexcept {
  // ORDER: release, pairs with the load in suspend_stack().
  registered.store(parks, std::memory_order_release);
}

bool suspend_stack(void* awaiter, suspend_call suspend) noexcept {
  // ORDER: acquire, pairs with the store in register_stack_suspender().
  stack_suspender parks = registered.load(std::memory_order_acquire);
  return parks && parks(awaiter, suspend);
}

}  // namespace hocket::inline HOCKET_ABI::detail
