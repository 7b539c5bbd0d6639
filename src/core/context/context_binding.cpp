#include <hocket/core/context/detail/context_binding.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A loop, because a chain of bindings can be too long for a recursion.
void binding_ptr::release() noexcept {
  context_binding* binding = binding_;
  // ORDER: acq_rel, pairs with the fetch_sub of the other owners in release(): the last one deletes after them all.
  while (binding && binding->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    context_binding* outer = std::exchange(binding->outer_.binding_, nullptr);
    binding->dispose_(*binding);
    binding = outer;
  }
}

}}}  // namespace hocket::detail
