#include <hocket/fiber/detail/fiber_local_list.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void destroy_fiber_locals(fiber_local_node*& first) noexcept {
  while (fiber_local_node* node = first) {
    first = node->next;
    node->destroy(node);
  }
}

}}}  // namespace hocket::detail
