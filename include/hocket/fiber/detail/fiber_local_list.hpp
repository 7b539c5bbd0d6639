// The fiber-local values of one fiber, or of one thread.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// One value of one fiber. The list of a fiber begins with the newest value.
struct fiber_local_node {
  fiber_local_node* next;
  const void* key;
  void (*destroy)(fiber_local_node* self) noexcept;
};

void destroy_fiber_locals(fiber_local_node*& first) noexcept;

}}}  // namespace hocket::detail
