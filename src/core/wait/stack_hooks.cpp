#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/wait/seam/stack_hooks.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constinit atomic<const stack_hooks*> registered{nullptr};
constinit atomic<stack_locator> installed{nullptr};

const stack_hooks* known_hooks() noexcept {
  // ORDER: acquire, pairs with the store in register_stack_hooks().
  return registered.load(std::memory_order_acquire);
}

}  // namespace

void register_stack_hooks(const stack_hooks& hooks) noexcept {
  // ORDER: release, pairs with the load in known_hooks().
  registered.store(&hooks, std::memory_order_release);
}

bool suspend_stack(void* awaiter, suspend_call suspend) noexcept {
  const stack_hooks* known = known_hooks();
  return known && known->suspend(awaiter, suspend);
}

stack_pin::stack_pin(const void* object, const char* name) noexcept
    : pinned_(known_hooks() ? known_hooks()->pin(object, name) : nullptr) {}

stack_pin::~stack_pin() {
  if (pinned_) known_hooks()->unpin(pinned_);
}

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
