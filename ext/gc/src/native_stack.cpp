#include <hocket/fiber/seam/running_stack.hpp>
#include <hocket/gc/native_stack.hpp>

#include "native_bounds.hpp"
#include "registered_thread.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace gc::detail {

namespace {

native_bounds bounds_of(const registered_thread* self) {
  if (!self) return bounds_of_this_thread();
  return {const_cast<void*>(self->state.stack_low), const_cast<void*>(self->state.stack_base)};
}

}  // namespace

std::optional<stack_ref> free_native_stack() {
  if (!hocket::detail::may_be_off_native_stack()) return std::nullopt;
  const native_bounds bounds = bounds_of(own_thread());
  return hocket::detail::unused_native_stack(static_cast<std::byte*>(bounds.low), static_cast<std::byte*>(bounds.base));
}

}}}  // namespace hocket::gc::detail
